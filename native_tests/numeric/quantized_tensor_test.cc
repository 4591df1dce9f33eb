#include <catch2/catch_all.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "halftone/code_bytes.h"
#include "halftone/quantized_tensor.h"
#include "numeric/kernel_cases.h"

namespace halftone {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr Symmetry kSymmetric = Symmetry::kSymmetric;

QuantizedTensor made(const std::vector<float>& x, const Dims& dims, const TensorGrain& grain) {
  const Result<QuantizedTensor> tensor = quantize_tensor(FloatView(x), dims, grain);
  REQUIRE(tensor.ok());
  return tensor.value();
}

std::vector<float> values_of(const QuantizedTensor& tensor, std::size_t count) {
  std::vector<float> y(count);
  REQUIRE(dequantize_tensor(tensor, MutableFloatView(y)).ok());
  return y;
}

TEST_CASE("ONNX's int4 in blocks of two: codes, bytes and values", "[numeric][quantized_tensor]") {
  const std::vector<float> x = {-8, -4, 0, 7, 1, 2, 3, 4};
  QuantizedTensor tensor;
  tensor.format = NumberFormat::kInt4;
  tensor.dims = {2, 4};
  tensor.axis = 1;
  tensor.block_size = 2;
  tensor.scales = {1.0F, 0.5F, 0.25F, 1.0F};
  tensor.codes.resize(4);
  REQUIRE(quantize(FloatView(x), tensor.grid().value(), tensor.codes).ok());
  CHECK(tensor.codes == std::vector<std::uint8_t>{0xC8, 0x70, 0x74, 0x43});
  CHECK(tensor.codes == code_bytes(NumberFormat::kInt4, std::vector<std::int32_t>{-8, -4, 0, 7, 4, 7, 3, 4}));
  CHECK(values_of(tensor, 8) == std::vector<float>{-8, -4, 0, 3.5F, 1, 1.75F, 3, 4});
  CHECK(tensor.opset_needed() == 21);
}

TEST_CASE("A tensor is quantized with a scale for each block", "[numeric][quantized_tensor]") {
  const std::vector<float> x = {0.5F, -1.5F, 3.0F, 0.0F, 0.0F, 7.5F};
  const QuantizedTensor tensor = made(x, {2, 3}, {NumberFormat::kInt4, -1, 2, Symmetry::kSymmetric});
  CHECK(tensor.axis == 1);
  CHECK(tensor.scale_dims == Dims{2, 2});
  CHECK(tensor.scales == std::vector<float>{0.2F, 0.4F, 1.0F, 1.0F});  // 2 m / 15; a block of zeros: 1
  CHECK(tensor.zero_points.empty());
  // 2.5 and -7.5 are ties: to even, and the latter ends at -8; 7.5 ends at 7.
  CHECK(tensor.codes == code_bytes(NumberFormat::kInt4, std::vector<std::int32_t>{2, -8, 7, 0, 0, 7}));
  CHECK(tensor.byte_count() == 3 + 16);
  const QuantizedTensor columns = made(x, {2, 3}, {NumberFormat::kUint2, 0, 2, Symmetry::kAsymmetric});
  CHECK(columns.scale_dims == Dims{1, 3});
  CHECK(columns.opset_needed() == 25);
  CHECK(columns.scales == std::vector<float>{0.5F / 3, 0.5F, 2.5F});
  CHECK(columns.zero_points == std::vector<std::int32_t>{0, 3, 0});
  CHECK(columns.codes == code_bytes(NumberFormat::kUint2, std::vector<std::int32_t>{3, 0, 1, 0, 3, 3}));
}

TEST_CASE("Without blocks scales are one, or one for each index of an axis", "[numeric][quantized_tensor]") {
  const std::vector<float> x = {1, 2, -3, 4, 5, 448};
  const QuantizedTensor one = made(x, {2, 3}, {NumberFormat::kFloat8E4M3Fn, std::nullopt, 0, kSymmetric});
  CHECK(one.scale_dims.empty());
  CHECK(one.scales == std::vector<float>{1.0F});
  CHECK(one.opset_needed() == 19);
  CHECK(values_of(one, 6) == x);
  const QuantizedTensor columns = made(x, {2, 3}, {NumberFormat::kUint8, 1, 0, Symmetry::kAsymmetric});
  CHECK(columns.scale_dims == Dims{3});
  CHECK(columns.opset_needed() == 13);
  CHECK(columns.scales == std::vector<float>{4.0F / 255, 5.0F / 255, 451.0F / 255});
  CHECK(columns.zero_points == std::vector<std::int32_t>{0, 0, 2});
  const QuantizedTensor fp4 = made(x, {6}, {NumberFormat::kFloat4E2M1, 0, 3, kSymmetric});
  CHECK(fp4.opset_needed() == 23);
  CHECK(fp4.scales == std::vector<float>{0.5F, 448.0F / 6});
  CHECK(fp4.codes == std::vector<std::uint8_t>{0x64, 0x0F, 0x70});
  CHECK(values_of(fp4, 6) == std::vector<float>{1, 2, -3, 0, 0, 448.0F / 6 * 6});
}

TEST_CASE("Empty tensors have no codes", "[numeric][quantized_tensor]") {
  const QuantizedTensor none = made({}, {0, 4}, {NumberFormat::kInt4, 1, 2, kSymmetric});
  CHECK(none.codes.empty());
  CHECK(none.scales.empty());
  CHECK(none.scale_dims == Dims{0, 2});
  CHECK(values_of(none, 0).empty());
  CHECK(made({}, {0}, {NumberFormat::kInt8, std::nullopt, 0, kSymmetric}).scales == std::vector<float>{1.0F});
}

TEST_CASE("What can't be quantized is refused with a reason", "[numeric][quantized_tensor]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {1, 2, 3, nan};
  const auto refusal = [&](const Dims& dims, const TensorGrain& grain) {
    const Result<QuantizedTensor> result = quantize_tensor(FloatView(x), dims, grain);
    REQUIRE_FALSE(result.ok());
    return result.error();
  };
  CHECK(refusal({4}, {NumberFormat::kInt32, std::nullopt, 0, kSymmetric}).code ==
        ErrorCode::kUnsupportedType);
  CHECK(refusal({4}, {NumberFormat::kFloat32, std::nullopt, 0, kSymmetric}).code ==
        ErrorCode::kUnsupportedType);
  CHECK(refusal({5}, {NumberFormat::kInt8, std::nullopt, 0, kSymmetric}).code == ErrorCode::kShapeMismatch);
  CHECK(refusal({-4}, {NumberFormat::kInt8, std::nullopt, 0, kSymmetric}).code == ErrorCode::kShapeMismatch);
  CHECK(refusal({4}, {NumberFormat::kInt8, 1, 0, kSymmetric}).code == ErrorCode::kShapeMismatch);
  CHECK(refusal({4}, {NumberFormat::kInt8, 0, -1, kSymmetric}).code == ErrorCode::kInvalidPolicy);
  CHECK(refusal({4}, {NumberFormat::kInt8, std::nullopt, 2, kSymmetric}).code == ErrorCode::kInvalidPolicy);
  const Error non_finite = refusal({4}, {NumberFormat::kInt8, 0, 2, kSymmetric});
  CHECK(non_finite.code == ErrorCode::kNonFinite);
  CHECK(non_finite.where == "scale 1");
  const std::vector<float> fine = {1, 2};
  CHECK(quantize_tensor(FloatView(fine), Dims{2},
                        {NumberFormat::kFloat8E5M2, std::nullopt, 0, Symmetry::kAsymmetric})
            .error()
            .code == ErrorCode::kInvalidPolicy);
  QuantizedTensor broken = made(fine, {2}, {NumberFormat::kInt8, 0, 0, kSymmetric});
  std::vector<float> y(2);
  broken.codes.pop_back();
  CHECK(dequantize_tensor(broken, MutableFloatView(y)).error().code == ErrorCode::kShapeMismatch);
  broken.dims = {std::numeric_limits<std::int64_t>::max(), 2};
  CHECK(dequantize_tensor(broken, MutableFloatView(y)).error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("No value is farther away than a step, in any format and granularity",
          "[numeric][quantized_tensor]") {
  std::mt19937 random(Catch::getSeed());
  const Dims dims = {6, 70, 5};
  const std::vector<float> x = kernel_cases::plain_values(6 * 70 * 5, random);
  for (const NumberFormat format : kernel_cases::integer_formats()) {
    for (const Symmetry symmetry : {Symmetry::kSymmetric, Symmetry::kAsymmetric}) {
      for (const std::int64_t block : {0, 1, 16, 70, 1000}) {
        for (const std::int64_t axis : {0, 1, 2}) {
          INFO(number_format_info(format).name << ", axis " << axis << ", block " << block << ", seed "
                                               << Catch::getSeed());
          const QuantizedTensor tensor = made(x, dims, {format, axis, block, symmetry});
          const std::vector<float> y = values_of(tensor, x.size());
          const float widest = *std::max_element(tensor.scales.begin(), tensor.scales.end());
          // Formats below 8 bits spread a symmetric range over one code more than it has, and lose up to half
          // a step more at its ends; asymmetric zero points are rounded.
          float worst = 0.0F;
          for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::fabs(x[i] - y[i]));
          CHECK(worst <= widest * 1.01F);
        }
      }
    }
  }
}

}  // namespace
}  // namespace halftone
