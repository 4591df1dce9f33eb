// Every byte of stored values flipped: what comes of it is what the format says, by a decoder that is as
// plain as can be, or a refusal.
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

#include "codec/float_elements.h"
#include "fuzz/encoded_value_fuzz.h"
#include "halftone/block_format.h"
#include "halftone/codec.h"
#include "halftone/ort_matmul_nbits.h"

namespace halftone::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Values = std::optional<std::vector<double>>;

const std::vector<float> kValues = {-8.0F, -3.3F, 0.2F, 7.0F, -16.0F, -1.2F, 8.5F, 14.0F, 0.5F, -0.25F};

CodecTensor tensor_of(const std::vector<float>& x, std::vector<std::int64_t> dims) {
  return {DataType::kFloat,
          std::move(dims),
          {reinterpret_cast<const std::uint8_t*>(x.data()), x.size() * sizeof(float)}};
}

// ---- portable profiles

double load_double(const Bytes& bytes, std::size_t at) {
  double x = 0.0;
  std::memcpy(&x, bytes.data() + at, sizeof(x));
  return x;
}

bool bit(const Bytes& bytes, std::size_t first, std::size_t index) {
  return (bytes[first + index / 8] >> index % 8 & 1U) != 0;
}

std::uint32_t code(const Bytes& bytes, std::size_t first, std::size_t index, std::uint32_t bits) {
  std::uint32_t value = 0;
  for (std::uint32_t i = 0; i < bits; ++i) value |= (bit(bytes, first, index * bits + i) ? 1U : 0U) << i;
  return value;
}

// The codes of a block; nothing if they break a rule.
std::optional<std::vector<std::uint32_t>> codes_of(const BlockLayout& layout, const BlockSizes& sizes,
                                                   const Bytes& payload, std::size_t first) {
  std::vector<std::uint32_t> codes;
  if (layout.base3) {
    for (std::size_t i = 0; i < sizes.code_bytes; ++i) {
      std::uint32_t rest = payload[first + i];
      if (rest >= 243) return std::nullopt;
      for (int k = 0; k < 5; ++k, rest /= 3) {
        if (codes.size() < sizes.codes) {
          codes.push_back(rest % 3);
        } else if (rest % 3 != 0) {
          return std::nullopt;
        }
      }
    }
    return codes;
  }
  for (std::size_t i = 0; i < sizes.codes; ++i) codes.push_back(code(payload, first, i, layout.bits));
  const auto used = static_cast<std::size_t>(sizes.codes * layout.bits);
  const auto stored = static_cast<std::size_t>(sizes.code_bytes * 8);
  for (std::size_t i = used; i < stored; ++i) {
    if (bit(payload, first, i)) return std::nullopt;
  }
  return codes;
}

Values affine_values(const BlockLayout& layout, const std::vector<std::uint32_t>& codes, double scale,
                     double zero_point, double offset) {
  const double highest = layout.signed_codes ? std::ldexp(1.0, static_cast<int>(layout.bits) - 1) - 1.0
                                             : std::ldexp(1.0, static_cast<int>(layout.bits)) - 1.0;
  const double lowest = highest + 1.0 - std::ldexp(1.0, static_cast<int>(layout.bits));
  const bool sound = std::isfinite(offset) && zero_point >= lowest && zero_point <= highest &&
                     std::nearbyint(zero_point) == zero_point;
  if (!sound) return std::nullopt;
  std::vector<double> values;
  for (const std::uint32_t c : codes) {
    const double q = c > highest ? c - std::ldexp(1.0, static_cast<int>(layout.bits)) : c;
    values.push_back((q - zero_point) * scale + offset);
  }
  return values;
}

// Scalar code books only.
Values table_values(const BlockLayout& layout, const std::vector<std::uint32_t>& codes, double scale,
                    const Bytes& payload, std::size_t table) {
  std::vector<double> values;
  for (std::size_t i = 0; i < layout.entries; ++i) {
    if (!std::isfinite(load_double(payload, table + 8 * i))) return std::nullopt;
  }
  for (const std::uint32_t c : codes) {
    if (c >= layout.entries) return std::nullopt;
    values.push_back((0.0 + load_double(payload, table + 8 * c)) * scale);
  }
  return values;
}

