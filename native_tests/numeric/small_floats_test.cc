// The small floats against their definition: nearest by a search through all values, and the tables of ONNX
// and OCP written out by hand.
#include <catch2/catch_all.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "halftone/small_floats.h"

namespace halftone {
namespace {

constexpr SmallFloat kTypes[] = {SmallFloat::kFloat8E4M3Fn, SmallFloat::kFloat8E4M3Fnuz,
                                 SmallFloat::kFloat8E5M2,   SmallFloat::kFloat8E5M2Fnuz,
                                 SmallFloat::kFloat6E3M2,   SmallFloat::kFloat6E2M3,
                                 SmallFloat::kFloat4E2M1};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool same(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

unsigned sign_of(SmallFloat type) { return 1U << static_cast<unsigned>(small_float_info(type).bits - 1); }

// The nearest code by looking at all finite values; of two equally near ones the even code. Values are exact
// in double, and so are the differences that decide.
std::uint8_t nearest(SmallFloat type, double x) {
  const SmallFloatInfo& info = small_float_info(type);
  unsigned best = std::fabs(x) > 1e6 ? info.largest : 0;
  double best_distance = std::fabs(x) > 1e6 ? -1.0 : std::numeric_limits<double>::infinity();
  for (unsigned code = 0; code <= info.largest; ++code) {
    const double distance = std::fabs(std::fabs(x) - static_cast<double>(small_float_values(type)[code]));
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
      best = code;
      best_distance = distance;
    }
  }
  const bool signs = std::signbit(x) && (best != 0 || info.has_negative_zero);
  return static_cast<std::uint8_t>(best | (signs ? sign_of(type) : 0U));
}

TEST_CASE("Values of small floats, by hand", "[numeric][small_floats]") {
  const auto value = [](SmallFloat type, unsigned code) { return small_float_values(type)[code]; };
  const std::vector<float> e2m1 = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                   -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
  REQUIRE(small_float_values(SmallFloat::kFloat4E2M1).size() == 16);
  for (unsigned code = 0; code < 16; ++code) CHECK(same(value(SmallFloat::kFloat4E2M1, code), e2m1[code]));
  CHECK(small_float_values(SmallFloat::kFloat6E3M2).size() == 64);
  CHECK(value(SmallFloat::kFloat6E3M2, 1) == 0.0625F);
  CHECK(value(SmallFloat::kFloat6E3M2, 4) == 0.25F);
  CHECK(value(SmallFloat::kFloat6E3M2, 31) == 28.0F);
  CHECK(value(SmallFloat::kFloat6E2M3, 1) == 0.125F);
  CHECK(value(SmallFloat::kFloat6E2M3, 8) == 1.0F);
  CHECK(value(SmallFloat::kFloat6E2M3, 31) == 7.5F);
  CHECK(value(SmallFloat::kFloat6E2M3, 63) == -7.5F);
  CHECK(value(SmallFloat::kFloat8E4M3Fn, 0x38) == 1.0F);
  CHECK(value(SmallFloat::kFloat8E4M3Fn, 0x01) == 0x1p-9F);
  CHECK(value(SmallFloat::kFloat8E4M3Fn, 0x7E) == 448.0F);
  CHECK(value(SmallFloat::kFloat8E4M3Fnuz, 0x40) == 1.0F);
  CHECK(value(SmallFloat::kFloat8E4M3Fnuz, 0x01) == 0x1p-10F);
  CHECK(value(SmallFloat::kFloat8E4M3Fnuz, 0x7F) == 240.0F);
  CHECK(value(SmallFloat::kFloat8E5M2, 0x3C) == 1.0F);
  CHECK(value(SmallFloat::kFloat8E5M2, 0x01) == 0x1p-16F);
  CHECK(value(SmallFloat::kFloat8E5M2, 0x7B) == 57344.0F);
  CHECK(value(SmallFloat::kFloat8E5M2, 0x7C) == kInfinity);
  CHECK(value(SmallFloat::kFloat8E5M2, 0xFC) == -kInfinity);
  CHECK(value(SmallFloat::kFloat8E5M2Fnuz, 0x40) == 1.0F);
  CHECK(value(SmallFloat::kFloat8E5M2Fnuz, 0x01) == 0x1p-17F);
  CHECK(value(SmallFloat::kFloat8E5M2Fnuz, 0x7F) == 57344.0F);
  for (const unsigned code : {0x7DU, 0x7EU, 0x7FU, 0xFDU, 0xFEU, 0xFFU}) {
    CHECK(std::isnan(value(SmallFloat::kFloat8E5M2, code)));
    CHECK(std::signbit(value(SmallFloat::kFloat8E5M2, code)) == (code > 0x80));
  }
  CHECK(std::isnan(value(SmallFloat::kFloat8E4M3Fn, 0x7F)));
  CHECK(std::isnan(value(SmallFloat::kFloat8E4M3Fn, 0xFF)));
  CHECK(std::isnan(value(SmallFloat::kFloat8E4M3Fnuz, 0x80)));
  CHECK(std::isnan(value(SmallFloat::kFloat8E5M2Fnuz, 0x80)));
}

TEST_CASE("Every code of a small float comes back from its value", "[numeric][small_floats]") {
  for (const SmallFloat type : kTypes) {
    const SmallFloatInfo& info = small_float_info(type);
    INFO(info.name);
    CHECK(small_float_values(type)[info.largest] == info.largest_value);
    for (const SmallFloatOverflow overflow :
         {SmallFloatOverflow::kSaturate, SmallFloatOverflow::kSpecial, SmallFloatOverflow::kOnnxruntime}) {
      for (unsigned code = 0; code < small_float_values(type).size(); ++code) {
        const float value = small_float_values(type)[code];
        INFO("code " << code << " overflow " << static_cast<int>(overflow));
        const unsigned again = small_float_code(type, value, overflow);
        if (std::isinf(value) && overflow == SmallFloatOverflow::kSaturate) {
          CHECK(again == (code & 0x80U) + info.largest);
        } else if (std::isnan(value)) {  // one NaN of each sign is written
          CHECK(std::isnan(small_float_values(type)[again]));
          CHECK(std::signbit(small_float_values(type)[again]) == std::signbit(value));
        } else {
          CHECK(again == code);
        }
      }
    }
  }
}

TEST_CASE("Every float16 gets the nearest small float", "[numeric][small_floats]") {
  for (const SmallFloat type : kTypes) {
    INFO(small_float_info(type).name);
    std::size_t wrong = 0;
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const float x = float16_value(static_cast<std::uint16_t>(bits));
      if (std::isnan(x)) continue;
      if (small_float_code(type, x) != nearest(type, static_cast<double>(x))) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Midpoints of small floats and their neighbours in double", "[numeric][small_floats]") {
  for (const SmallFloat type : kTypes) {
    const SmallFloatInfo& info = small_float_info(type);
    for (unsigned code = 0; code < info.largest; ++code) {
      INFO(info.name << " code " << code);
      const double low = small_float_values(type)[code];
      const double high = small_float_values(type)[code + 1];
      const double middle = (low + high) / 2.0;
      CHECK(small_float_code(type, middle) == code + code % 2);
      CHECK(small_float_code(type, std::nextafter(middle, 0.0)) == code);
      CHECK(small_float_code(type, std::nextafter(middle, 1e9)) == code + 1);
      if (code > 0) CHECK(small_float_code(type, -middle) == (code + code % 2) + sign_of(type));
    }
  }
}

TEST_CASE("Random doubles of all sizes get the nearest small float", "[numeric][small_floats]") {
  std::mt19937_64 random(Catch::getSeed());
  INFO("seed " << Catch::getSeed());
  for (const SmallFloat type : kTypes) {
    std::size_t wrong = 0;
    for (int i = 0; i < 20000; ++i) {
      const auto x = std::bit_cast<double>(random());
      if (!std::isnan(x) && !std::isinf(x) && small_float_code(type, x) != nearest(type, x)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Overflow, infinity and NaN of small floats", "[numeric][small_floats]") {
  using enum SmallFloatOverflow;
  struct Row {
    SmallFloat type;
    float x;
    unsigned saturate, special, onnxruntime;
  };
  const Row rows[] = {
      {SmallFloat::kFloat8E4M3Fn, 464.0F, 0x7E, 0x7E, 0x7E},
      {SmallFloat::kFloat8E4M3Fn, std::nextafter(464.0F, 500.0F), 0x7E, 0x7F, 0x7F},
      {SmallFloat::kFloat8E4M3Fn, std::nextafter(480.0F, 0.0F), 0x7E, 0x7F, 0x7F},
      {SmallFloat::kFloat8E4M3Fn, 480.0F, 0x7E, 0x7F, 0x7E},
      {SmallFloat::kFloat8E4M3Fn, std::nextafter(496.0F, 0.0F), 0x7E, 0x7F, 0x7E},
      {SmallFloat::kFloat8E4M3Fn, 496.0F, 0x7E, 0x7F, 0x7F},
      {SmallFloat::kFloat8E4M3Fn, -kInfinity, 0xFE, 0xFF, 0xFF},
      {SmallFloat::kFloat8E4M3Fn, kNan, 0x7F, 0x7F, 0x7F},
      {SmallFloat::kFloat8E4M3Fn, -kNan, 0xFF, 0xFF, 0xFF},
      {SmallFloat::kFloat8E4M3Fnuz, std::nextafter(248.0F, 0.0F), 0x7F, 0x7F, 0x7F},
      {SmallFloat::kFloat8E4M3Fnuz, 248.0F, 0x7F, 0x80, 0x80},
      {SmallFloat::kFloat8E4M3Fnuz, -kInfinity, 0xFF, 0x80, 0x80},
      {SmallFloat::kFloat8E4M3Fnuz, kNan, 0x80, 0x80, 0x80},
      {SmallFloat::kFloat8E4M3Fnuz, -1e-30F, 0x00, 0x00, 0x00},
      {SmallFloat::kFloat8E5M2, std::nextafter(61440.0F, 0.0F), 0x7B, 0x7B, 0x7B},
      {SmallFloat::kFloat8E5M2, 61440.0F, 0x7B, 0x7C, 0x7F},
      {SmallFloat::kFloat8E5M2, std::nextafter(-65536.0F, 0.0F), 0xFB, 0xFC, 0xFF},
      {SmallFloat::kFloat8E5M2, 65536.0F, 0x7B, 0x7C, 0x7C},
      {SmallFloat::kFloat8E5M2, kInfinity, 0x7B, 0x7C, 0x7C},
      {SmallFloat::kFloat8E5M2, -kNan, 0xFF, 0xFF, 0xFF},
      {SmallFloat::kFloat8E5M2Fnuz, 61440.0F, 0x7F, 0x80, 0x80},
      {SmallFloat::kFloat8E5M2Fnuz, -kInfinity, 0xFF, 0x80, 0x80},
      {SmallFloat::kFloat8E5M2Fnuz, -0.0F, 0x00, 0x00, 0x00},
      {SmallFloat::kFloat6E3M2, kInfinity, 0x1F, 0x1F, 0x1F},
      {SmallFloat::kFloat6E2M3, -1e30F, 0x3F, 0x3F, 0x3F},
      {SmallFloat::kFloat6E2M3, kNan, 0x20, 0x20, 0x20},
      {SmallFloat::kFloat4E2M1, -kInfinity, 0xF, 0xF, 0xF},
      {SmallFloat::kFloat4E2M1, kNan, 0x8, 0x8, 0x8},
      {SmallFloat::kFloat4E2M1, -kNan, 0x8, 0x8, 0x8},
      {SmallFloat::kFloat4E2M1, -0.0F, 0x8, 0x8, 0x8},
  };
  for (const Row& row : rows) {
    INFO(small_float_info(row.type).name << " " << row.x);
    CHECK(small_float_code(row.type, row.x, kSaturate) == row.saturate);
    CHECK(small_float_code(row.type, row.x, kSpecial) == row.special);
    CHECK(small_float_code(row.type, row.x, kOnnxruntime) == row.onnxruntime);
  }
}

TEST_CASE("Published roundings to float8 and float4", "[numeric][small_floats]") {
  struct Row {
    float x;
    unsigned e4m3fn, e4m3fnuz, e5m2, e5m2fnuz;
  };
  const Row rows[] = {
      {0.1F, 0x1D, 0x25, 0x2E, 0x32},    {0.3F, 0x2A, 0x32, 0x35, 0x39},    {1.0625F, 0x38, 0x40, 0x3C, 0x40},
      {1.1875F, 0x3A, 0x42, 0x3D, 0x41}, {17.0F, 0x58, 0x60, 0x4C, 0x50},   {240.0F, 0x77, 0x7F, 0x5C, 0x60},
      {300.0F, 0x79, 0x7F, 0x5D, 0x61},  {448.0F, 0x7E, 0x7F, 0x5F, 0x63},  {0.001F, 0x01, 0x01, 0x14, 0x18},
      {0x1p-9F, 0x01, 0x02, 0x18, 0x1C}, {0x1p-10F, 0x00, 0x01, 0x14, 0x18}};
  for (const Row& row : rows) {
    INFO(row.x);
    CHECK(small_float_code(SmallFloat::kFloat8E4M3Fn, row.x) == row.e4m3fn);
    CHECK(small_float_code(SmallFloat::kFloat8E4M3Fnuz, row.x) == row.e4m3fnuz);
    CHECK(small_float_code(SmallFloat::kFloat8E5M2, row.x) == row.e5m2);
    CHECK(small_float_code(SmallFloat::kFloat8E5M2Fnuz, row.x) == row.e5m2fnuz);
  }
  const std::pair<float, unsigned> e2m1[] = {{0.25F, 0}, {0.75F, 2}, {1.25F, 2}, {1.75F, 4}, {2.5F, 4},
                                             {3.5F, 6},  {5.0F, 6},  {5.1F, 7},  {0.2F, 0},  {0.3F, 1}};
  for (const auto& [x, code] : e2m1) {
    INFO(x);
    CHECK(small_float_code(SmallFloat::kFloat4E2M1, x) == code);
    CHECK(small_float_code(SmallFloat::kFloat4E2M1, -x) == code + 8);
  }
}

TEST_CASE("Powers of two in a byte", "[numeric][small_floats]") {
  using enum PowerRounding;
  for (unsigned code = 0; code < 255; ++code) {
    const float value = float8e8m0_value(static_cast<std::uint8_t>(code));
    CHECK(value == std::ldexp(1.0F, static_cast<int>(code) - 127));
    for (const PowerRounding rounding : {kDown, kUp, kNearest})
      CHECK(float8e8m0_code(static_cast<double>(value), rounding) == code);
    const double more = static_cast<double>(value) * (1.0 + 0x1p-52);
    const unsigned up = code < 254 ? code + 1 : 254;
    CHECK(float8e8m0_code(more, kDown) == code);
    CHECK(float8e8m0_code(more, kUp) == up);
    CHECK(float8e8m0_code(more, kNearest) == code);
    CHECK(float8e8m0_code(std::nextafter(static_cast<double>(value) * 1.5, 0.0), kNearest) == code);
    CHECK(float8e8m0_code(static_cast<double>(value) * 1.5, kNearest) == up);
  }
  CHECK(std::isnan(float8e8m0_value(0xFF)));
  for (const PowerRounding rounding : {kDown, kUp, kNearest}) {
    CHECK(float8e8m0_code(0.0, rounding) == 0);
    CHECK(float8e8m0_code(1e-300, rounding) == 0);
    CHECK(float8e8m0_code(1e300, rounding) == 254);
    CHECK(float8e8m0_code(static_cast<double>(kNan), rounding) == 0xFF);
    CHECK(float8e8m0_code(static_cast<double>(kInfinity), rounding) == 0xFF);
    CHECK(float8e8m0_code(-1.0, rounding) == 0xFF);
  }
  CHECK(float8e8m0_code(0.875, kDown) == 126);
  CHECK(float8e8m0_code(7.0, kDown) == 129);
}

// bits -> value -> bits for all, and the midpoint of every two neighbours.
void check_16_bits(std::uint16_t infinity, float (*value)(std::uint16_t), std::uint16_t (*bits_of)(double)) {
  std::size_t wrong = 0;
  for (unsigned bits = 0; bits < infinity; ++bits) {
    const auto own = static_cast<std::uint16_t>(bits);
    const double x = value(own);
    if (bits_of(x) != own || bits_of(-x) != (own | 0x8000U)) ++wrong;
    if (!same(value(static_cast<std::uint16_t>(own | 0x8000U)), -value(own))) ++wrong;
    // What follows the largest value would be the power of two that infinity stands in for.
    const double next = bits + 1U < infinity
                            ? static_cast<double>(value(static_cast<std::uint16_t>(bits + 1U)))
                            : 2.0 * x - static_cast<double>(value(static_cast<std::uint16_t>(bits - 1U)));
    const double middle = (x + next) / 2.0;
    if (bits_of(middle) != bits + bits % 2U) ++wrong;
    if (bits_of(std::nextafter(middle, 0.0)) != bits) ++wrong;
    if (bits_of(std::nextafter(middle, 1e300)) != bits + 1U) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(value(infinity) == kInfinity);
  CHECK(bits_of(static_cast<double>(-kInfinity)) == (infinity | 0x8000U));
  CHECK(bits_of(1e300) == infinity);
  for (unsigned bits = infinity + 1U; bits < 0x8000; ++bits)
    CHECK(std::isnan(value(static_cast<std::uint16_t>(bits))));
}

TEST_CASE("float16 and bfloat16, all of them", "[numeric][small_floats]") {
  check_16_bits(0x7C00, float16_value, [](double x) { return float16_bits(x); });
  check_16_bits(0x7F80, bfloat16_value, [](double x) { return bfloat16_bits(x); });
  CHECK(float16_bits(kNan) == 0x7E00);
  CHECK(float16_bits(-kNan) == 0xFE00);
  CHECK(bfloat16_bits(kNan) == 0x7FC0);
  CHECK(float16_bits(0.1F) == 0x2E66);
  CHECK(float16_bits(65504.0F) == 0x7BFF);
  CHECK(float16_bits(65519.996F) == 0x7BFF);
  CHECK(float16_bits(65520.0F) == 0x7C00);
  CHECK(bfloat16_bits(0.1F) == 0x3DCD);
  CHECK(float16_value(0x3555) == 0.333251953125F);
  // One rounding from double: through float32 first, this would be a tie and go to the even code, 0x3C00.
  CHECK(float16_bits(1.0 + 0x1p-11 + 0x1p-40) == 0x3C01);
}

}  // namespace
}  // namespace halftone
