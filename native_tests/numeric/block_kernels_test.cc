// Block kernels of every instruction set against the scalar reference: equal codes, scales and values, and
// not one byte outside. The reference computes in extended precision, value by value.
#include "numeric/block_kernels.h"

#include <algorithm>
#include <bit>
#include <catch2/catch_all.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "codec/codec_tables.h"
#include "halftone/small_floats.h"
#include "numeric/block_codes.h"
#include "numeric/kernel_cases.h"

namespace halftone {
namespace {

using kernel_cases::GuardedBytes;
using numeric::AutomaticScales;
using numeric::BlockDoubles;
using numeric::BlockKernelSet;
using numeric::BlockRun;
using numeric::CodePacking;
using numeric::CodeTable;
using numeric::PackedBlocks;

constexpr std::size_t kParameterBytes = 24;  // scale, zero point and offset of a record

// A format with its parameters: integers if there are no entries.
struct Format {
  std::string name;
  CodePacking packing;
  bool is_signed = false;
  double zero_point = 0.0;
  double offset = 0.0;
  std::vector<double> entries;

  [[nodiscard]] bool is_affine() const { return entries.empty(); }
  // Where quotients change their code.
  [[nodiscard]] std::vector<double> ties() const;
};

std::vector<double> Format::ties() const {
  std::vector<double> out;
  if (is_affine()) {
    const double lowest = numeric::lowest_code(packing.bits, is_signed) - zero_point;
    const double highest = numeric::highest_code(packing.bits, is_signed) - zero_point;
    for (double tie = lowest - 1.5; tie <= highest + 1.5; ++tie) out.push_back(tie);
    return out;
  }
  std::vector<double> sorted = entries;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) out.push_back((sorted[i] + sorted[i + 1]) / 2.0);
  return out;
}

std::vector<double> finite_values(SmallFloat type) {
  std::vector<double> out;
  for (const float value : small_float_values(type)) {
    if (std::isfinite(value)) out.push_back(static_cast<double>(value));
  }
  return out;
}

std::vector<double> nf4_entries() {
  const std::span<const double> table = codec::nf4_table();
  return {table.begin(), table.end()};
}

std::vector<Format> formats() {
  std::vector<Format> out;
  for (std::uint32_t bits = 1; bits <= 8; ++bits) {
    const double middle = std::ldexp(1.0, static_cast<int>(bits) - 1);
    out.push_back({"signed", {bits, false}, true, 0.0, 0.0, {}});
    out.push_back({"unsigned", {bits, false}, false, middle, 0.0, {}});
    out.push_back({"unsigned from 0", {bits, false}, false, 0.0, 0.0, {}});
    out.push_back({"signed to its end", {bits, false}, true, -middle, 0.0, {}});
    out.push_back({"with an offset", {bits, false}, true, middle - 1.0, 0.37, {}});
  }
  const CodePacking four = {4, false};
  out.push_back({"nf4", four, false, 0.0, 0.0, nf4_entries()});
  out.push_back({"iq4_nl",
                 four,
                 false,
                 0,
                 0,
                 {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}});
  out.push_back({"e2m1", four, false, 0.0, 0.0, finite_values(SmallFloat::kFloat4E2M1)});
  out.push_back(
      {"log", four, false, 0.0, 0.0, {0, .125, -.125, .25, -.25, .5, -.5, 1, -1, 2, -2, 4, -4, 8, -8}});
  out.push_back({"binary", {1, false}, false, 0.0, 0.0, {-1, 1}});
  out.push_back({"ternary", {2, true}, false, 0.0, 0.0, {-1, 0, 1}});
  out.push_back({"ternary in 2 bits", {2, false}, false, 0.0, 0.0, {-1, 0, 1}});
  out.push_back({"e3m2", {6, false}, false, 0.0, 0.0, finite_values(SmallFloat::kFloat6E3M2)});
  out.push_back({"e4m3", {8, false}, false, 0.0, 0.0, finite_values(SmallFloat::kFloat8E4M3Fn)});
  out.push_back({"one entry", {3, false}, false, 0.0, 0.0, {0.5}});
  out.push_back({"equal entries", {3, false}, false, 0.0, 0.0, {2, 2, -1, -1, 2}});
  out.push_back({"entries side by side", four, false, 0.0, 0.0, {1.0, 1.0 + 0x1p-52, -1.0, 1e-30, 0.0}});
  out.push_back({"positive entries", four, false, 0.0, 0.0, {3.0, 3.5, 4.0, 4.25, 9.0}});
  out.push_back({"far from zero", four, false, 0.0, 0.0, {1000.0, 1000.5, 1001.0, 1002.0}});
  out.push_back({"huge entries", four, false, 0.0, 0.0, {-1e300, 1e299, 1e300}});
  out.push_back({"tiny entries", four, false, 0.0, 0.0, {-1e-320, 1e-320, 0.0}});
  return out;
}

double unit(std::mt19937& random) { return static_cast<double>(random()) / 4294967296.0; }

// Scales whose quotients come close to ties, and those at the ends of what float32 and double hold.
std::vector<double> hard_scales(std::mt19937& random) {
  std::vector<double> scales = {
      1.0,    0.5,     0x1p-20,  0x1p10,   1.0 / 127.0, 1.0 / 7.0, 0.1,   1.0 / 3.0, 0.01,  0x1p-99, 0x1p-101,
      0x1p99, 0x1p101, 0x1p-126, 0x1p-149, 1e-42,       1e-300,    1e300, 3e38,      1e-38, 5e-324,  1.7e308};
  for (int i = 0; i < 8; ++i) scales.push_back(std::exp2(unit(random) * 40.0 - 20.0));
  // A float32's worth of digits, and scales off by one last digit.
  for (int i = 0; i < 4; ++i) scales.push_back(static_cast<double>(static_cast<float>(0.001 + unit(random))));
  for (int i = 0; i < 4; ++i) scales.push_back(std::nextafter(1.0 / (1.0 + unit(random)), 2.0));
  return scales;
}

float nearest_float(double value) {
  constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

// Ties and the floats next to them, denormals, the largest float, zeros, and ordinary values.
std::vector<float> hard_values(const Format& format, const std::vector<double>& ties, double scale,
                               std::size_t count, std::mt19937& random) {
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr float kSpecial[] = {0.0F, -0.0F, 1e-45F, -1e-45F, 1e-40F, kMax, -kMax, 1e-38F};
  const double reach = ties.empty() ? 1.0 : std::max(std::abs(ties.front()), std::abs(ties.back())) * 1.1;
  std::vector<float> values(count);
  for (float& value : values) {
    const auto kind = random() % 16;
    if (kind == 0) {
      value = kSpecial[random() % std::size(kSpecial)];
    } else if (kind <= 10 && !ties.empty()) {
      value = nearest_float(ties[random() % ties.size()] * scale + format.offset);
      const auto nudge = random() % 4;
      if (nudge == 1) value = std::nextafter(value, kMax);
      if (nudge == 2) value = std::nextafter(value, -kMax);
    } else {
      value = nearest_float((unit(random) * 2.0 - 1.0) * reach * scale + format.offset);
    }
  }
  return values;
}

// Blocks of one format in records as encoded values have them.
struct Job {
  const Format* format;
  CodeTable table;
  std::size_t blocks;
  std::size_t count;
  bool automatic;
  // Of all records, if it isn't empty: kernels write it. Otherwise it is there before they come.
  std::vector<std::uint8_t> head;

  [[nodiscard]] std::size_t table_bytes() const { return format->entries.size() * sizeof(double); }
  [[nodiscard]] std::size_t stride() const {
    return kParameterBytes + table_bytes() + numeric::packed_byte_count(format->packing, count);
  }
  [[nodiscard]] std::size_t bytes() const { return blocks * stride(); }
};

void write_parameters(const Job& job, const std::vector<double>& scales, std::uint8_t* records) {
  for (std::size_t block = 0; block < job.blocks; ++block) {
    const double parameters[] = {scales[block], job.format->zero_point, job.format->offset};
    std::memcpy(records, parameters, kParameterBytes);
    if (job.table_bytes() > 0) {
      std::memcpy(records + kParameterBytes, job.format->entries.data(), job.table_bytes());
    }
    records += job.stride();
  }
}

std::vector<std::uint8_t> head_of(const Job& job, double scale) {
  Job one = job;
  one.blocks = 1;
  std::vector<std::uint8_t> record(one.stride());
  write_parameters(one, {scale}, record.data());
  record.resize(kParameterBytes + one.table_bytes());
  return record;
}

// Parameters are read from records, or from the head that all have.
numeric::AffineCodes affine_codes(const Job& job, const std::uint8_t* parameters, std::size_t stride) {
  return {job.format->packing.bits,
          job.format->is_signed,
          {parameters + sizeof(double), stride},
          {parameters + 2 * sizeof(double), stride}};
}

std::size_t encode(const BlockKernelSet& kernels, const Job& job, const std::uint8_t* x,
                   std::uint8_t* records) {
  const std::size_t stride = job.stride();
  const numeric::BlockDoubles parameters =
      job.head.empty() ? numeric::BlockDoubles{records, stride} : numeric::BlockDoubles{job.head.data(), 0};
  const BlockRun run = {job.blocks, job.count, parameters, {job.head.data(), job.head.size()}};
  const AutomaticScales automatic = {job.automatic ? records : nullptr, stride};
  const PackedBlocks<std::uint8_t> codes = {records + kParameterBytes + job.table_bytes(), stride};
  if (job.format->is_affine()) {
    return kernels.encode_affine(x, run, affine_codes(job, parameters.first, parameters.stride), automatic,
                                 codes);
  }
  return kernels.encode_table(x, run, job.table, automatic, job.format->packing, codes);
}

std::size_t decode(const BlockKernelSet& kernels, const Job& job, const std::uint8_t* records,
                   std::uint8_t* y) {
  const std::size_t stride = job.stride();
  const BlockRun run = {job.blocks, job.count, {records, stride}};
  const PackedBlocks<const std::uint8_t> codes = {records + kParameterBytes + job.table_bytes(), stride};
  if (job.format->is_affine())
    return kernels.decode_affine(codes, run, affine_codes(job, records, stride), y);
  return kernels.decode_table(codes, run, {records + kParameterBytes, stride}, job.format->entries.size(),
                              job.format->packing, y);
}

Job make_job(const Format& format, std::size_t blocks, std::size_t count, bool automatic) {
  Job job = {&format, {}, blocks, count, automatic, {}};
  if (!format.is_affine()) job.table = numeric::make_code_table(format.entries);
  return job;
}

// What is compared: all up to the block that a kernel stopped at.
std::vector<std::uint8_t> first_bytes(const GuardedBytes& bytes, std::size_t count) {
  std::vector<std::uint8_t> contents = bytes.contents();
  contents.resize(count);
  return contents;
}

// Encodes and decodes; the kernels in use have to do what the reference does.
void compare(const Job& job, const std::vector<double>& scales, const std::vector<float>& values,
             std::size_t offset) {
  const std::size_t value_bytes = values.size() * sizeof(float);
  GuardedBytes x(value_bytes, offset);
  if (value_bytes > 0) std::memcpy(x.data(), values.data(), value_bytes);
  GuardedBytes expected(job.bytes(), offset);
  GuardedBytes actual(job.bytes(), offset);
  if (job.head.empty()) {
    write_parameters(job, scales, expected.data());
    write_parameters(job, scales, actual.data());
  }
  const std::size_t done = encode(numeric::reference_block_kernels(), job, x.data(), expected.data());
  REQUIRE(encode(numeric::simd_block_kernels(), job, x.data(), actual.data()) == done);
  REQUIRE(first_bytes(actual, done * job.stride()) == first_bytes(expected, done * job.stride()));
  REQUIRE(actual.intact());
  if (done < job.blocks) return;
  GuardedBytes y(value_bytes, offset);
  GuardedBytes y_expected(value_bytes, offset);
  const std::size_t decoded =
      decode(numeric::reference_block_kernels(), job, expected.data(), y_expected.data());
  REQUIRE(decode(numeric::simd_block_kernels(), job, actual.data(), y.data()) == decoded);
  const std::size_t bytes = decoded * job.count * sizeof(float);
  REQUIRE(first_bytes(y, bytes) == first_bytes(y_expected, bytes));
  REQUIRE(y.intact());
}

std::uint32_t seed() { return Catch::getSeed(); }

void compare_hard_values() {
  std::mt19937 random(seed());
  for (const Format& format : formats()) {
    const std::vector<double> ties = format.ties();
    for (const double scale : hard_scales(random)) {
      INFO("seed " << seed() << ", " << format.name << " of " << format.packing.bits << " bits, scale "
                   << scale << ", " << numeric::simd_block_kernels().instruction_set);
      const Job job = make_job(format, 2, 75, false);
      compare(job, {scale, scale}, hard_values(format, ties, scale, 150, random), random() % 4);
    }
  }
}

TEST_CASE("Codes at ties, beside them and far from them are the definition's", "[numeric][simd][blocks]") {
  kernel_cases::for_each_instruction_set(compare_hard_values);
}

// Values that are denormal, or nearly: so many steps of the table per unit that float32 can't hold them.
void compare_small_tables() {
  const Format format = {
      "small entries", {4, false}, false, 0.0, 0.0, {-0x1p-39, -0x1p-41, 0.0, 0x1p-40, 0x1p-38}};
  std::mt19937 random(seed());
  for (double scale = 0x1p-100; scale < 0x1p-40; scale *= 4.0) {
    INFO("seed " << seed() << ", scale " << scale << ", " << numeric::simd_block_kernels().instruction_set);
    std::vector<float> values(150);
    for (float& value : values) value = static_cast<float>((unit(random) * 2.0 - 1.0) * 0x1p-38 * scale);
    compare(make_job(format, 2, 75, false), {scale, scale}, values, random() % 4);
    compare(make_job(format, 2, 75, true), {scale, scale}, values, random() % 4);
  }
}

TEST_CASE("Tables of small entries under small scales have the definition's codes",
          "[numeric][simd][blocks]") {
  kernel_cases::for_each_instruction_set(compare_small_tables);
}

void compare_lengths() {
  std::mt19937 random(seed());
  for (const Format& format : formats()) {
    const std::vector<double> ties = format.ties();
    for (const std::size_t count : {0U,  1U,  2U,  3U,   5U,   7U,   8U,   15U,  16U,  17U,
                                    31U, 33U, 64U, 127U, 128U, 130U, 639U, 640U, 641U, 1400U}) {
      const std::size_t blocks = count > 500 ? 1 : random() % 4;
      for (const bool automatic : {false, true}) {
        INFO("seed " << seed() << ", " << format.name << " of " << format.packing.bits << " bits, " << blocks
                     << " blocks of " << count << ", " << numeric::simd_block_kernels().instruction_set);
        const double scale = std::exp2(unit(random) * 20.0 - 10.0);
        std::vector<float> values = hard_values(format, ties, scale, blocks * count, random);
        for (float& value : values) {
          if (std::abs(value) > 1e30F) value = static_cast<float>(scale);
        }
        Job job = make_job(format, blocks, count, automatic);
        compare(job, std::vector<double>(blocks, scale), values, random() % 4);
        job.head = head_of(job, scale);
        compare(job, {}, values, random() % 4);
      }
    }
  }
}

TEST_CASE("Blocks of any length are coded, with scales given and chosen, with what precedes their codes",
          "[numeric][simd][blocks]") {
  kernel_cases::for_each_instruction_set(compare_lengths);
}

// In blocks of 64, in the order of their bits: neighbours have magnitudes of one kind.
std::vector<float> all_float16() {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = float16_value(static_cast<std::uint16_t>(bits));
    values.push_back(std::isfinite(value) ? value : 0.0F);
  }
  return values;
}

void compare_float16() {
  const std::vector<float> values = all_float16();
  for (const Format& format : formats()) {
    const bool common = format.packing.bits == 8 || format.packing.bits == 4;
    if (!common) continue;
    INFO(format.name << " of " << format.packing.bits << " bits, "
                     << numeric::simd_block_kernels().instruction_set);
    compare(make_job(format, 1024, 64, true), std::vector<double>(1024, 1.0), values, 0);
    compare(make_job(format, 1024, 64, false), std::vector<double>(1024, 1.0 / 127.0), values, 0);
  }
}

TEST_CASE("All float16 values are coded as defined", "[numeric][simd][blocks]") {
  kernel_cases::for_each_instruction_set(compare_float16);
}

void stop_at_what_is_not_finite() {
  const Format int8 = {"int8", {8, false}, true, 0.0, 0.0, {}};
  const Format nf4 = {"nf4", {4, false}, false, 0.0, 0.0, nf4_entries()};
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Format* format : {&int8, &nf4}) {
    for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::quiet_NaN()}) {
      for (const std::size_t at : {0U, 33U, 69U, 139U}) {
        INFO(format->name << ", " << bad << " at " << at);
        std::vector<float> values(140, 0.25F);
        values[at] = bad;
        const Job job = make_job(*format, 2, 70, true);
        std::vector<std::uint8_t> records(job.bytes());
        write_parameters(job, {1.0, 1.0}, records.data());
        const auto* x = reinterpret_cast<const std::uint8_t*>(values.data());
        CHECK(encode(numeric::simd_block_kernels(), job, x, records.data()) == at / 70);
        CHECK(encode(numeric::reference_block_kernels(), job, x, records.data()) == at / 70);
      }
    }
  }
}