Values cast_values(const BlockLayout& layout, double scale, const Bytes& payload, std::size_t first) {
  std::vector<double> values;
  const std::size_t bytes = data_type_bits(layout.cast_type) / 8;
  for (std::size_t i = 0; i < layout.count; ++i) {
    values.push_back(codec::load_float(layout.cast_type, payload.data() + first + i * bytes) * scale);
  }
  return values;
}

Values block_values(const BlockLayout& layout, const BlockSizes& sizes, const Bytes& payload,
                    std::size_t at) {
  const double scale = load_double(payload, at);
  const double zero_point = load_double(payload, at + 8);
  const double offset = load_double(payload, at + 16);
  const std::size_t table = at + 24;
  const std::size_t first = table + 8 * static_cast<std::size_t>(sizes.table_values);
  if (!std::isfinite(scale) || scale <= 0.0) return std::nullopt;
  if (layout.method != CodecMethod::kAffine && (zero_point != 0.0 || offset != 0.0)) return std::nullopt;
  if (layout.method == CodecMethod::kCast) return cast_values(layout, scale, payload, first);
  const auto codes = codes_of(layout, sizes, payload, first);
  if (!codes) return std::nullopt;
  if (layout.method == CodecMethod::kAffine) return affine_values(layout, *codes, scale, zero_point, offset);
  return table_values(layout, *codes, scale, payload, table);
}

// Plans without permutation, transform and outliers.
Values expected_values(const CodecSchema& schema, const Bytes& payload) {
  if (payload[0] != 0) return std::nullopt;
  std::vector<double> values;
  std::size_t at = 1;
  for (const SchemaRun& run : schema.runs) {
    for (std::uint64_t block = 0; block < run.blocks; ++block) {
      const Values of_block = block_values(run.layout, run.sizes, payload, at);
      if (!of_block) return std::nullopt;
      values.insert(values.end(), of_block->begin(), of_block->end());
      at += static_cast<std::size_t>(run.sizes.record_bytes);
    }
  }
  for (const double v : values) {
    if (!std::isfinite(v)) return std::nullopt;
  }
  return values;
}

EncodedValue portable(CodecProfile profile) {
  Result<CodecPlan> plan = make_codec_plan(profile, kValues.size(), 4);
  REQUIRE(plan.ok());
  for (CodecRun& run : plan.value().runs) run.scales = {1.25};
  Result<EncodedValue> value = encode_tensor(tensor_of(kValues, {10}), plan.value());
  INFO((value.ok() ? std::string() : value.error().message));
  REQUIRE(value.ok());
  value.value().name = "w";
  return std::move(value).value();
}

Bytes payload_of(const EncodedValue& value) {
  const std::span<const std::uint8_t> bytes = value.payload->bytes();
  return {bytes.begin(), bytes.end()};
}

Values decoded_doubles(const Result<Bytes>& bytes) {
  if (!bytes.ok()) {
    CHECK_FALSE(bytes.error().message.empty());
    return std::nullopt;
  }
  std::vector<double> values(bytes.value().size() / sizeof(double));
  std::memcpy(values.data(), bytes.value().data(), bytes.value().size());
  return values;
}

// Calls visit(bytes) with every byte changed in each of its bits, and in all of them.
template <typename Visit>
void each_flip(const Bytes& bytes, Visit visit) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned flip : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 255U}) {
      Bytes changed = bytes;
      changed[i] = static_cast<std::uint8_t>(changed[i] ^ flip);
      INFO("byte " << i << " ^ " << flip);
      visit(changed);
    }
  }
}

