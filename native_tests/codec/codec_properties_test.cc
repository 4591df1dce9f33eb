// What holds for every layout: kernels and records agree, ranges of blocks make the whole, decoding gives the
// nearest value, and a value that was read and encoded again is the same.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <utility>

#include "codec/encoded_cases.h"
#include "codec/record_runs.h"
#include "numeric/block_kernels.h"

namespace halftone {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using P = CodecProfile;

constexpr std::uint32_t kSeed = 20261130;

constexpr std::array<DataType, 4> kTypes{DataType::kFloat, DataType::kDouble, DataType::kFloat16,
                                         DataType::kBfloat16};

std::vector<double> normal_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(0.0, 3.0);
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(static_cast<float>(normal(engine)));
  return values;
}

bool encodes_by_itself(const CodecProfileInfo& info) {
  return !info.ort && !info.needs_transform && !info.learned_codebook;
}

// The payload's records by one set of kernels, or none.
Bytes records_by(const numeric::BlockKernelSet* kernels, const CodecPlan& plan, const CodecSchema& schema,
                 const OwnedTensor& x, bool automatic) {
  Bytes records(static_cast<std::size_t>(schema.payload_bytes - schema.prefix_bytes));
  const codec::EncodeJob job{plan, x.type, automatic, true, kernels};
  REQUIRE(codec::encode_records(job, 0, schema.blocks, x.bytes.data(), records.data()).ok());
  return records;
}

Bytes values_by(const numeric::BlockKernelSet* kernels, const CodecSchema& schema, const Bytes& records) {
  Bytes values(static_cast<std::size_t>(schema.elements) * sizeof(float));
  const codec::DecodeJob job{schema, DataType::kFloat, kernels};
  REQUIRE(codec::decode_records(job, 0, schema.blocks, records.data(), values.data()).ok());
  return values;
}

}  // namespace

TEST_CASE("Kernels and single records make the same bytes and values", "[codec]") {
  CAPTURE(kSeed);
  const OwnedTensor x = floats(normal_values(1000, kSeed));
  for (const CodecProfileInfo& info : codec_profiles()) {
    if (!encodes_by_itself(info)) continue;
    for (const std::uint64_t block_size : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{64}}) {
      CAPTURE(info.name, block_size);
      CodecPlan plan = plan_of(info.profile, 1000, block_size);
      for (CodecRun& run : plan.runs) run.scales = {.37};
      if (info.layout.method == CodecMethod::kAffine) plan.runs[0].offsets = {.125};
      const CodecSchema schema = make_codec_schema(plan).value();
      for (const bool automatic : {true, false}) {
        const Bytes records = records_by(nullptr, plan, schema, x, automatic);
        const Bytes values = values_by(nullptr, schema, records);
        for (const auto* kernels : {&numeric::reference_block_kernels(), &numeric::simd_block_kernels()}) {
          CAPTURE(kernels->instruction_set, automatic);
          CHECK(records_by(kernels, plan, schema, x, automatic) == records);
          CHECK(values_by(kernels, schema, records) == values);
        }
      }
    }
  }
}

TEST_CASE("Blocks with numbers of their own are the same by kernels and records", "[codec]") {
  CAPTURE(kSeed);
  const OwnedTensor x = floats(normal_values(100, kSeed + 1));
  CodecPlan ints = plan_of(P::kGptq, 100, 10);
  ints.runs[0].scales.clear();
  ints.runs[0].zero_points.clear();
  ints.runs[0].offsets.clear();
  CodecPlan tables = plan_of(P::kSqueezeLlm, 100, 10);
  for (int block = 0; block < 10; ++block) {
    ints.runs[0].scales.push_back(.1 + .05 * block);
    ints.runs[0].zero_points.push_back(block);
    ints.runs[0].offsets.push_back(.01 * block);
    for (int entry = 0; entry < 16; ++entry) {
      tables.runs[0].codebooks.push_back(entry * (1 + block) - 8 * block - 3.5);
    }
  }
  for (const CodecPlan& plan : {ints, tables}) {
    const CodecSchema schema = make_codec_schema(plan).value();
    for (const bool automatic : {true, false}) {
      const Bytes records = records_by(nullptr, plan, schema, x, automatic);
      const Bytes values = values_by(nullptr, schema, records);
      for (const auto* kernels : {&numeric::reference_block_kernels(), &numeric::simd_block_kernels()}) {
        CAPTURE(kernels->instruction_set, automatic, plan.profile);
        CHECK(records_by(kernels, plan, schema, x, automatic) == records);
        CHECK(values_by(kernels, schema, records) == values);
      }
    }
  }
}

