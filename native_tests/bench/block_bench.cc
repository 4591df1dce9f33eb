// Speed of the block kernels relative to memcpy of the float32 bytes, and to the scalar reference. The judged
// figures: int8, int4 and NF4 of 64 MiB of float32, encoded with automatic scales (blocks of 128, NF4 of 64)
// and decoded, best of 7 runs, each run directly after a memcpy of the same bytes. ratio = best memcpy time /
// best kernel time; at least 0.60 is required of integers, 0.35 of NF4. FP8 and other sizes are for
// information.
//
// "codes": only the codes are written, one block's after the other's, and scales to an array. "records": as
// encoded values store blocks, each with 24 bytes of parameters and its own table. "encoded value": the same
// records by the public BlockEncoder and BlockDecoder, with all their checks.
//
//   halftone_bench_block_bench [--json] [--only TEXT]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec_tables.h"
#include "halftone/codec.h"
#include "numeric/block_kernels.h"
#include "numeric/code_table.h"

namespace halftone::numeric {
namespace {

constexpr int kRuns = 7;
constexpr std::size_t kJudgedBytes = std::size_t{64} << 20U;
constexpr std::size_t kReferenceElements = std::size_t{64} << 10U;

std::vector<double> entries(std::span<const double> table) { return {table.begin(), table.end()}; }

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

volatile float g_sink = 0.0F;

// A format, and how its blocks lie.
struct Format {
  const char* name;
  double required;  // 0: for information
  std::size_t count;
  CodePacking packing;
  CodecProfile profile;
  std::vector<double> entries;  // none for integers
};

struct Case {
  const Format* format;
  bool records;
  CodeTable table;
  std::vector<std::uint8_t> head;  // of a record: scale, zero point, offset and table

  [[nodiscard]] std::size_t stride() const {
    return head.size() + packed_byte_count(format->packing, format->count);
  }
};

std::vector<std::uint8_t> head_of(const Format& format) {
  std::vector<std::uint8_t> head(24);
  const auto* table = reinterpret_cast<const std::uint8_t*>(format.entries.data());
  head.insert(head.end(), table, table + format.entries.size() * sizeof(double));
  return head;
}

struct Buffers {
  std::vector<std::uint8_t> x;
  std::vector<std::uint8_t> copy;
  std::vector<std::uint8_t> y;
  std::vector<std::uint8_t> records;
  std::vector<double> scales;
};

// Bell-shaped, as weights are: sums of four uniform numbers.
void fill(std::vector<std::uint8_t>& bytes) {
  std::uint64_t state = 1;
  for (std::size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    float sum = 0.0F;
    for (unsigned shift = 0; shift < 64; shift += 16) {
      sum += static_cast<float>((state >> shift) & 0xFFFFU) * (1.0F / 65536.0F);
    }
    const float value = (sum - 2.0F) * 0.05F;
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  }
}

const double kZero = 0.0;
BlockDoubles zeros() { return {reinterpret_cast<const std::uint8_t*>(&kZero), 0}; }

void encode(const BlockKernelSet& kernels, const Case& c, Buffers& b, std::size_t elements) {
  const Format& format = *c.format;
  auto* scales = reinterpret_cast<std::uint8_t*>(b.scales.data());
  const AutomaticScales automatic =
      c.records ? AutomaticScales{b.records.data(), c.stride()} : AutomaticScales{scales, sizeof(double)};
  const BlockRun run = {
      elements / format.count, format.count, {scales, sizeof(double)}, {c.head.data(), c.head.size()}};
  const PackedBlocks<std::uint8_t> codes = {b.records.data() + c.head.size(), c.stride()};
  if (format.entries.empty()) {
    kernels.encode_affine(b.x.data(), run, {format.packing.bits, true, zeros(), zeros()}, automatic, codes);
  } else {
    kernels.encode_table(b.x.data(), run, c.table, automatic, format.packing, codes);
  }
  g_sink = static_cast<float>(b.records[0]);
}

void decode(const BlockKernelSet& kernels, const Case& c, Buffers& b, std::size_t elements) {
  const Format& format = *c.format;
  const auto* array = reinterpret_cast<const std::uint8_t*>(b.scales.data());
  const BlockDoubles scales =
      c.records ? BlockDoubles{b.records.data(), c.stride()} : BlockDoubles{array, sizeof(double)};
  const BlockRun run = {elements / format.count, format.count, scales};
  const PackedBlocks<const std::uint8_t> codes = {b.records.data() + c.head.size(), c.stride()};
  if (format.entries.empty()) {
    kernels.decode_affine(codes, run, {format.packing.bits, true, zeros(), zeros()}, b.y.data());
  } else {
    const auto* table = reinterpret_cast<const std::uint8_t*>(format.entries.data());
    const BlockDoubles tables =
        c.records ? BlockDoubles{b.records.data() + 24, c.stride()} : BlockDoubles{table, 0};
    kernels.decode_table(codes, run, tables, format.entries.size(), format.packing, b.y.data());
  }
  g_sink = static_cast<float>(b.y[0]);
}

struct Measured {
  double copy = 1e30;
  double work = 1e30;
};

Measured measure(Buffers& b, const std::function<void()>& work) {
  const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{16} << 20U) / b.x.size());
  Measured best;
  work();
  for (int run = 0; run < kRuns; ++run) {
    best.copy = std::min(best.copy, seconds([&] {
                           for (std::size_t i = 0; i < repeats; ++i) {
                             std::memcpy(b.copy.data(), b.x.data(), b.x.size());
                             g_sink = static_cast<float>(b.copy[i]);
                           }
                         }));
    best.work = std::min(best.work, seconds([&] {
                           for (std::size_t i = 0; i < repeats; ++i) work();
                         }));
  }
  best.copy /= static_cast<double>(repeats);
  best.work /= static_cast<double>(repeats);
  return best;
}

