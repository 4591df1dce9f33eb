// float8e4m3fn exhaustively: every code, every midpoint of two values with its neighbours, and a walk through
// all of float32, on every instruction set.
#include <catch2/catch_all.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "halftone/quant_grid.h"
#include "numeric/kernel_cases.h"
#include "numeric/reference_small_floats.h"

namespace halftone {
namespace {

float value_of(std::size_t code) { return small_float_values(SmallFloat::kFloat8E4M3Fn)[code]; }

std::uint8_t code_by_definition(float x, float scale) {
  return numeric::small_float_quotient_code(SmallFloat::kFloat8E4M3Fn, x, scale);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::uint8_t> codes_of(const std::vector<float>& x, float scale) {
  const std::vector<float> scales = {scale};
  std::vector<std::uint8_t> codes(x.size());
  const QuantGrid grid = {NumberFormat::kFloat8E4M3Fn, GridLayout::per_tensor(x.size()), scales, {}};
  REQUIRE(quantize(FloatView(x), grid, codes).ok());
  return codes;
}

std::vector<float> values_of(const std::vector<std::uint8_t>& codes, float scale) {
  const std::vector<float> scales = {scale};
  std::vector<float> y(codes.size());
  const QuantGrid grid = {NumberFormat::kFloat8E4M3Fn, GridLayout::per_tensor(codes.size()), scales, {}};
  REQUIRE(dequantize(codes, grid, MutableFloatView(y)).ok());
  return y;
}

std::vector<float> simulated(const std::vector<float>& x, float scale) {
  const std::vector<float> scales = {scale};
  std::vector<float> y(x.size());
  const QuantGrid grid = {NumberFormat::kFloat8E4M3Fn, GridLayout::per_tensor(x.size()), scales, {}};
  REQUIRE(fake_quantize(FloatView(x), grid, MutableFloatView(y)).ok());
  return y;
}

std::vector<std::uint8_t> all_codes() {
  std::vector<std::uint8_t> codes;
  for (unsigned code = 0; code < 256; ++code) codes.push_back(static_cast<std::uint8_t>(code));
  return codes;
}

TEST_CASE("The values of float8 codes, by hand", "[numeric][float8]") {
  const std::pair<int, float> known[] = {
      {0x00, 0.0F},   {0x01, 0.001953125F}, {0x07, 0.013671875F},  {0x08, 0.015625F}, {0x09, 0.017578125F},
      {0x30, 0.5F},   {0x38, 1.0F},         {0x39, 1.125F},        {0x3F, 1.875F},    {0x40, 2.0F},
      {0x7D, 416.0F}, {0x7E, 448.0F},       {0x81, -0.001953125F}, {0xB8, -1.0F},     {0xFE, -448.0F}};
  for (const auto& [code, value] : known) {
    INFO("code " << code);
    CHECK(value_of(static_cast<std::size_t>(code)) == value);
    CHECK(values_of({static_cast<std::uint8_t>(code)}, 1.0F)[0] == value);
  }
  CHECK(std::signbit(values_of({0x80}, 1.0F)[0]));
}

TEST_CASE("Every float8 code comes back from its value", "[numeric][float8]") {
  kernel_cases::for_each_instruction_set([] {
    const std::vector<std::uint8_t> codes = all_codes();
    for (const float scale :
         {1.0F, 0.1F, 3e-39F, 7.5e35F}) {  // denormal values, and the largest without overflow
      const std::vector<float> values = values_of(codes, scale);
      CHECK(codes_of(values, scale) == codes);
      const std::vector<float> again = simulated(values, scale);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        INFO("code " << i << " scale " << scale);
        const float exact = value_of(codes[i]) * scale;
        CHECK(std::isnan(values[i]) == ((codes[i] & 0x7F) == 0x7F));
        CHECK(std::signbit(values[i]) == (codes[i] >= 0x80));
        if (!std::isnan(exact)) CHECK(values[i] == exact);
        CHECK(std::bit_cast<std::uint32_t>(again[i]) == std::bit_cast<std::uint32_t>(values[i]));
      }
    }
  });
}

// The values in order, with what would follow 448 as the last.
std::vector<float> ladder() {
  std::vector<float> values;
  for (unsigned code = 0; code < 0x7F; ++code) {
    values.push_back(value_of(static_cast<std::size_t>(code)));
  }
  values.push_back(480.0F);
  return values;
}

TEST_CASE("Midpoints of float8 values go to the even code, their neighbours to the nearer one",
          "[numeric][float8]") {
  kernel_cases::for_each_instruction_set([] {
    const std::vector<float> values = ladder();
    for (const float scale : {1.0F, 0.0078125F, 1024.0F}) {  // powers of two: the quotient is exact
      for (std::size_t code = 0; code + 1 < values.size(); ++code) {
        const float midpoint = (values[code] + values[code + 1]) / 2.0F;
        const std::vector<float> x = {std::nextafter(midpoint, 0.0F) * scale, midpoint * scale,
                                      std::nextafter(midpoint, kInfinity) * scale};
        const std::vector<float> negative = {-x[0], -x[1], -x[2]};
        const auto low = static_cast<std::uint8_t>(code);
        const auto high = static_cast<std::uint8_t>(code == 0x7E ? 0x7E : code + 1);
        const std::uint8_t even = code % 2 == 0 ? low : high;
        INFO("between " << values[code] << " and " << values[code + 1] << ", scale " << scale);
        REQUIRE(codes_of(x, scale) == std::vector<std::uint8_t>{low, even, high});
        const auto minus = [](std::uint8_t c) { return static_cast<std::uint8_t>(c | 0x80U); };
        REQUIRE(codes_of(negative, scale) == std::vector<std::uint8_t>{minus(low), minus(even), minus(high)});
      }
    }
  });
}

TEST_CASE("float8 saturates, keeps the sign of zero and keeps NaN", "[numeric][float8]") {
  kernel_cases::for_each_instruction_set([] {
    const float max = std::numeric_limits<float>::max();
    const float denormal = std::numeric_limits<float>::denorm_min();
    const std::vector<float> x = {
        0.0F,      -0.0F,      denormal, -denormal, 1e10F,
        -1e10F,    1e-10F,     -1e-10F,  max,       -max,
        kInfinity, -kInfinity, kNan,     -kNan,     std::bit_cast<float>(0x7F800001U)};
    CHECK(codes_of(x, 1.0F) == std::vector<std::uint8_t>{0x00, 0x80, 0x00, 0x80, 0x7E, 0xFE, 0x00, 0x80, 0x7E,
                                                         0xFE, 0x7E, 0xFE, 0x7F, 0xFF, 0x7F});
    // A quotient beyond float32 is an infinity, which saturates; a tiny scale doesn't lose a tiny value.
    CHECK(codes_of({1e38F, -1e38F, denormal}, denormal) == std::vector<std::uint8_t>{0x7E, 0xFE, 0x38});
    const std::vector<float> y = simulated({-0.0F, kNan, -kInfinity}, 0.5F);
    CHECK(std::signbit(y[0]));
    CHECK(std::isnan(y[1]));
    CHECK(y[2] == -224.0F);
  });
}

TEST_CASE("float8 rounds the float32 quotient, not a product with the reciprocal", "[numeric][float8]") {
  // Values whose quotient is a midpoint and whose product with the rounded reciprocal is not: at a scale of
  // 0.1 (above a tenth) or 0.3.
  kernel_cases::for_each_instruction_set([] {
    std::size_t different = 0;
    for (const float scale : {0.1F, 0.3F, 0.7F}) {
      const std::vector<float> values = ladder();
      for (std::size_t code = 0; code + 1 < values.size(); ++code) {
        const float midpoint = (values[code] + values[code + 1]) / 2.0F;
        const float x = midpoint * scale;
        if (x / scale != midpoint) continue;
        const auto even = static_cast<std::uint8_t>(code % 2 == 0 || code == 0x7E ? code : code + 1);
        REQUIRE(codes_of({x}, scale)[0] == even);
        if (code_by_definition(x * (1.0F / scale), 1.0F) != even) ++different;
      }
    }
    CHECK(different > 0);
  });
}

TEST_CASE("float8 codes equal the definition all over float32", "[numeric][float8]") {
  kernel_cases::for_each_instruction_set([] {
    std::vector<float> x;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 65521) {
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    for (const float scale : {1.0F, 0.0123F}) {
      const std::vector<std::uint8_t> codes = codes_of(x, scale);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        wrong += codes[i] != code_by_definition(x[i], scale) ? 1U : 0U;
      CHECK(wrong == 0);
    }
  });
}

}  // namespace
}  // namespace halftone
