#include "halftone/small_floats.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace halftone {
namespace {

// In the order of the enum.
constexpr std::array<SmallFloatInfo, 7> kTypes = {{
    {SmallFloat::kFloat8E4M3Fn, "float8e4m3fn", 8, 3, 7, 0x7E, 448.0F, std::nullopt, 0x7F, true},
    {SmallFloat::kFloat8E4M3Fnuz, "float8e4m3fnuz", 8, 3, 8, 0x7F, 240.0F, std::nullopt, 0x80, false},
    {SmallFloat::kFloat8E5M2, "float8e5m2", 8, 2, 15, 0x7B, 57344.0F, 0x7C, 0x7F, true},
    {SmallFloat::kFloat8E5M2Fnuz, "float8e5m2fnuz", 8, 2, 16, 0x7F, 57344.0F, std::nullopt, 0x80, false},
    {SmallFloat::kFloat6E3M2, "float6e3m2", 6, 2, 3, 0x1F, 28.0F, std::nullopt, std::nullopt, true},
    {SmallFloat::kFloat6E2M3, "float6e2m3", 6, 3, 1, 0x1F, 7.5F, std::nullopt, std::nullopt, true},
    {SmallFloat::kFloat4E2M1, "float4e2m1", 4, 1, 1, 0x7, 6.0F, std::nullopt, std::nullopt, true},
}};

constexpr bool table_follows_enum() {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (static_cast<std::size_t>(kTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(table_follows_enum());

constexpr std::uint8_t sign_bit(const SmallFloatInfo& info) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(info.bits - 1));
}

// 2^exponent, for exponents of normal doubles.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

// What a code without sign stands for, were all codes finite numbers.
constexpr double magnitude_of(unsigned code, int mantissa_bits, int bias) {
  const auto exponent = static_cast<int>(code >> static_cast<unsigned>(mantissa_bits));
  const unsigned implicit = 1U << static_cast<unsigned>(mantissa_bits);
  const unsigned mantissa = code & (implicit - 1);
  if (exponent == 0) return mantissa * power_of_two(1 - bias - mantissa_bits);
  return (implicit + mantissa) * power_of_two(exponent - bias - mantissa_bits);
}

constexpr float value_of(const SmallFloatInfo& info, unsigned code) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const unsigned sign = code & sign_bit(info);
  const unsigned magnitude = code ^ sign;
  if (!info.has_negative_zero && code == sign_bit(info)) return kNan;
  if (magnitude > info.largest) {
    const bool infinite = info.infinity && magnitude == *info.infinity;
    const float special = infinite ? std::numeric_limits<float>::infinity() : kNan;
    return sign != 0 ? -special : special;
  }
  const auto value = static_cast<float>(magnitude_of(magnitude, info.mantissa_bits, info.exponent_bias));
  return sign != 0 ? -value : value;
}

using ValueTable = std::array<float, 256>;

constexpr std::array<ValueTable, kTypes.size()> all_values() {
  std::array<ValueTable, kTypes.size()> tables = {};
  for (std::size_t t = 0; t < kTypes.size(); ++t) {
    const unsigned count = 1U << static_cast<unsigned>(kTypes[t].bits);
    for (unsigned code = 0; code < count; ++code) tables[t][code] = value_of(kTypes[t], code);
  }
  return tables;
}

constexpr std::array<ValueTable, kTypes.size()> kValues = all_values();

// The code of a finite magnitude, half to the even code, where codes go on without end. Codes are consecutive
// in steps and in exponents, so that code = steps + (exponent above the lowest) * 2^mantissa_bits. The
// quotient by a power of two is exact, so the one rounding is nearbyint's (half to even: the core never
// changes the mode).
std::uint64_t rounded_code(double magnitude, int mantissa_bits, int bias) {
  const int lowest = 1 - bias;
  const int own = static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52U) - 1023;
  const int exponent = own > lowest ? own : lowest;
  const double steps = std::nearbyint(magnitude * power_of_two(mantissa_bits - exponent));
  return static_cast<std::uint64_t>(steps) +
         (static_cast<std::uint64_t>(exponent - lowest) << static_cast<unsigned>(mantissa_bits));
}

std::uint8_t overflowed(const SmallFloatInfo& info, double magnitude, std::uint8_t sign,
                        SmallFloatOverflow overflow) {
  const auto with_sign = [sign](std::uint8_t code) { return static_cast<std::uint8_t>(code | sign); };
  if (overflow == SmallFloatOverflow::kOnnxruntime) {
    if (info.type == SmallFloat::kFloat8E4M3Fn && magnitude >= 480.0 && magnitude < 496.0)
      return with_sign(info.largest);
    if (info.type == SmallFloat::kFloat8E5M2 && magnitude < 65536.0) return with_sign(0x7F);
  }
  if (overflow == SmallFloatOverflow::kSaturate) return with_sign(info.largest);
  if (info.infinity) return with_sign(*info.infinity);
  if (!info.nan) return with_sign(info.largest);
  return info.has_negative_zero ? with_sign(*info.nan) : *info.nan;
}