TEST_CASE("Ranges of blocks, in any order, make the whole", "[codec]") {
  CAPTURE(kSeed);
  const std::vector<double> numbers = normal_values(1001, kSeed + 2);
  for (const DataType type : kTypes) {
    const OwnedTensor x = floats(numbers, type);
    for (const P profile : {P::kInt8, P::kNf4, P::kTernary, P::kTiledFloat}) {
      CAPTURE(type, profile);
      const EncodedValue whole = quantized(x, profile, 32);
      Result<BlockEncoder> opened =
          BlockEncoder::open(plan_of(profile, 1001, 32), type, x.dims, BlockEncoder::Scales::kAutomatic);
      REQUIRE(opened.ok());
      const BlockEncoder& encoder = opened.value();
      const CodecSchema& schema = encoder.schema();
      REQUIRE(schema.blocks == 32);
      Bytes payload(static_cast<std::size_t>(schema.payload_bytes));
      std::ranges::copy(encoder.prefix(), payload.begin());
      const BlockDecoder decoder = BlockDecoder::open(schema, type).value();
      const std::size_t width = data_type_bits(type) / 8;
      Bytes back(x.bytes.size());
      for (const auto& [first, blocks] : {std::pair<std::uint64_t, std::uint64_t>{20, 12}, {0, 7}, {7, 13}}) {
        const BlockRange range = block_range(schema, first, blocks).value();
        const auto records = std::span(payload).subspan(static_cast<std::size_t>(range.first_byte),
                                                        static_cast<std::size_t>(range.bytes));
        const auto at = static_cast<std::size_t>(range.first_element) * width;
        const auto size = static_cast<std::size_t>(range.elements) * width;
        REQUIRE(encoder.encode(first, blocks, std::span(x.bytes).subspan(at, size), records).ok());
        REQUIRE(decoder.decode(first, blocks, records, std::span(back).subspan(at, size)).ok());
      }
      CHECK(to_hex(payload) == payload_hex(whole));
      CHECK(to_doubles(back, type) == decoded(whole, type));
      EncodedValue framed = encoder.value_without_payload();
      framed.name = "Q";
      const EncodedValueFrame frame = encoded_value_frame(framed, payload.size());
      Bytes message_bytes(frame.head.begin(), frame.head.end());
      message_bytes.insert(message_bytes.end(), payload.begin(), payload.end());
      message_bytes.insert(message_bytes.end(), frame.tail.begin(), frame.tail.end());
      CHECK(message_bytes == message(whole, "Q"));
    }
  }
}

TEST_CASE("Ranges of blocks are checked", "[codec]") {
  const CodecPlan plan = plan_of(P::kInt4, 10, 4);
  const CodecSchema schema = make_codec_schema(plan).value();
  CHECK(block_range(schema, 3, 0).value().first_byte == schema.payload_bytes);
  CHECK_FALSE(block_range(schema, 3, 1).ok());
  CHECK_FALSE(block_range(schema, 1, UINT64_MAX).ok());
  CHECK(blocks_within(schema, 0, 8) == 2);
  CHECK(blocks_within(schema, 0, 9) == 2);
  CHECK(blocks_within(schema, 0, 10) == 3);
  CHECK(blocks_within(schema, 0, 3) == 1);
  CHECK(blocks_within(schema, 2, 1) == 1);
  CHECK(blocks_within(schema, 3, 100) == 0);
  const BlockEncoder encoder =
      BlockEncoder::open(plan, DataType::kFloat, {10}, BlockEncoder::Scales::kAutomatic).value();
  Bytes source(16);
  Bytes records(26);
  CHECK(encoder.encode(0, 1, source, records).ok());
  CHECK_FALSE(encoder.encode(0, 1, std::span(source).first(15), records).ok());
  CHECK_FALSE(encoder.encode(0, 1, source, std::span(records).first(25)).ok());
  CodecPlan outlier = plan;
  outlier.outliers = {1};
  CHECK_FALSE(BlockEncoder::open(outlier, DataType::kFloat, {10}, BlockEncoder::Scales::kGiven).ok());
  CHECK_FALSE(BlockEncoder::open(plan, DataType::kFloat, {11}, BlockEncoder::Scales::kGiven).ok());
  CHECK_FALSE(BlockEncoder::open(plan, DataType::kInt8, {10}, BlockEncoder::Scales::kGiven).ok());
}

