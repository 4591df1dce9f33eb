// OCP Microscaling: 32 small floats or 8-bit integers under one power of two.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "codec/block_coder.h"
#include "halftone/small_floats.h"

namespace halftone::codec {
namespace {

constexpr int kScaleBias = 127;
constexpr int kLargestScaleCode = 254;
constexpr int kInt8Fraction = 6;  // q stands for q / 64
constexpr int kInt8Largest = 127;

SmallFloat element_of(BlockFormat format) {
  switch (format) {
    case BlockFormat::kMxfp4:
      return SmallFloat::kFloat4E2M1;
    case BlockFormat::kMxfp6E3M2:
      return SmallFloat::kFloat6E3M2;
    case BlockFormat::kMxfp6E2M3:
      return SmallFloat::kFloat6E2M3;
    case BlockFormat::kMxfp8E4M3:
      return SmallFloat::kFloat8E4M3Fn;
    default:
      return SmallFloat::kFloat8E5M2;
  }
}

// NaN if there is one, or infinity.
float largest_magnitude(std::span<const float> x) {
  float largest = 0.0F;
  for (const float v : x) {
    if (!std::isfinite(v)) return std::numeric_limits<float>::quiet_NaN();
    largest = std::max(largest, std::fabs(v));
  }
  return largest;
}

// The scale's exponent. ModelOpt takes the logarithm in float32; this is the exact one, so results differ
// only where that rounds across an integer.
int scale_exponent(float amax, float largest_element, MxScaleRule rule) {
  const int floor_of_largest = std::ilogb(largest_element);
  const int floor = std::ilogb(amax) - floor_of_largest;
  if (rule == MxScaleRule::kFloor) return floor;
  const bool fits = std::ldexp(static_cast<double>(largest_element), floor) >= static_cast<double>(amax);
  return fits ? floor : floor + 1;
}

// The scale byte of a block; nullopt-like NaN byte where a value isn't finite.
std::uint8_t scale_code(std::span<const float> x, float largest_element, MxScaleRule rule) {
  const float amax = largest_magnitude(x);
  if (std::isnan(amax)) return kFloat8E8M0Nan;
  if (amax == 0.0F) return 0;
  const int code = scale_exponent(amax, largest_element, rule) + kScaleBias;
  return static_cast<std::uint8_t>(std::clamp(code, 0, kLargestScaleCode));
}

// Codes low bits first, without gaps.
void put_bits(std::uint8_t* bytes, std::size_t index, int bits, std::uint8_t code) {
  const std::size_t at = index * static_cast<std::size_t>(bits);
  const unsigned shifted = static_cast<unsigned>(code) << at % 8;
  bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (shifted & 0xFFU));
  if (at % 8 + static_cast<std::size_t>(bits) > 8) {
    bytes[at / 8 + 1] = static_cast<std::uint8_t>(bytes[at / 8 + 1] | shifted >> 8U);
  }
}

std::uint8_t get_bits(const std::uint8_t* bytes, std::size_t index, int bits) {
  const std::size_t at = index * static_cast<std::size_t>(bits);
  unsigned word = bytes[at / 8];
  if (at % 8 + static_cast<std::size_t>(bits) > 8) word |= static_cast<unsigned>(bytes[at / 8 + 1]) << 8U;
  return static_cast<std::uint8_t>(word >> at % 8 & ((1U << static_cast<unsigned>(bits)) - 1U));
}

BlockFault encode_floats(std::span<const float> x, std::uint8_t* codes, std::uint8_t* scales,
                         const BlockCoding& coding) {
  const SmallFloat element = element_of(coding.format);
  const SmallFloatInfo& info = small_float_info(element);
  std::memset(codes, 0, (x.size() * static_cast<std::size_t>(info.bits) + 7) / 8);
  *scales = scale_code(x, info.largest_value, coding.mx_scale);
  if (*scales == kFloat8E8M0Nan) return BlockFault::kNone;
  const int exponent = *scales - kScaleBias;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double quotient = std::ldexp(static_cast<double>(x[i]), -exponent);  // exact
    put_bits(codes, i, info.bits, small_float_code(element, quotient));
  }
  return BlockFault::kNone;
}

void decode_floats(const std::uint8_t* codes, const std::uint8_t* scales, std::span<float> y,
                   const BlockCoding& coding) {
  const SmallFloat element = element_of(coding.format);
  const int bits = small_float_info(element).bits;
  const std::span<const float> values = small_float_values(element);
  const float scale = float8e8m0_value(*scales);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = values[get_bits(codes, i, bits)] * scale;
}

BlockFault encode_int8(std::span<const float> x, std::uint8_t* codes, std::uint8_t* scales,
                       const BlockCoding& coding) {
  constexpr float kLargest = static_cast<float>(kInt8Largest) / static_cast<float>(1 << kInt8Fraction);
  *scales = scale_code(x, kLargest, coding.mx_scale);
  std::memset(codes, 0, x.size());
  if (*scales == kFloat8E8M0Nan) return BlockFault::kNone;
  const int exponent = *scales - kScaleBias - kInt8Fraction;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double rounded = std::nearbyint(std::ldexp(static_cast<double>(x[i]), -exponent));
    const double q = std::clamp(rounded, -double{kInt8Largest}, double{kInt8Largest});
    codes[i] = static_cast<std::uint8_t>(static_cast<std::int8_t>(q));
  }
  return BlockFault::kNone;
}

void decode_int8(const std::uint8_t* codes, const std::uint8_t* scales, std::span<float> y,
                 const BlockCoding& /*coding*/) {
  constexpr float kStep = 1.0F / static_cast<float>(1 << kInt8Fraction);
  const float scale = float8e8m0_value(*scales);
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = static_cast<float>(static_cast<std::int8_t>(codes[i])) * kStep * scale;
  }
}

}  // namespace

BlockCoder mx_coder(BlockFormat format) {
  if (format == BlockFormat::kMxint8) return {encode_int8, decode_int8};
  return {encode_floats, decode_floats};
}

}  // namespace halftone::codec