void print(const std::string& name, double gigabytes, const char* ratio_to, double ratio, double required,
           bool json) {
  if (json) {
    std::printf(
        "{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"GB/s\", \"ratio_to\": \"%s\", \"ratio\": %.3f}\n",
        name.c_str(), gigabytes, ratio_to, ratio);
    return;
  }
  const char* verdict = required == 0.0 ? "" : ratio >= required ? "  ok" : "  BELOW";
  std::printf("%8.3f x %-16s %7.2f GB/s  %s%s\n", ratio, ratio_to, gigabytes, name.c_str(), verdict);
}

using Work = void (*)(const BlockKernelSet& kernels, const Case& c, Buffers& b, std::size_t elements);

// The reference is measured on a part: it takes seconds for 64 MiB.
void run_case(const std::string& name, const Case& c, Work work, Buffers& b, bool json) {
  const std::size_t elements = b.x.size() / sizeof(float);
  const bool judged = b.x.size() == kJudgedBytes;
  const Measured best = measure(b, [&] { work(simd_block_kernels(), c, b, elements); });
  const double required = judged ? c.format->required : 0.0;
  const double gigabytes = static_cast<double>(b.x.size()) / best.work / 1e9;
  print(name, gigabytes, "memcpy", best.copy / best.work, required, json);
  if (!judged) return;
  const std::size_t part = std::min(elements, kReferenceElements);
  const double scalar = seconds([&] { work(reference_block_kernels(), c, b, part); });
  const double scaled = scalar * static_cast<double>(elements) / static_cast<double>(part);
  print(name, gigabytes, "scalar reference", scaled / best.work, 0.0, json);
}

