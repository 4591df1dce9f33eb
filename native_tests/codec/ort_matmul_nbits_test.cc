// onnxruntime's profiles of encoded values, to the byte.
#include "halftone/ort_matmul_nbits.h"

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "codec/block_cases.h"
#include "codec/float_elements.h"

namespace halftone::test {
namespace {

constexpr CodecProfile kInt2 = CodecProfile::kOrtMatMulNBitsInt2;
constexpr CodecProfile kInt4 = CodecProfile::kOrtMatMulNBitsInt4;
constexpr CodecProfile kInt8 = CodecProfile::kOrtMatMulNBitsInt8;

// A matrix of any float type, with its bytes.
struct Matrix {
  std::vector<std::uint8_t> bytes;
  CodecTensor tensor;

  Matrix(DataType type, std::int64_t k, std::int64_t n, const std::vector<double>& x) {
    const std::size_t size = data_type_bits(type) / 8;
    bytes.resize(x.size() * size);
    for (std::size_t i = 0; i < x.size(); ++i) {
      codec::store_float(type, codec::rounded_float(type, x[i]), bytes.data() + i * size);
    }
    tensor = {type, {k, n}, bytes};
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
};

CodecPlan plan_of(CodecProfile profile, std::uint64_t k, std::uint64_t n, std::uint32_t block_size) {
  const Result<CodecPlan> plan = make_matmul_nbits_plan(profile, k, n, block_size);
  REQUIRE(plan.ok());
  return plan.value();
}

EncodedValue encoded_matrix(const Matrix& x, const CodecPlan& plan) {
  const Result<EncodedValue> value = encode_matmul_nbits(x.tensor, plan);
  INFO((value.ok() ? std::string() : value.error().message));
  REQUIRE(value.ok());
  return value.value();
}

std::vector<std::uint8_t> payload_of(const EncodedValue& value) {
  const std::span<const std::uint8_t> bytes = value.payload->bytes();
  return {bytes.begin(), bytes.end()};
}

std::vector<float> decoded_floats(const EncodedValue& value) {
  const Result<std::vector<std::uint8_t>> bytes = decode_matmul_nbits(value, DataType::kFloat);
  REQUIRE(bytes.ok());
  std::vector<float> floats(bytes.value().size() / sizeof(float));
  std::memcpy(floats.data(), bytes.value().data(), bytes.value().size());
  return floats;
}

TEST_CASE("Payload and message of a MatMulNBits value", "[codec]") {
  const Matrix x(DataType::kFloat, 3, 2, {-1, 1, 0, 2, 1, 3});
  EncodedValue value = encoded_matrix(x, plan_of(kInt4, 3, 2, 16));
  CHECK(hex(payload_of(value)) == "8709000000000000a90b0000000000000000803f0000803f");
  CHECK(decoded_floats(value) == std::vector<float>{-1, 1, 0, 2, 1, 3});
  value.name = "W";
  const std::vector<std::uint8_t> message = write_encoded_value(value).flatten();
  CHECK(hex(message) ==
        "127e124b0a160a0a706172616d65746572732208080210073a0204100a170a014212120a100802120c0a0208020a020801"
        "0a0208080a180a067363616c6573120e0a0c080112080a0208020a0208013a2f6f6e6e785f6c696768742e7175616e7469"
        "7a6174696f6e2e76312f6f72745f6d61746d756c6e626974735f696e74341a0e0a0c080112080a0208030a020802221887"
        "09000000000000a90b0000000000000000803f0000803f3a0157");
  const Result<EncodedValue> read = read_encoded_value(message);
  REQUIRE(read.ok());
  CHECK(decoded_floats(read.value()) == std::vector<float>{-1, 1, 0, 2, 1, 3});
}

TEST_CASE("Negative scales and fractional zero points of MatMulNBits", "[codec]") {
  const Matrix x(DataType::kFloat, 3, 2, {1.625, -2.25, 0.125, 0.25, -1.875, 2.75});
  CodecPlan plan = plan_of(kInt4, 3, 2, 16);
  plan.runs[0].scales = {-0.5, 0.5};
  plan.runs[0].zero_points = {3.25, 4.5};
  const EncodedValue value = encoded_matrix(x, plan);
  CHECK(hex(payload_of(value)) == "3007000000000000500a000000000000000000bf0000003f0000504000009040");
  CHECK(check_matmul_nbits(value).value().zero_points == MatMulNBitsLayout::ZeroPoints::kSourceType);
  CHECK(decoded_floats(value) == std::vector<float>{1.625F, -2.25F, 0.125F, 0.25F, -1.875F, 2.75F});
}

TEST_CASE("Packed zero points and groups of MatMulNBits", "[codec]") {
  const std::tuple<CodecProfile, std::string_view, std::string_view> cases[] = {
      {kInt2, "e4", "390e"}, {kInt4, "10", "21033204"}, {kInt8, "00", "010203020304"}};
  for (const auto& [profile, first, zero_points] : cases) {
    const unsigned modulus = 1U << codec_profile_info(profile).layout.bits;
    INFO(codec_profile_info(profile).name);
    CodecPlan plan = plan_of(profile, 35, 2, 16);
    plan.runs[0].scales.clear();
    plan.runs[0].zero_points.clear();
    std::vector<double> x(70);
    for (unsigned column = 0; column < 2; ++column) {
      for (unsigned group = 0; group < 3; ++group) {
        plan.runs[0].scales.push_back(0.5 * (group + 1));
        plan.runs[0].zero_points.push_back((column + group + 1) % modulus);
      }
      for (unsigned row = 0; row < 35; ++row) {
        const double code = (row + column) % modulus;
        x[row * 2 + column] = (code - plan.runs[0].zero_points[column * 3 + row / 16]) * 0.5 * (row / 16 + 1);
      }
    }
    for (const DataType type : {DataType::kFloat, DataType::kFloat16, DataType::kBfloat16}) {
      const Matrix matrix(type, 35, 2, x);
      const EncodedValue value = encoded_matrix(matrix, plan);
      const Result<MatMulNBitsInputs> inputs = export_matmul_nbits_inputs(value);
      REQUIRE(inputs.ok());
      CHECK(inputs.value().layout.k == 35);
      CHECK(inputs.value().layout.n == 2);
      CHECK(hex({inputs.value().weights[0]}) == first);
      CHECK(hex({inputs.value().zero_points.begin(), inputs.value().zero_points.end()}) == zero_points);
      const std::size_t scale_bytes = data_type_bits(type) / 8;
      CHECK(inputs.value().scales.size() == 6 * scale_bytes);
      CHECK(codec::load_float(type, inputs.value().scales.data() + 2 * scale_bytes) == 1.5);
      CHECK(decode_matmul_nbits(value).value() == matrix.bytes);
    }
  }
}

TEST_CASE("Scales and zero points of MatMulNBits are rounded to the source's type", "[codec]") {
  CodecPlan plan = plan_of(kInt8, 1, 1, 16);
  plan.runs[0].scales = {0.10001};
  plan.runs[0].zero_points = {128.3};
  const auto behind_codes = [&](DataType type) {
    const std::vector<std::uint8_t> payload = payload_of(encoded_matrix(Matrix(type, 1, 1, {0.5}), plan));
    return hex({payload.begin() + 16, payload.end()});
  };
  CHECK(behind_codes(DataType::kFloat16) == "672e0258");
  CHECK(behind_codes(DataType::kBfloat16) == "cd3d");  // 128, so there are no zero points
}

TEST_CASE("MatMulNBits scales are calibrated by column and group", "[codec]") {
  // Group 0 and 1 of column 0: -4 / -8, 7 / 7; column 1: zeros, 1.4 / 7.
  std::vector<double> x(64, 0.0);
  x[0] = -4.0;
  x[2] = 1.0;
  x[32] = 7.0;
  x[33] = 1.4F;
  const Matrix matrix(DataType::kFloat, 32, 2, x);
  CodecPlan plan = plan_of(kInt4, 32, 2, 16);
  REQUIRE(calibrate_matmul_nbits(matrix.tensor, plan).ok());
  CHECK(plan.runs[0].scales == std::vector<double>{0.5, 1.0, 1.0, static_cast<double>(1.4F) / 7.0});
  const std::vector<float> y = decoded_floats(encoded_matrix(matrix, plan));
  CHECK(y[0] == -4.0F);
  CHECK(y[2] == 1.0F);
  CHECK(y[32] == 7.0F);
  // With zero point 0 negative values can't be said and don't count.
  plan.runs[0].zero_points = {0.0};
  REQUIRE(calibrate_matmul_nbits(matrix.tensor, plan).ok());
  CHECK(plan.runs[0].scales[0] == 1.0 / 15.0);
}

TEST_CASE("Random matrices come back within half a step of MatMulNBits, and their payload to the byte",
          "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const CodecProfile profile : {kInt2, kInt4, kInt8}) {
    for (const auto& [k, n, block_size] : {std::tuple{35, 3, 16}, {65, 20, 32}, {64, 17, 64}, {5, 1, 128}}) {
      INFO(codec_profile_info(profile).name << ' ' << k << ' ' << n);
      std::vector<double> x;
      for (const float v : normal_values(random, static_cast<std::size_t>(k * n))) x.push_back(v);
      const Matrix matrix(DataType::kFloat, k, n, x);
      CodecPlan plan = plan_of(profile, static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n),
                               static_cast<std::uint32_t>(block_size));
      REQUIRE(calibrate_matmul_nbits(matrix.tensor, plan).ok());
      const EncodedValue value = encoded_matrix(matrix, plan);
      const std::vector<float> y = decoded_floats(value);
      const int groups = (k + block_size - 1) / block_size;
      for (int row = 0; row < k; ++row) {
        for (int column = 0; column < n; ++column) {
          const double step =
              plan.runs[0].scales[static_cast<std::size_t>(column * groups + row / block_size)];
          const auto i = static_cast<std::size_t>(row * n + column);
          CHECK(std::fabs(static_cast<double>(y[i]) - x[i]) <= step * 0.5000001);
        }
      }
      std::vector<double> again(y.begin(), y.end());
      CHECK(payload_of(encoded_matrix(Matrix(DataType::kFloat, k, n, again), plan)) == payload_of(value));
    }
  }
}

template <typename T>
void check_refused(const Result<T>& result, ErrorCode code, std::string_view word) {
  REQUIRE_FALSE(result.ok());
  INFO(result.error().message);
  CHECK(result.error().code == code);
  CHECK(result.error().message.find(word) != std::string::npos);
  CHECK_FALSE(result.error().next.empty());
}

TEST_CASE("Plans that MatMulNBits can't store", "[codec]") {
  check_refused(make_matmul_nbits_plan(CodecProfile::kInt4, 2, 2, 16), ErrorCode::kInvalidPolicy, "int4");
  check_refused(make_matmul_nbits_plan(kInt4, 2, 2, 8), ErrorCode::kInvalidPolicy, "blocks of 8");
  check_refused(make_matmul_nbits_plan(kInt4, 2, 2, 48), ErrorCode::kInvalidPolicy, "blocks of 48");
  check_refused(make_matmul_nbits_plan(kInt4, 0, 2, 16), ErrorCode::kInvalidPolicy, "shape");
  check_refused(make_matmul_nbits_plan(kInt4, std::numeric_limits<std::uint64_t>::max(),
                                       std::numeric_limits<std::uint64_t>::max(), 16),
                ErrorCode::kTooLarge, "2^60");
  const Matrix x(DataType::kFloat, 3, 2, {-1, 1, 0, 2, 1, 3});
  const CodecPlan plan = plan_of(kInt4, 3, 2, 16);
  const auto refused = [&](auto edit, ErrorCode code, std::string_view word) {
    CodecPlan edited = plan;
    edit(edited);
    check_refused(encode_matmul_nbits(x.tensor, edited), code, word);
  };
  const ErrorCode policy = ErrorCode::kInvalidPolicy;
  refused([](CodecPlan& p) { p.runs[0].offsets = {1.0}; }, policy, "offset");
  refused([](CodecPlan& p) { p.runs[0].codebooks = {1.0}; }, policy, "codebook");
  refused([](CodecPlan& p) { p.permutation = {0, 1, 2, 3, 4, 5}; }, policy, "permutation");
  refused([](CodecPlan& p) { p.outliers = {1}; }, policy, "outliers");
  refused([](CodecPlan& p) { p.runs.push_back(p.runs[0]); }, policy, "one run");
  refused([](CodecPlan& p) { p.runs[0].layout.bits = 3; }, policy, "edited");
  refused([](CodecPlan& p) { p.matrix_shape.reset(); }, policy, "matrix shape");
  refused([](CodecPlan& p) { p.runs[0].scales = {1.0, 1.0, 1.0}; }, policy, "one per block");
  refused([](CodecPlan& p) { p.runs[0].scales = {1e-50}; }, policy, "underflows");
  refused([](CodecPlan& p) { p.runs[0].scales = {0.0}; }, policy, "zero scale");
  refused([](CodecPlan& p) { p.runs[0].scales = {std::nan("")}; }, ErrorCode::kNonFinite, "finite");
  refused([](CodecPlan& p) { p.runs[0].scales = {1e60}; }, ErrorCode::kNonFinite, "finite");
  refused([](CodecPlan& p) { p.runs[0].zero_points = {HUGE_VAL}; }, ErrorCode::kNonFinite, "finite");
  refused(
      [](CodecPlan& p) {
        p.runs[0].scales = {3e38};
        p.runs[0].zero_points = {-100.5};
      },
      ErrorCode::kNonFinite, "overflow");
  refused([](CodecPlan& p) { p = plan_of(kInt4, 2, 3, 16); }, ErrorCode::kShapeMismatch, "shape");
  const Matrix doubles(DataType::kDouble, 3, 2, {-1, 1, 0, 2, 1, 3});
  check_refused(encode_matmul_nbits(doubles.tensor, plan), ErrorCode::kUnsupportedType, "FLOAT");
  const Matrix infinite(DataType::kFloat16, 3, 2, {-1, 1, 0, HUGE_VAL, 1, 3});
  check_refused(encode_matmul_nbits(infinite.tensor, plan), ErrorCode::kNonFinite, "finite");
  // A scale of 0 is fine for zeros: the code is the nearest to the zero point.
  CodecPlan zero = plan;
  zero.runs[0].scales = {0.0};
  zero.runs[0].zero_points = {6.5};
  const EncodedValue value = encoded_matrix(Matrix(DataType::kFloat, 3, 2, std::vector<double>(6)), zero);
  CHECK(payload_of(value)[0] == 0x66);
}

TEST_CASE("Zero points far from codes are exact", "[codec]") {
  // v / s + z in double would be off by more than the distance to the tie.
  CodecPlan plan = plan_of(kInt8, 1, 1, 16);
  plan.runs[0].scales = {1.0};
  plan.runs[0].zero_points = {-16777216.0};
  const EncodedValue value = encoded_matrix(Matrix(DataType::kFloat, 1, 1, {16777218.0}), plan);
  CHECK(payload_of(value)[0] == 2);
}

EncodedValue small_value() {
  CodecPlan plan = plan_of(kInt4, 35, 2, 16);
  plan.runs[0].zero_points = {3.0};
  return encoded_matrix(Matrix(DataType::kFloat, 35, 2, std::vector<double>(70, 1.0)), plan);
}

TEST_CASE("Damaged MatMulNBits values are refused", "[codec]") {
  const EncodedValue value = small_value();
  REQUIRE(check_matmul_nbits(value).ok());
  const std::vector<std::uint8_t> payload = payload_of(value);
  const auto with_payload = [&](std::vector<std::uint8_t> bytes) {
    EncodedValue changed = value;
    changed.payload = PayloadBytes(std::move(bytes));
    return check_matmul_nbits(changed);
  };
  check_refused(with_payload({payload.begin(), payload.end() - 1}), ErrorCode::kTruncated, "truncated");
  check_refused(with_payload({}), ErrorCode::kTruncated, "truncated");
  std::vector<std::uint8_t> longer = payload;
  longer.push_back(0);
  check_refused(with_payload(longer), ErrorCode::kInvalidGraph, "trailing");
  std::vector<std::uint8_t> padded = payload;
  padded[23] = 0x10;  // row 47 of column 0
  check_refused(with_payload(padded), ErrorCode::kInvalidGraph, "weight padding");
  padded = payload;
  padded.back() |= 0x10;  // behind group 2 of column 1
  check_refused(with_payload(padded), ErrorCode::kInvalidGraph, "zero-point padding");

  const auto changed = [&](auto edit) {
    EncodedValue other = value;
    edit(other);
    return check_matmul_nbits(other);
  };
  const ErrorCode graph = ErrorCode::kInvalidGraph;
  check_refused(changed([](EncodedValue& v) { v.logical_type->dims = {36, 3}; }), graph, "shape");
  check_refused(changed([](EncodedValue& v) { v.logical_type->dims = {32, 2}; }), graph, "shape");
  check_refused(changed([](EncodedValue& v) { v.logical_type->dims = {70}; }), graph, "shape");
  check_refused(changed([](EncodedValue& v) { v.logical_type->type = DataType::kDouble; }), graph, "type");
  check_refused(changed([](EncodedValue& v) { v.logical_type.reset(); }), graph, "shape");
  check_refused(changed([](EncodedValue& v) { v.payload.reset(); }), ErrorCode::kInvalidState, "loaded");
  check_refused(changed([](EncodedValue& v) { v.data_location = 1; }), ErrorCode::kInvalidState, "loaded");
  check_refused(changed([](EncodedValue& v) { v.parameter_ref = "set"; }), ErrorCode::kInvalidState,
                "materialize");
  check_refused(changed([](EncodedValue& v) { std::get<StructType>(v.layout).doc_string = ""; }), graph,
                "schema");
  check_refused(changed([](EncodedValue& v) {
                  Structure& fields = std::get<Structure>(std::get<StructType>(v.layout).kind);
                  std::get<StructConstant>(fields.fields[0].content).int64_data[1] = 32;
                }),
                graph, "schema");
  check_refused(decode_matmul_nbits(value, DataType::kInt8), ErrorCode::kUnsupportedType, "FLOAT");
  // More rows in the last group than before is fine as far as bytes go: rows 35 to 47 are 0 there.
  CHECK(changed([](EncodedValue& v) { v.logical_type->dims = {48, 2}; }).ok());
}

TEST_CASE("A MatMulNBits value may be too large for float16", "[codec]") {
  CodecPlan plan = plan_of(kInt8, 1, 1, 16);
  plan.runs[0].scales = {1000.0};
  const EncodedValue value = encoded_matrix(Matrix(DataType::kFloat, 1, 1, {100000.0}), plan);
  check_refused(decode_matmul_nbits(value, DataType::kFloat16), ErrorCode::kNonFinite, "overflow");
  CHECK(decode_matmul_nbits(value, DataType::kDouble).ok());
}

}  // namespace
}  // namespace halftone::test