TEST_CASE("Flipped bytes of a payload are decoded as the format says, or refused", "[fuzz][codec]") {
  for (const CodecProfile profile :
       {CodecProfile::kInt8, CodecProfile::kInt4, CodecProfile::kGptq, CodecProfile::kQ3K, CodecProfile::kNf4,
        CodecProfile::kTernary, CodecProfile::kTq2_0, CodecProfile::kLog, CodecProfile::kFp8E4M3,
        CodecProfile::kTiledFloat}) {
    INFO(codec_profile_info(profile).name);
    EncodedValue value = portable(profile);
    const Result<CodecSchema> schema = encoded_value_schema(value);
    REQUIRE(schema.ok());
    std::size_t decoded = 0;
    std::size_t refused = 0;
    each_flip(payload_of(value), [&](const Bytes& payload) {
      value.payload = PayloadBytes(std::span<const std::uint8_t>(payload));
      const Values values = decoded_doubles(decode_tensor(value, DataType::kDouble));
      CHECK(values == expected_values(schema.value(), payload));
      ++(values ? decoded : refused);
    });
    CHECK(decoded > 20);
    CHECK(refused > 20);
  }
}

// ---- onnxruntime's profiles

EncodedValue matrix_value(CodecProfile profile, std::vector<double> zero_points) {
  std::vector<float> x;
  for (int i = 0; i < 57; ++i) x.push_back(static_cast<float>(i % 7) - 3.0F);
  Result<CodecPlan> plan = make_matmul_nbits_plan(profile, 19, 3, 16);
  REQUIRE(plan.ok());
  plan.value().runs[0].zero_points = std::move(zero_points);
  Result<EncodedValue> value = encode_matmul_nbits(tensor_of(x, {19, 3}), plan.value());
  REQUIRE(value.ok());
  value.value().name = "w";
  return std::move(value).value();
}

// K 19, N 3, two groups a column.
Values expected_matrix(const MatMulNBitsLayout& layout, const Bytes& payload) {
  const std::size_t group_bytes = layout.bits * 2;
  const std::size_t scales = 6 * group_bytes;
  const std::size_t zero_points = scales + 24;
  std::vector<double> values(57);
  for (std::size_t column = 0; column < 3; ++column) {
    for (std::size_t row = 0; row < 32; ++row) {
      const std::size_t block = column * 2 + row / 16;
      const std::uint32_t q = code(payload, block * group_bytes, row % 16, layout.bits);
      if (row >= 19) {
        if (q != 0) return std::nullopt;
        continue;
      }
      const double scale = codec::load_float(DataType::kFloat, payload.data() + scales + 4 * block);
      double zero_point = std::ldexp(1.0, static_cast<int>(layout.bits) - 1);
      if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kSourceType) {
        zero_point = codec::load_float(DataType::kFloat, payload.data() + zero_points + 4 * block);
      } else if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kPacked) {
        const std::size_t bytes = layout.bits == 8 ? 2 : 1;
        zero_point = code(payload, zero_points + column * bytes, row / 16, layout.bits);
        for (std::size_t i = 2 * layout.bits; i < bytes * 8; ++i) {
          if (bit(payload, zero_points + column * bytes, i)) return std::nullopt;
        }
      }
      values[row * 3 + column] = (q - zero_point) * scale;
    }
  }
  for (const double v : values) {
    if (!std::isfinite(v)) return std::nullopt;
  }
  return values;
}

std::vector<EncodedValue> matrices() {
  std::vector<EncodedValue> values;
  for (const CodecProfile profile : {CodecProfile::kOrtMatMulNBitsInt2, CodecProfile::kOrtMatMulNBitsInt4,
                                     CodecProfile::kOrtMatMulNBitsInt8}) {
    values.push_back(matrix_value(profile, {codec_profile_info(profile).zero_point}));
    values.push_back(matrix_value(profile, {1.0, 2.0, 3.0, 0.0, 1.0, 2.0}));
    values.push_back(matrix_value(profile, {1.5}));
  }
  return values;
}