TEST_CASE("A value that isn't finite stops the encoder at its block", "[numeric][simd][blocks]") {
  kernel_cases::for_each_instruction_set(stop_at_what_is_not_finite);
}

void stop_at_what_is_not_in_the_table() {
  const Format log = {"log", {4, false}, false,
                      0.0,   0.0,        {0, .125, -.125, .25, -.25, .5, -.5, 1, -1, 2, -2, 4, -4, 8, -8}};
  const Job job = make_job(log, 2, 40, false);
  std::vector<std::uint8_t> records(job.bytes());
  std::vector<float> y(80);
  auto* to = reinterpret_cast<std::uint8_t*>(y.data());
  write_parameters(job, {2.0, 2.0}, records.data());
  CHECK(decode(numeric::simd_block_kernels(), job, records.data(), to) == 2);
  records[job.bytes() - 3] = 0xF0;  // entry 15
  CHECK(decode(numeric::simd_block_kernels(), job, records.data(), to) == 1);
  records[job.bytes() - 3] = 0x0E;
  CHECK(decode(numeric::simd_block_kernels(), job, records.data(), to) == 2);
  CHECK(y[40 + 34] == -16.0F);
  write_parameters(job, {2.0, 1e38}, records.data());
  CHECK(decode(numeric::simd_block_kernels(), job, records.data(), to) == 1);
}