TEST_CASE("All widths from 1 to 16 bits hold all their codes", "[codec]") {
  for (std::uint32_t bits = 1; bits <= 16; ++bits) {
    for (const bool is_signed : {true, false}) {
      CAPTURE(bits, is_signed);
      CodecPlan plan = plan_of(P::kExl2, 19, 19);
      plan.runs[0].layout.bits = bits;
      plan.runs[0].layout.signed_codes = is_signed;
      const CodeLimits limits = code_limits(plan.runs[0].layout);
      std::vector<double> x;
      for (int i = 0; i < 19; ++i)
        x.push_back(i % 2 == 0 ? std::min(limits.high, limits.low + i) : limits.high - i / 4);
      for (double& value : x) value = std::max(value, limits.low);
      const EncodedValue value = encoded(floats(x), plan);
      CHECK(value.payload->size() == 25 + (19 * bits + 7) / 8);
      CHECK(decoded(value) == x);
    }
    CodecPlan table = plan_of(P::kNf4, 19, 19);
    table.runs[0].layout.bits = bits;
    table.runs[0].layout.entries = 1U << bits;
    table.runs[0].codebooks.clear();
    for (std::uint32_t i = 0; i < 1U << bits; ++i) table.runs[0].codebooks.push_back(i * .5);
    std::vector<double> x;
    for (std::uint32_t i = 0; i < 19; ++i) x.push_back((i * 7919U % (1U << bits)) * .5);
    CHECK(decoded(encoded(floats(x), table)) == x);
  }
}

TEST_CASE("Every float16 is decoded as the nearest value of an 8-bit format", "[codec]") {
  std::vector<double> x;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto value = static_cast<double>(float16_value(static_cast<std::uint16_t>(bits)));
    if (std::isfinite(value)) x.push_back(value);
  }
  const OwnedTensor source = floats(x, DataType::kFloat16);
  const auto nearest = [](const std::vector<double>& levels, double value) {
    double best = levels[0];
    for (const double level : levels) {
      if (std::abs(level - value) < std::abs(best - value)) best = level;
    }
    return std::abs(best - value);
  };
  std::vector<double> integers;
  for (int i = -128; i < 128; ++i) integers.push_back(i * .5);
  const std::span<const double> table = codec_profile_info(P::kFp8E4M3).codebook;
  const std::vector<double> fp8(table.begin(), table.end());
  for (const auto& [profile, scale, levels] :
       {std::tuple{P::kInt8, .5, integers}, std::tuple{P::kFp8E4M3, 1.0, fp8}}) {
    CodecPlan plan = plan_of(profile, x.size(), x.size());
    plan.runs[0].scales = {scale};
    const std::vector<double> back = decoded(encoded(source, plan));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      wrong += static_cast<std::size_t>(std::abs(back[i] - x[i]) != nearest(levels, x[i]));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("What was decoded is encoded to the same bytes", "[codec]") {
  CAPTURE(kSeed);
  const OwnedTensor x = floats(normal_values(333, kSeed + 3), DataType::kDouble);
  for (const CodecProfileInfo& info : codec_profiles()) {
    if (!encodes_by_itself(info)) continue;
    CAPTURE(info.name);
    CodecPlan plan = plan_of(info.profile, 333, 32);
    for (CodecRun& run : plan.runs) run.scales = {.25};
    const EncodedValue value = encoded(x, plan);
    CHECK(payload_hex(encoded(floats(decoded(value), DataType::kDouble), plan)) == payload_hex(value));
  }
}

TEST_CASE("Four types in, four types out", "[codec]") {
  const std::vector<double> numbers{-1.5, .25, 3, 0, 2.75, -4};
  for (const DataType source : kTypes) {
    CodecPlan plan = plan_of(P::kInt8, 6, 4);
    for (CodecRun& run : plan.runs) run.scales = {.25};
    const EncodedValue value = encoded(shaped(numbers, {2, 3}, source), plan);
    CHECK(value.logical_type->type == source);
    CHECK(value.logical_type->dims == std::vector<std::int64_t>{2, 3});
    for (const DataType output : kTypes) CHECK(decoded(value, output) == numbers);
    const Result<std::vector<std::uint8_t>> own = decode_tensor(value);
    REQUIRE(own.ok());
    CHECK(to_doubles(own.value(), source) == numbers);
  }
}

TEST_CASE("Transforms and permutations come back as they went", "[codec]") {
  CAPTURE(kSeed);
  const std::vector<double> numbers = normal_values(96, kSeed + 4);
  CodecPlan plan = plan_of(P::kQuarot, 96, 32);
  plan.transform_size = 4;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) {
      const int ones = (row & column & 1) + ((row & column) >> 1);
      plan.forward.push_back(ones % 2 == 0 ? .5 : -.5);
    }
  }
  plan.inverse = plan.forward;  // a Hadamard matrix over 2 is its own inverse
  for (std::int64_t i = 0; i < 96; ++i) plan.permutation.push_back(i * 5 % 96);
  plan.outliers = {3, 90};
  for (CodecRun& run : plan.runs) {
    run.layout.bits = 16;
    run.scales = {1.0 / 1024};
  }
  const std::vector<double> back = decoded(encoded(floats(numbers), plan));
  CHECK(back[3] == numbers[3]);
  CHECK(back[90] == numbers[90]);
  // Half a step for each of four values, times a half, four times over.
  for (std::size_t i = 0; i < 96; ++i) CHECK(std::abs(back[i] - numbers[i]) <= 4 * .5 * .5 / 1024 + 1e-12);
}

}  // namespace halftone