TEST_CASE("Flipped bytes of a MatMulNBits payload are decoded as the format says, or refused",
          "[fuzz][codec]") {
  std::size_t decoded = 0;
  std::size_t refused = 0;
  for (EncodedValue& value : matrices()) {
    const Result<MatMulNBitsLayout> layout = check_matmul_nbits(value);
    REQUIRE(layout.ok());
    INFO(layout.value().bits << " bits, zero points " << static_cast<int>(layout.value().zero_points));
    each_flip(payload_of(value), [&](const Bytes& payload) {
      value.payload = PayloadBytes(std::span<const std::uint8_t>(payload));
      const Values values = decoded_doubles(decode_matmul_nbits(value, DataType::kDouble));
      CHECK(values == expected_matrix(layout.value(), payload));
      ++(values ? decoded : refused);
    });
  }
  CHECK(decoded > 1000);
  CHECK(refused > 1000);
}

// ---- whole messages

EncodedValue transformed() {
  Result<CodecPlan> plan = make_codec_plan(CodecProfile::kQuarot, 4, 4);
  REQUIRE(plan.ok());
  plan.value().permutation = {2, 3, 0, 1};
  plan.value().transform_size = 2;
  plan.value().forward = {1.0, 1.0, 1.0, -1.0};
  plan.value().inverse = {0.5, 0.5, 0.5, -0.5};
  plan.value().outliers = {1};
  Result<EncodedValue> value = encode_tensor(tensor_of({1.0F, 1000.0F, 2.0F, 3.0F}, {4}), plan.value());
  REQUIRE(value.ok());
  return std::move(value).value();
}

std::vector<Bytes> messages() {
  std::vector<EncodedValue> values = matrices();
  values.push_back(transformed());
  for (const CodecProfile profile :
       {CodecProfile::kInt4, CodecProfile::kNf4, CodecProfile::kTernary, CodecProfile::kTiledFloat}) {
    values.push_back(portable(profile));
  }
  std::vector<Bytes> messages;
  for (const EncodedValue& value : values) messages.push_back(write_encoded_value(value).flatten());
  return messages;
}

TEST_CASE("Flipped, cut and longer messages hold the fuzzer's properties", "[fuzz][codec]") {
  std::size_t decoded = 0;
  for (const Bytes& message : messages()) {
    CHECK(read_and_decode(message));
    each_flip(message, [&](const Bytes& changed) {
      if (read_and_decode(changed)) ++decoded;
    });
    // The name comes last: cut off as a whole, it leaves a value without a name.
    const std::size_t without_name = message.size() - 3;
    for (std::size_t size = 0; size < message.size(); ++size) {
      if (size == without_name) continue;
      CHECK_FALSE(read_and_decode({message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size)}));
    }
    Bytes longer = message;
    longer.push_back(0);
    CHECK_FALSE(read_and_decode(longer));
  }
  CHECK(decoded > 1000);
}

TEST_CASE("Messages with several changes hold the fuzzer's properties", "[fuzz][codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<Bytes> corpus = messages();
  for (int round = 0; round < 3000; ++round) {
    Bytes message = corpus[random() % corpus.size()];
    for (std::size_t i = 1 + random() % 4; i > 0 && message.size() > 1; --i) {
      const auto at = static_cast<std::ptrdiff_t>(random() % message.size());
      switch (random() % 3) {
        case 0:
          message[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
          break;
        case 1:
          message.insert(message.begin() + at, static_cast<std::uint8_t>(random()));
          break;
        default:
          message.erase(message.begin() + at);
      }
    }
    read_and_decode(message);
  }
}

TEST_CASE("Any bytes are blocks of any layout", "[fuzz][codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::size_t decoded = 0;
  for (int round = 0; round < 2000; ++round) {
    Bytes bytes(3 + random() % 2000);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    bytes[0] = static_cast<std::uint8_t>(round % 19);
    if (round % 3 == 0) bytes[2] = 52;  // a superblock
    if (decode_any_blocks(bytes)) ++decoded;
  }
  CHECK(decoded > 500);
  CHECK_FALSE(decode_any_blocks(Bytes{8, 0, 200}));
  CHECK(decode_any_blocks({}));
}

}  // namespace
}  // namespace halftone::test