void run_format(const Format& format, Buffers& b, bool json, std::string_view only) {
  for (const bool records : {false, true}) {
    Case c = {&format, records, {}, {}};
    if (records) c.head = head_of(format);
    if (!format.entries.empty()) c.table = make_code_table(format.entries);
    const std::size_t blocks = b.x.size() / sizeof(float) / format.count;
    b.records.assign(blocks * c.stride(), 0);
    b.scales.assign(blocks, 1.0);
    const std::string rest = std::string(" ") + format.name + ", " + (records ? "records" : "codes") + ", " +
                             std::to_string(b.x.size() >> 20U) + " MiB";
    if (("encode" + rest).find(only) == std::string::npos &&
        ("decode" + rest).find(only) == std::string::npos)
      continue;
    run_case("encode" + rest, c, encode, b, json);
    run_case("decode" + rest, c, decode, b, json);
  }
}

void run_codec(const Format& format, Buffers& b, bool json, std::string_view only) {
  const std::size_t elements = b.x.size() / sizeof(float);
  const auto plan = make_codec_plan(format.profile, elements, format.count);
  if (!plan.ok()) return;
  const auto encoder =
      BlockEncoder::open(plan.value(), DataType::kFloat, {static_cast<std::int64_t>(elements)},
                         BlockEncoder::Scales::kAutomatic);
  if (!encoder.ok()) return;
  const auto decoder = BlockDecoder::open(encoder.value().schema(), DataType::kFloat);
  const auto range = block_range(encoder.value().schema(), 0, elements / format.count);
  if (!decoder.ok() || !range.ok()) return;
  b.records.assign(static_cast<std::size_t>(range.value().bytes), 0);
  const std::string rest =
      std::string(" ") + format.name + ", encoded value, " + std::to_string(b.x.size() >> 20U) + " MiB";
  const auto figure = [&](const std::string& name, const std::function<bool()>& work) {
    if (name.find(only) == std::string::npos) return;
    const Measured best = measure(b, [&] { g_sink = work() ? 1.0F : -1.0F; });
    if (g_sink < 0.0F) std::fprintf(stderr, "%s failed\n", name.c_str());
    print(name, static_cast<double>(b.x.size()) / best.work / 1e9, "memcpy", best.copy / best.work,
          b.x.size() == kJudgedBytes ? format.required : 0.0, json);
  };
  const std::size_t blocks = elements / format.count;
  if (!encoder.value().encode(0, blocks, b.x, b.records).ok()) return;
  figure("encode" + rest, [&] { return encoder.value().encode(0, blocks, b.x, b.records).ok(); });
  figure("decode" + rest, [&] { return decoder.value().decode(0, blocks, b.records, b.y).ok(); });
}

int run(bool json, std::string_view only) {
  const std::vector<Format> formats = {
      {"int8", 0.60, 128, {8, false}, CodecProfile::kInt8, {}},
      {"int4", 0.60, 128, {4, false}, CodecProfile::kInt4, {}},
      {"nf4", 0.35, 64, {4, false}, CodecProfile::kNf4, entries(codec::nf4_table())},
      {"fp8_e4m3", 0.0, 128, {8, false}, CodecProfile::kFp8E4M3, entries(codec::e4m3_table())}};
  if (!json) {
    std::printf("kernels: %s; speed relative to memcpy of the float32 bytes, best of %d\n",
                simd_block_kernels().instruction_set, kRuns);
  }
  for (const std::size_t bytes : {kJudgedBytes, std::size_t{16} << 20U, std::size_t{1} << 20U}) {
    Buffers b;
    b.x.resize(bytes);
    b.copy.resize(bytes);
    b.y.resize(bytes);
    fill(b.x);
    for (const Format& format : formats) {
      run_format(format, b, json, only);
      run_codec(format, b, json, only);
    }
  }
  return 0;
}

}  // namespace
}  // namespace halftone::numeric

int main(int argc, char** argv) {
  bool json = false;
  std::string_view only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else {
      std::fprintf(stderr, "usage: %s [--json] [--only TEXT]\n", argv[0]);
      return 2;
    }
  }
  return halftone::numeric::run(json, only);
}