TEST_CASE("A code without an entry, or a value beyond float32, stops the decoder at its block",
          "[numeric][simd][blocks]") {
  kernel_cases::for_each_instruction_set(stop_at_what_is_not_in_the_table);
}

TEST_CASE("Chosen scales use both ends of the codes", "[numeric][blocks]") {
  const Format int8 = {"int8", {8, false}, true, 0.0, 0.0, {}};
  const Format end = {"signed to its end", {8, false}, true, -128.0, 0.0, {}};
  struct Case {
    const Format* format;
    std::vector<float> values;
    double scale;
  };
  const std::vector<Case> cases = {{&int8, {-1.0F, 0.5F, 1.0F}, 1.0 / 127.0},
                                   {&int8, {-2.0F, 1.0F, 0.0F}, 2.0 / 128.0},
                                   {&int8, {0.0F, 0.0F, -0.0F}, 1.0},
                                   {&end, {-3.0F, -1.0F, 0.0F}, 1.0},
                                   {&end, {-3.0F, 0.51F, 0.0F}, static_cast<double>(0.51F) / 255.0}};
  for (const Case& c : cases) {
    for (const BlockKernelSet* kernels :
         {&numeric::reference_block_kernels(), &numeric::simd_block_kernels()}) {
      const Job job = make_job(*c.format, 1, 3, true);
      std::vector<std::uint8_t> records(job.bytes());
      write_parameters(job, {0.0}, records.data());
      CHECK(encode(*kernels, job, reinterpret_cast<const std::uint8_t*>(c.values.data()), records.data()) ==
            1);
      CHECK(numeric::block_double({records.data(), 0}, 0) == c.scale);
    }
  }
}