std::uint8_t nan_code(const SmallFloatInfo& info, std::uint8_t sign) {
  if (!info.nan) return sign_bit(info);
  return info.has_negative_zero ? static_cast<std::uint8_t>(*info.nan | sign) : *info.nan;
}

// A binary float of 16 bits: sign, exponent, `mantissa_bits` of mantissa.
struct Float16Shape {
  int mantissa_bits;
  int exponent_bias;
  std::uint16_t infinity;
};

constexpr Float16Shape kHalf = {10, 15, 0x7C00};
constexpr Float16Shape kBrain = {7, 127, 0x7F80};

std::uint16_t bits_of(const Float16Shape& shape, double x) {
  const unsigned sign = std::signbit(x) ? 0x8000U : 0U;
  const unsigned quiet = 1U << static_cast<unsigned>(shape.mantissa_bits - 1);
  if (std::isnan(x)) return static_cast<std::uint16_t>(sign | shape.infinity | quiet);
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | shape.infinity);
  const std::uint64_t code = rounded_code(std::fabs(x), shape.mantissa_bits, shape.exponent_bias);
  return static_cast<std::uint16_t>(sign | (code > shape.infinity ? shape.infinity : code));
}

}  // namespace

const SmallFloatInfo& small_float_info(SmallFloat type) { return kTypes[static_cast<std::size_t>(type)]; }

std::span<const float> small_float_values(SmallFloat type) {
  const std::size_t count = std::size_t{1} << static_cast<unsigned>(small_float_info(type).bits);
  return std::span<const float>(kValues[static_cast<std::size_t>(type)]).first(count);
}

std::uint8_t small_float_code(SmallFloat type, double x, SmallFloatOverflow overflow) {
  const SmallFloatInfo& info = small_float_info(type);
  const std::uint8_t sign = std::signbit(x) ? sign_bit(info) : std::uint8_t{0};
  if (std::isnan(x)) return nan_code(info, sign);
  const double magnitude = std::fabs(x);
  if (std::isinf(x)) return overflowed(info, magnitude, sign, overflow);
  const std::uint64_t code = rounded_code(magnitude, info.mantissa_bits, info.exponent_bias);
  if (code > info.largest) return overflowed(info, magnitude, sign, overflow);
  if (code == 0 && !info.has_negative_zero) return 0;
  return static_cast<std::uint8_t>(code | sign);
}

std::uint8_t small_float_code(SmallFloat type, float x, SmallFloatOverflow overflow) {
  return small_float_code(type, static_cast<double>(x), overflow);
}

std::uint8_t float8e8m0_code(double x, PowerRounding rounding) {
  constexpr int kLargestExponent = 127;
  if (x == 0.0) return 0;
  if (!std::isfinite(x) || x < 0.0) return kFloat8E8M0Nan;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent) * 2.0;  // in [1, 2)
  exponent -= 1;
  if (rounding == PowerRounding::kUp && fraction > 1.0) exponent += 1;
  if (rounding == PowerRounding::kNearest && fraction >= 1.5) exponent += 1;
  if (exponent < -kLargestExponent) return 0;
  if (exponent > kLargestExponent) exponent = kLargestExponent;
  return static_cast<std::uint8_t>(exponent + kLargestExponent);
}

float float8e8m0_value(std::uint8_t code) {
  if (code == kFloat8E8M0Nan) return std::numeric_limits<float>::quiet_NaN();
  constexpr std::uint32_t kTwoToMinus127 = 0x00400000U;
  return std::bit_cast<float>(code == 0 ? kTwoToMinus127 : static_cast<std::uint32_t>(code) << 23U);
}

std::uint16_t float16_bits(double x) { return bits_of(kHalf, x); }

std::uint16_t float16_bits(float x) { return bits_of(kHalf, static_cast<double>(x)); }

float float16_value(std::uint16_t bits) {
  const unsigned magnitude = bits & 0x7FFFU;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
  const auto with_sign = [sign](std::uint32_t unsigned_bits) {
    return std::bit_cast<float>(unsigned_bits | sign);
  };
  if (magnitude > kHalf.infinity) return with_sign(0x7FC00000U);
  if (magnitude == kHalf.infinity) return with_sign(0x7F800000U);
  if (magnitude >= 0x0400U) return with_sign((magnitude << 13U) + ((127U - 15U) << 23U));
  const float denormal = static_cast<float>(magnitude) * 0x1p-24F;
  return sign != 0 ? -denormal : denormal;
}

std::uint16_t bfloat16_bits(double x) { return bits_of(kBrain, x); }

std::uint16_t bfloat16_bits(float x) { return bits_of(kBrain, static_cast<double>(x)); }

float bfloat16_value(std::uint16_t bits) {
  if ((bits & 0x7FFFU) > kBrain.infinity)
    return std::bit_cast<float>(static_cast<std::uint32_t>((bits & 0x8000U) | 0x7FC0U) << 16U);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

}  // namespace halftone
