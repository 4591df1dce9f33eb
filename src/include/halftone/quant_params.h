// From ranges to scales and zero points, to the last bit as onnxruntime's quantization tool computes them.
//
//   code = saturate(round_half_even(x / scale) + zero_point)      x / scale is a true float32 division
//   x'   = float32(code - zero_point) * scale                     rounded once
//
// A scale made here is never 0, denormal or non-finite, and a range always includes 0, so that real 0 has a
// code of its own. NaN and infinity have no place in a range: they are an error (kNonFinite) here, and
// calibration says where they came from.
// Threading: plain functions. Where two errors apply: kUnsupportedType, kShapeMismatch, kNonFinite,
// kInvalidPolicy, kTooLarge, in this order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/number_format.h"
#include "halftone/result.h"

namespace halftone {

enum class Symmetry : std::uint8_t {
  kAsymmetric,  // the range as it is, widened to include 0
  kSymmetric,   // mirrored: -m..m with m = max(|min|, |max|)
};

// Real numbers, both ends included.
struct ValueRange {
  float min = 0.0F;
  float max = 0.0F;
};

struct QuantParams {
  float scale = 1.0F;
  std::int32_t zero_point = 0;
};

struct CodeRange {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};

// How a float8e4m3fn scale follows from the largest magnitude m of a range. The other small floats have
// kWholeRange only, with their own largest value in place of 448.
enum class Float8Scale : std::uint8_t {
  kWholeRange,  // m / 448: m becomes the largest code
  // As ModelOpt, which makes an int8 scale first and turns it into one for float8 by another factor than that
  // scale was made with: float32(float32(int8_scale * 448) / 127), about m / 36, so that codes end at +-36
  // and the small values lose 3.6 bits of range. Two roundings, to the last bit as that peer has them.
  kModelOpt,
};

// The codes that a range is spread over. Symmetric int8 and int16 leave out the lowest code (-127..127),
// symmetric uint8 and uint16 the highest (0..254), so that both halves are equally long; the 4-bit formats
// have too few codes to lose one. Quantizing itself always saturates at the whole range of the format.
// [0, 0] for formats whose kind is not kInteger.
CodeRange spread_codes(NumberFormat format, Symmetry symmetry);

// Scale and zero point for values in `range`.
//   width      = float32(max - min); in double if that overflows
//   scale64    = double(width) / (highest - lowest), of spread_codes()
//   scale      = float32(scale64)
//   zero_point = asymmetric: round_half_even(lowest - min / scale64), with the scale before its rounding
//                symmetric:  round_half_even((lowest + highest) / 2)
// A range of [0, 0], or one whose scale64 is below the smallest normal float32, gives scale 1, zero point 0.
// float8 and float4 formats: scale as `float8` says, in which m comes from the range as for symmetric
// integers; zero point 0. For [0, 0] and tiny ranges the scale is 1, or what kModelOpt makes of an int8 scale
// of 1: 448 / 127. Errors: kUnsupportedType unless is_quantize_format(format); kNonFinite; kInvalidPolicy if
// min > max, or if float8e4m3fn is to be asymmetric; kTooLarge if kModelOpt's product leaves float32.
Result<QuantParams> params_from_range(NumberFormat format, Symmetry symmetry, ValueRange range,
                                      Float8Scale float8 = Float8Scale::kWholeRange);

// Symmetric scales of a weight, one per channel, from the largest magnitude m >= 0 of each channel: 2 m / 254
// for int8. A channel of zeros gets 1. Empty for no channels.
// Errors: as params_from_range, with "channel N" in `where`; kInvalidPolicy for a negative magnitude.
Result<std::vector<float>> symmetric_channel_scales(NumberFormat format, std::span<const float> magnitudes,
                                                    Float8Scale float8 = Float8Scale::kWholeRange);

struct QuantizedBias {
  std::vector<float> scales;        // float32(input_scale * weight_scale): 1 element, or one per channel
  std::vector<std::int32_t> codes;  // round_half_even(bias / scale) in double; zero point 0
};

// int32 codes of a bias. `weight_scales` has 1 element or one per element of `bias`. An empty bias has no
// codes. Errors, with "channel N" in `where`: kShapeMismatch for another number of scales; kNonFinite if a
// bias value or a scale is NaN or infinite; kInvalidPolicy if a scale is not positive; kTooLarge if |bias| /
// scale reaches 2^31, or if the product of the scales is 0 or infinite: then the bias has to stay float. A
// product may be denormal.
Result<QuantizedBias> quantize_bias(std::span<const float> bias, float input_scale,
                                    std::span<const float> weight_scales);

}  // namespace halftone
