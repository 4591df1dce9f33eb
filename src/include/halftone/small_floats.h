// Floats of 4 to 16 bits: what a code stands for, and the code nearest to a number. Scalar, exact, and the
// definition that tables and kernels are made from and tested against.
//
// Every value of these types is exact in float32 (and in double), so decoding never rounds. Encoding rounds
// once, from the exact value of its argument, to the nearest value, half to the even code. Nothing depends on
// the machine, on the rounding mode, or on the payload of a NaN.
//
// Sources: ONNX, "Float stored in 8 bits" and "Float stored in 4 bits"; OCP Microscaling Formats v1.0 for the
// 6-bit types and E8M0; IEEE 754 for float16; bfloat16 is the upper half of a float32.
// Threading: constant data and pure functions. Nothing here fails.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace halftone {

// A sign bit, then the exponent, then the mantissa. "Fn": finite, with NaN but without infinity; "Uz": zero
// has no sign, and the code of -0 is NaN.
enum class SmallFloat : std::uint8_t {
  kFloat8E4M3Fn,
  kFloat8E4M3Fnuz,
  kFloat8E5M2,
  kFloat8E5M2Fnuz,
  kFloat6E3M2,
  kFloat6E2M3,
  kFloat4E2M1,
};

struct SmallFloatInfo {
  SmallFloat type;
  std::string_view name;  // as ONNX spells it: "float8e4m3fn"
  int bits;               // of a code, the sign included; the sign is the highest of them
  int mantissa_bits;
  int exponent_bias;
  std::uint8_t largest;  // the code of the largest finite value
  float largest_value;
  std::optional<std::uint8_t> infinity;  // code of +infinity, if there is one
  std::optional<std::uint8_t>
      nan;  // the code that NaN gets (positive, where NaN has a sign), if there is one
  bool has_negative_zero;
};

const SmallFloatInfo& small_float_info(SmallFloat type);

// What every code stands for, by code: 2^bits values. NaN codes are quiet NaN with the code's sign (positive
// where the type has but one NaN).
std::span<const float> small_float_values(SmallFloat type);

// What becomes of numbers that round to more than the largest value, and of infinity. "More" begins at the
// midpoint between the largest value and the one that would follow it; the midpoint itself belongs to the
// even code of the two.
enum class SmallFloatOverflow : std::uint8_t {
  // The largest value, with the sign of x (QuantizeLinear with saturate = 1; MX).
  kSaturate,
  // Infinity where the type has one, NaN where it has that, else the largest value (saturate = 0).
  kSpecial,
  // As kSpecial, but as onnxruntime's CPU code does it, which has two slips: float8e4m3fn gives 448 for
  // 480 <= |x| < 496, though 464 < |x| < 480 is NaN; float8e5m2 gives NaN for 61440 <= |x| < 65536, where
  // larger numbers are infinity.
  kOnnxruntime,
};

// The code of `x`. NaN: the type's NaN, with the sign of x where NaN has a sign; a type without NaN gives the
// code of -0 (0x8 of float4e2m1, 0x20 of the 6-bit types), as onnx.reference does. Numbers that round to zero
// keep their sign where zero has one.
std::uint8_t small_float_code(SmallFloat type, float x,
                              SmallFloatOverflow overflow = SmallFloatOverflow::kSaturate);
std::uint8_t small_float_code(SmallFloat type, double x,
                              SmallFloatOverflow overflow = SmallFloatOverflow::kSaturate);

// float8e8m0: 2^(code - 127), and NaN for 0xFF. No zero, no sign, no infinity.
enum class PowerRounding : std::uint8_t {
  kDown,     // the largest power that isn't more than x
  kUp,       // the smallest power that isn't less than x: ONNX's default
  kNearest,  // the nearest power by value; the midpoint, 1.5 times a power, goes up
};

inline constexpr std::uint8_t kFloat8E8M0Nan = 0xFF;

// The code of `x` > 0, clamped to 2^-127 and 2^127. Zero of either sign gives code 0; NaN, infinity and
// negative numbers give NaN.
std::uint8_t float8e8m0_code(double x, PowerRounding rounding);

// 2^(code - 127), exact (code 0 is the denormal 2^-127); NaN for 0xFF.
float float8e8m0_value(std::uint8_t code);

// float16 and bfloat16, by their bits. Overflow is infinity; NaN is the quiet NaN of its sign without
// payload.
std::uint16_t float16_bits(float x);
std::uint16_t float16_bits(double x);
float float16_value(std::uint16_t bits);

std::uint16_t bfloat16_bits(float x);
std::uint16_t bfloat16_bits(double x);
float bfloat16_value(std::uint16_t bits);

}  // namespace halftone