// The definition itself, where the answer is known by hand.
TEST_CASE("Ties go to the even integer and to the first of two entries", "[numeric][blocks]") {
  const numeric::AffineBlock block = {2.0, 0.0, 0.0, -128.0, 127.0};
  CHECK(numeric::affine_code(1.0, block) == 0);
  CHECK(numeric::affine_code(3.0, block) == 2);
  CHECK(numeric::affine_code(-5.0, block) == -2);
  CHECK(numeric::affine_code(1e300, block) == 127);
  const CodeTable ternary = numeric::make_code_table(std::vector<double>{-1.0, 0.0, 1.0});
  CHECK(numeric::table_code(-0.5, 1.0, ternary) == 0);
  CHECK(numeric::table_code(0.5, 1.0, ternary) == 1);
  // From afar all distances are equal in extended precision.
  CHECK(numeric::table_code(1e30, 1.0, ternary) == 0);
  CHECK(numeric::table_code(1e300, 1e-300, ternary) == std::nullopt);
  const CodeTable log = numeric::make_code_table(std::vector<double>{0, .125, -.125, .25, -.25});
  CHECK(numeric::table_code(0.1875, 1.0, log) == 1);
  CHECK(numeric::table_code(-0.1875, 1.0, log) == 2);
  CHECK(numeric::table_code(-0.0, 1.0, numeric::make_code_table(std::vector<double>{1, 0.0, -0.0})) == 1);
}

TEST_CASE("The double arithmetic of block codes agrees with the definition", "[numeric][blocks]") {
  std::mt19937 random(seed());
  INFO("seed " << seed());
  for (int i = 0; i < 200000; ++i) {
    const double scale = std::exp2(unit(random) * 60.0 - 30.0);
    const auto bits = static_cast<std::uint32_t>(1U + random() % 16U);
    const double lowest = numeric::lowest_code(bits, true);
    const double zero_point = std::floor(unit(random) * 8.0 - 4.0) * (bits < 4 ? 0.0 : 1.0);
    const numeric::AffineBlock block = {scale, zero_point, random() % 4 == 0 ? unit(random) * scale : 0.0,
                                        lowest, numeric::highest_code(bits, true)};
    double value = (std::floor(unit(random) * 300.0 - 150.0) + 0.5) * scale + block.offset;
    for (auto step = random() % 3; step > 0; --step) value = std::nextafter(value, 1e300);
    CHECK(numeric::affine_code(value, block) == numeric::exact_affine_code<numeric::Extended>(value, block));
  }
}

}  // namespace
}  // namespace halftone
