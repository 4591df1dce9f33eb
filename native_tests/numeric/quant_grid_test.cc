// The public functions: layouts of every kind against a plain loop over the formula, and what is refused.
#include <catch2/catch_all.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "halftone/quant_grid.h"
#include "numeric/kernel_cases.h"

namespace halftone {
namespace {

using kernel_cases::Grain;

// The nearest of all codes, of two equally near ones the even.
std::int32_t small_float_code_of(float x, float scale, SmallFloat type) {
  const SmallFloatInfo& info = small_float_info(type);
  const std::int32_t sign_code = 1 << (info.bits - 1);
  const std::int32_t sign = std::signbit(x) ? sign_code : 0;
  if (std::isnan(x)) return info.nan && info.has_negative_zero ? sign | *info.nan : sign_code;
  const double magnitude = std::min<double>(std::fabs(x / scale), 1e6);
  std::int32_t best = 0;
  for (std::int32_t code = 1; code <= info.largest; ++code) {
    const double gain =
        std::fabs(magnitude - static_cast<double>(small_float_values(type)[static_cast<std::size_t>(best)])) -
        std::fabs(magnitude - static_cast<double>(small_float_values(type)[static_cast<std::size_t>(code)]));
    if (gain > 0.0 || (gain == 0.0 && code % 2 == 0)) best = code;
  }
  const bool unsigned_zero =
      !info.has_negative_zero || (type == SmallFloat::kFloat4E2M1 && x / scale == 0.0F);
  return best == 0 && unsigned_zero ? 0 : sign | best;
}

float small_float_value_of(std::int32_t code, float scale, SmallFloat type) {
  const float value = small_float_values(type)[static_cast<std::size_t>(code)];
  return std::isnan(value) ? value : value * scale;
}

// The formula of quant_grid.h, written once more.
std::int32_t code_of(float x, Grain grain, const NumberFormatInfo& info) {
  if (const auto type = small_float_of(info.format)) return small_float_code_of(x, grain.scale, *type);
  const float quotient = x / grain.scale;
  if (std::isnan(quotient)) return info.lowest;
  const double code = std::nearbyint(static_cast<double>(quotient)) + grain.zero_point;
  return static_cast<std::int32_t>(
      std::clamp(code, static_cast<double>(info.lowest), static_cast<double>(info.highest)));
}

float value_of(std::int32_t code, Grain grain, const NumberFormatInfo& info) {
  if (const auto type = small_float_of(info.format)) return small_float_value_of(code, grain.scale, *type);
  return static_cast<float>(code - grain.zero_point) * grain.scale;
}

std::int32_t stored_code(const std::vector<std::uint8_t>& bytes, std::size_t i,
                         const NumberFormatInfo& info) {
  if (info.bits == 16) {
    const auto code = static_cast<std::uint16_t>(bytes[2 * i] | (bytes[2 * i + 1] << 8));
    return info.lowest < 0 ? std::bit_cast<std::int16_t>(code) : code;
  }
  if (info.bits == 8) return info.lowest < 0 ? static_cast<std::int8_t>(bytes[i]) : bytes[i];
  const std::size_t bit = i * static_cast<std::size_t>(info.bits);
  const int codes = 1 << info.bits;
  const int code = (bytes[bit / 8] >> (bit % 8)) & (codes - 1);
  return info.lowest < 0 && code >= codes / 2 ? code - codes : code;
}

struct Shape {
  const char* what;
  std::vector<std::int64_t> dims;
  std::optional<std::int64_t> axis;
  std::int64_t block_size;
};

const Shape kShapes[] = {
    {"scalar", {}, std::nullopt, 0},
    {"per tensor", {3, 5, 7}, std::nullopt, 0},
    {"conv weight", {8, 3, 5, 5}, 0, 0},
    {"long rows", {3, 2000}, 0, 0},
    {"rows longer than the 4-bit buffer", {3, 9001}, 0, 0},
    {"matmul weight, few columns", {333, 3}, 1, 0},
    {"matmul weight, many columns", {7, 1031}, -1, 0},
    {"matmul weight, more columns than the 4-bit buffer", {2, 5003}, 1, 0},
    {"transposed conv weight", {6, 5, 3, 3}, 1, 0},
    {"middle axis, long rows", {4, 3, 70}, 1, 0},
    {"middle axis, odd rows", {5, 7, 33}, 1, 0},
    {"one channel", {1, 77}, 0, 0},
    {"vector", {129}, 0, 0},
    {"depthwise weight", {33, 1, 3, 3}, 0, 0},
    {"empty", {4, 0, 3}, 1, 0},
    {"blocks of a row", {4, 64}, 1, 16},
    {"ragged blocks of a row", {3, 70}, 1, 32},
    {"blocks of a column", {64, 5}, 0, 16},
    {"ragged blocks of a column", {67, 9}, 0, 32},
    {"blocks in the middle", {3, 10, 11}, 1, 4},
    {"a block longer than the axis", {3, 10}, 1, 1000},
};

std::size_t scale_index(const GridLayout& layout, std::size_t i) {
  const std::size_t channel = i / layout.inner % layout.channels;
  if (layout.block_size == 0) return channel;
  const std::size_t blocks = (layout.channels + layout.block_size - 1) / layout.block_size;
  return (i / layout.inner / layout.channels * blocks + channel / layout.block_size) * layout.inner +
         i % layout.inner;
}

TEST_CASE("Every layout and format equals the formula", "[numeric]") {
  std::mt19937 random(Catch::getSeed());
  for (const Shape& shape : kShapes) {
    for (const NumberFormat format : kernel_cases::quantize_formats()) {
      const NumberFormatInfo& info = number_format_info(format);
      INFO(shape.what << " " << info.name << " seed " << Catch::getSeed());
      const auto count = static_cast<std::size_t>(element_count(shape.dims).value());
      GridLayout layout = GridLayout::per_tensor(count);
      if (shape.axis) {
        layout = (shape.block_size == 0 ? GridLayout::per_axis(shape.dims, *shape.axis)
                                        : GridLayout::blocked(shape.dims, *shape.axis, shape.block_size))
                     .value();
      }
      std::vector<Grain> grains(layout.scale_count());
      std::vector<float> scales;
      std::vector<std::int32_t> zero_points;
      for (Grain& grain : grains) {
        grain = kernel_cases::random_grain(format, random);
        scales.push_back(grain.scale);
        zero_points.push_back(grain.zero_point);
      }
      std::vector<float> x(count);
      for (std::size_t i = 0; i < count; ++i) {
        x[i] = kernel_cases::hard_values(format, grains[scale_index(layout, i)], 1, random)[0];
      }
      const Result<QuantGrid> grid =
          quant_grid(format, shape.dims, shape.axis, scales, zero_points, shape.block_size);
      REQUIRE(grid.ok());
      std::vector<std::uint8_t> codes(static_cast<std::size_t>(code_byte_count(format, count).value()));
      REQUIRE(quantize(FloatView(x), grid.value(), codes).ok());
      std::vector<float> dequantized(count);
      REQUIRE(dequantize(codes, grid.value(), MutableFloatView(dequantized)).ok());
      std::vector<float> fake(count);
      REQUIRE(fake_quantize(FloatView(x), grid.value(), MutableFloatView(fake)).ok());
      for (std::size_t i = 0; i < count; ++i) {
        const Grain grain = grains[scale_index(layout, i)];
        const std::int32_t code = code_of(x[i], grain, info);
        REQUIRE(stored_code(codes, i, info) == code);
        const float value = value_of(code, grain, info);
        REQUIRE(std::bit_cast<std::uint32_t>(dequantized[i]) == std::bit_cast<std::uint32_t>(value));
        REQUIRE(std::bit_cast<std::uint32_t>(fake[i]) == std::bit_cast<std::uint32_t>(value));
      }
      const std::size_t used = count * static_cast<std::size_t>(info.bits) % 8;
      if (used != 0) REQUIRE(codes.back() >> used == 0);
    }
  }
}

TEST_CASE("Without zero points all are 0", "[numeric]") {
  const std::vector<float> x = {-1.0F, 0.5F, 1.5F, 300.0F};
  const std::vector<float> scale = {1.0F};
  std::vector<std::uint8_t> codes(4);
  REQUIRE(quantize(FloatView(x), {NumberFormat::kUint8, GridLayout::per_tensor(4), scale, {}}, codes).ok());
  CHECK(codes == std::vector<std::uint8_t>{0, 0, 2, 255});
}

TEST_CASE("Values at odd byte addresses", "[numeric]") {
  std::vector<std::uint8_t> memory(1 + 3 * sizeof(float));
  const float values[] = {1.0F, -2.0F, 3.0F};
  std::memcpy(memory.data() + 1, values, sizeof(values));
  const Result<FloatView> view = FloatView::from_bytes(std::span<const std::uint8_t>(memory).subspan(1));
  REQUIRE(view.ok());
  CHECK(view.value()[1] == -2.0F);
  const std::vector<float> scale = {1.0F};
  std::vector<std::uint8_t> codes(3);
  REQUIRE(quantize(view.value(), {NumberFormat::kInt8, GridLayout::per_tensor(3), scale, {}}, codes).ok());
  CHECK(codes == std::vector<std::uint8_t>{1, 0xFE, 3});
  CHECK(FloatView::from_bytes(memory).error().code == ErrorCode::kShapeMismatch);  // 13 bytes
}

TEST_CASE("int32 codes are dequantized, also at the ends of int32", "[numeric]") {
  const std::vector<std::int32_t> values = {INT32_MIN, -1, 0, INT32_MAX};
  const auto* raw = reinterpret_cast<const std::uint8_t*>(values.data());
  const std::vector<float> scales = {0.5F};
  const std::vector<std::int32_t> zero_points = {1};
  std::vector<float> y(4);
  const QuantGrid grid = {NumberFormat::kInt32, GridLayout::per_tensor(4), scales, zero_points};
  REQUIRE(dequantize({raw, 16}, grid, MutableFloatView(y)).ok());
  CHECK(y == std::vector<float>{-1073741824.0F, -1.0F, -0.5F, 1073741824.0F});
}

ErrorCode refusal(const QuantGrid& grid, std::size_t values, std::size_t bytes) {
  const std::vector<float> x(values, 1.0F);
  std::vector<std::uint8_t> codes(bytes, 77);
  const Result<void> result = quantize(FloatView(x), grid, codes);
  REQUIRE_FALSE(result.ok());
  CHECK_FALSE(result.error().message.empty());
  CHECK(codes == std::vector<std::uint8_t>(bytes, 77));  // nothing was written
  return result.error().code;
}

TEST_CASE("Wrong sizes, scales and zero points are errors", "[numeric]") {
  const std::vector<float> one = {1.0F};
  const std::vector<float> two = {1.0F, 1.0F};
  const std::vector<std::int32_t> zero = {0};
  const GridLayout four = GridLayout::per_tensor(4);
  CHECK(refusal({NumberFormat::kInt8, four, one, {}}, 3, 3) == ErrorCode::kShapeMismatch);
  CHECK(refusal({NumberFormat::kInt8, four, one, {}}, 4, 5) == ErrorCode::kShapeMismatch);
  CHECK(refusal({NumberFormat::kInt16, four, one, {}}, 4, 4) == ErrorCode::kShapeMismatch);
  CHECK(refusal({NumberFormat::kInt4, four, one, {}}, 4, 4) == ErrorCode::kShapeMismatch);
  CHECK(refusal({NumberFormat::kInt8, four, two, {}}, 4, 4) == ErrorCode::kShapeMismatch);
  CHECK(refusal({NumberFormat::kInt8, {1, 2, 2, 0}, two, zero}, 4, 4) == ErrorCode::kShapeMismatch);
  CHECK(refusal({NumberFormat::kInt32, four, one, {}}, 4, 16) == ErrorCode::kUnsupportedType);
  CHECK(refusal({NumberFormat::kFloat32, four, one, {}}, 4, 16) == ErrorCode::kUnsupportedType);
  const std::size_t huge = std::size_t{1} << (sizeof(std::size_t) * 4);
  CHECK(refusal({NumberFormat::kInt8, {huge, huge, 1, 0}, one, {}}, 0, 0) == ErrorCode::kShapeMismatch);
  for (const float bad : {0.0F, -1.0F, INFINITY, NAN}) {
    const std::vector<float> scale = {bad};
    CHECK(refusal({NumberFormat::kInt8, four, scale, {}}, 4, 4) == ErrorCode::kInvalidPolicy);
  }
  for (const std::int32_t bad : {-129, 128}) {
    const std::vector<std::int32_t> zero_point = {bad};
    CHECK(refusal({NumberFormat::kInt8, four, one, zero_point}, 4, 4) == ErrorCode::kInvalidPolicy);
  }
  const std::vector<std::int32_t> float8_one = {0x38};
  CHECK(refusal({NumberFormat::kFloat8E4M3Fn, four, one, float8_one}, 4, 4) == ErrorCode::kInvalidPolicy);
}

TEST_CASE("fake_quantize and dequantize check the size of their output", "[numeric]") {
  const std::vector<float> x(4, 1.0F);
  const std::vector<float> one = {1.0F};
  std::vector<float> y(3);
  const QuantGrid grid = {NumberFormat::kInt8, GridLayout::per_tensor(4), one, {}};
  CHECK(fake_quantize(FloatView(x), grid, MutableFloatView(y)).error().code == ErrorCode::kShapeMismatch);
  const std::vector<std::uint8_t> codes(4);
  CHECK(dequantize(codes, grid, MutableFloatView(y)).error().code == ErrorCode::kShapeMismatch);
  std::vector<std::uint8_t> odd(7);
  CHECK(MutableFloatView::from_bytes(odd).error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("Layouts", "[numeric]") {
  const std::vector<std::int64_t> dims = {2, 3, 4};
  const GridLayout middle = GridLayout::per_axis(dims, -2).value();
  CHECK(middle.outer == 2);
  CHECK(middle.channels == 3);
  CHECK(middle.inner == 4);
  CHECK(middle.scale_count() == 3);
  CHECK(GridLayout::blocked(dims, 1, 2).value().scale_count() == 2 * 2 * 4);
  CHECK(GridLayout::per_axis(dims, 3).error().code == ErrorCode::kShapeMismatch);
  CHECK(GridLayout::per_axis(dims, -4).error().code == ErrorCode::kShapeMismatch);
  CHECK(GridLayout::per_axis({}, 0).error().code == ErrorCode::kShapeMismatch);
  CHECK(GridLayout::blocked(dims, 1, 0).error().code == ErrorCode::kInvalidPolicy);
  const std::vector<std::int64_t> negative = {2, -3};
  CHECK(GridLayout::per_axis(negative, 0).error().code == ErrorCode::kShapeMismatch);
  const std::vector<std::int64_t> none = {1 << 20, 0, 1 << 20};
  CHECK(GridLayout::per_axis(none, 0).value().element_count() == 0);
  const std::vector<std::int64_t> wild = {std::int64_t{1} << 62, 0};
  CHECK(GridLayout::per_axis(wild, 0).error().code == ErrorCode::kShapeMismatch);
  const std::vector<std::int64_t> too_many = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  CHECK(GridLayout::per_axis(too_many, 0).error().code == ErrorCode::kShapeMismatch);
}

}  // namespace
}  // namespace halftone
