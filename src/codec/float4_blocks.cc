// Blocks of float4e2m1: ModelOpt's NVFP4, and ggml's MXFP4 and NVFP4, which keep the scale in the block and
// have rounding rules of their own.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "codec/block_coder.h"
#include "halftone/small_floats.h"

namespace halftone {

float nvfp4_tensor_scale(float amax) {
  constexpr float kLargestProduct = 6.0F * 448.0F;
  const float scale = amax / kLargestProduct;
  return scale > 0.0F ? scale : 1.0F;
}

namespace codec {
namespace {

constexpr float kLargestFloat4 = 6.0F;
constexpr float kLargestFloat8 = 448.0F;

float largest_magnitude(std::span<const float> x) {
  float largest = 0.0F;
  for (const float v : x) largest = std::max(largest, std::fabs(v));
  return largest;
}

float float4_value(std::uint8_t code) { return small_float_values(SmallFloat::kFloat4E2M1)[code]; }

BlockFault encode_modelopt(std::span<const float> x, std::uint8_t* codes, std::uint8_t* scales,
                           const BlockCoding& coding) {
  constexpr float kSmallestScale = 0.001953125F;  // of float8e4m3fn: 2^-9
  float scale = largest_magnitude(x) / (kLargestFloat4 * coding.tensor_scale);
  if (scale == 0.0F) scale = 1.0F;
  *scales = small_float_code(SmallFloat::kFloat8E4M3Fn, std::clamp(scale, kSmallestScale, kLargestFloat8));
  const float step = small_float_values(SmallFloat::kFloat8E4M3Fn)[*scales] * coding.tensor_scale;
  std::fill_n(codes, (x.size() + 1) / 2, std::uint8_t{0});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float quotient = step > 0.0F ? x[i] / step : 0.0F;
    const unsigned code =
        quotient == 0.0F ? 0U : unsigned{small_float_code(SmallFloat::kFloat4E2M1, quotient)};
    codes[i / 2] = static_cast<std::uint8_t>(codes[i / 2] | code << i % 2 * 4);
  }
  return BlockFault::kNone;
}

void decode_modelopt(const std::uint8_t* codes, const std::uint8_t* scales, std::span<float> y,
                     const BlockCoding& coding) {
  const float step = small_float_values(SmallFloat::kFloat8E4M3Fn)[*scales] * coding.tensor_scale;
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = float4_value(static_cast<std::uint8_t>(codes[i / 2] >> i % 2 * 4 & 15U)) * step;
  }
}

// ggml's search: the first of the nearest entries, by errors in float32. Ties go to the smaller magnitude,
// and -0 is never chosen.
std::uint8_t ggml_nearest(float x, float scale) {
  std::uint8_t best = 0;
  float best_error = std::fabs(0.0F - x);
  for (std::uint8_t code = 1; code < 16; ++code) {
    const float error = std::fabs(float4_value(code) * scale - x);
    if (error < best_error) {
      best = code;
      best_error = error;
    }
  }
  return best;
}

// The first half of the elements in the low nibbles, the second in the high ones.
void encode_ggml_codes(std::span<const float> x, float scale, std::uint8_t* to) {
  const std::size_t half = x.size() / 2;
  for (std::size_t j = 0; j < half; ++j) {
    const unsigned low = ggml_nearest(x[j], scale);
    to[j] = static_cast<std::uint8_t>(low | unsigned{ggml_nearest(x[j + half], scale)} << 4U);
  }
}

void decode_ggml_codes(const std::uint8_t* from, float scale, std::span<float> y) {
  const std::size_t half = y.size() / 2;
  for (std::size_t j = 0; j < half; ++j) {
    y[j] = float4_value(from[j] & 15U) * scale;
    y[j + half] = float4_value(static_cast<std::uint8_t>(from[j] >> 4U)) * scale;
  }
}

// ggml takes the floor of a logarithm that is rounded to float32, so a number just below a power of two
// counts as that power.
std::uint8_t ggml_power_code(float amax) {
  constexpr int kLargestExponent = 2;  // of float4e2m1
  constexpr int kBias = 127;
  if (amax == 0.0F) return 0;
  const float logarithm = static_cast<float>(std::log2(static_cast<double>(amax)));
  const int code = static_cast<int>(std::floor(logarithm)) - kLargestExponent + kBias;
  return static_cast<std::uint8_t>(std::clamp(code, 0, 254));
}

BlockFault encode_ggml_mxfp4(std::span<const float> x, std::uint8_t* codes, std::uint8_t* /*scales*/,
                             const BlockCoding& /*coding*/) {
  codes[0] = ggml_power_code(largest_magnitude(x));
  encode_ggml_codes(x, float8e8m0_value(codes[0]), codes + 1);
  return BlockFault::kNone;
}

void decode_ggml_mxfp4(const std::uint8_t* codes, const std::uint8_t* /*scales*/, std::span<float> y,
                       const BlockCoding& /*coding*/) {
  decode_ggml_codes(codes + 1, float8e8m0_value(codes[0]), y);
}

constexpr std::size_t kSubBlock = 16;
constexpr std::size_t kSubBlocks = 4;
constexpr unsigned kMantissaBits = 3;
constexpr std::uint8_t kLargestUe4m3 = 0x7E;

// float8e4m3 without a sign, as ggml rounds it: half up by the first bit that is cut off.
std::uint8_t ue4m3_code(float x) {
  constexpr int kFloatBias = 127;
  constexpr int kBias = 7;
  if (!(x > 0.0F)) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(std::min(x, kLargestFloat8));
  int exponent = static_cast<int>(bits >> 23U) - kFloatBias + kBias;
  if (exponent <= 0) {
    const int steps = static_cast<int>(std::floor(x * 512.0F + 0.5F));
    return static_cast<std::uint8_t>(std::min(steps, 7));
  }
  unsigned mantissa = (bits >> 20U & 7U) + (bits >> 19U & 1U);
  if (mantissa > 7) {
    mantissa = 0;
    ++exponent;
  }
  const int code = static_cast<int>(static_cast<unsigned>(exponent) << kMantissaBits | mantissa);
  return exponent >= 15 ? kLargestUe4m3 : static_cast<std::uint8_t>(code);
}

// NaN counts as 0 there, and the highest bit isn't looked at.
float ue4m3_value(std::uint8_t code) {
  constexpr std::uint8_t kNan = 0x7F;
  if (code == kNan) return 0.0F;
  const float value = small_float_values(SmallFloat::kFloat8E4M3Fn)[code & 0x7FU];
  return std::isnan(value) ? 480.0F : value;  // 0xFF, which ggml reads as any other mantissa
}

BlockFault encode_ggml_nvfp4(std::span<const float> x, std::uint8_t* codes, std::uint8_t* /*scales*/,
                             const BlockCoding& /*coding*/) {
  for (std::size_t sub = 0; sub < kSubBlocks; ++sub) {
    const std::span<const float> part = x.subspan(sub * kSubBlock, kSubBlock);
    codes[sub] = ue4m3_code(largest_magnitude(part) / kLargestFloat4);
    encode_ggml_codes(part, ue4m3_value(codes[sub]), codes + kSubBlocks + sub * kSubBlock / 2);
  }
  return BlockFault::kNone;
}

void decode_ggml_nvfp4(const std::uint8_t* codes, const std::uint8_t* /*scales*/, std::span<float> y,
                       const BlockCoding& /*coding*/) {
  for (std::size_t sub = 0; sub < kSubBlocks; ++sub) {
    decode_ggml_codes(codes + kSubBlocks + sub * kSubBlock / 2, ue4m3_value(codes[sub]),
                      y.subspan(sub * kSubBlock, kSubBlock));
  }
}

}  // namespace

BlockCoder nvfp4_coder() { return {encode_modelopt, decode_modelopt}; }

BlockCoder gguf_float4_coder(BlockFormat format) {
  if (format == BlockFormat::kGgufMxfp4) return {encode_ggml_mxfp4, decode_ggml_mxfp4};
  return {encode_ggml_nvfp4, decode_ggml_nvfp4};
}

}  // namespace codec
}  // namespace halftone
