#include "halftone/quant_params.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

namespace halftone {
namespace {

constexpr double kSmallestNormal = std::numeric_limits<float>::min();

// std::nearbyint rounds half to even: the core never changes the rounding mode.
std::int32_t round_to_code(double value) { return static_cast<std::int32_t>(std::nearbyint(value)); }

Error not_quantizable(NumberFormat format) {
  return {
      ErrorCode::kUnsupportedType,
      "values can't be quantized to " + std::string(number_format_info(format).name) + " by QuantizeLinear.",
      "", "Choose an integer format of 2 to 16 bits, a float8 format or float4e2m1."};
}

// Subtracted in float32 because the peer does: its ranges are float32 arrays until the division.
double range_width(float min, float max) {
  const float width = max - min;
  return std::isfinite(width) ? static_cast<double>(width)
                              : static_cast<double>(max) - static_cast<double>(min);
}

// `width` is that of a range mirrored around 0.
Result<QuantParams> small_float_params(SmallFloat type, double width, Float8Scale float8) {
  const auto largest = static_cast<double>(small_float_info(type).largest_value);
  if (type != SmallFloat::kFloat8E4M3Fn) float8 = Float8Scale::kWholeRange;
  const double spread = float8 == Float8Scale::kModelOpt ? 2.0 * 127.0 : 2.0 * largest;
  const double scale64 = width / spread;
  const float scale = scale64 < kSmallestNormal ? 1.0F : static_cast<float>(scale64);
  if (float8 == Float8Scale::kWholeRange) return QuantParams{scale, 0};
  const float product = scale * 448.0F;
  if (std::isfinite(product)) return QuantParams{product / 127.0F, 0};
  return Error{ErrorCode::kTooLarge, "A range is too wide for a float8e4m3fn scale as ModelOpt makes it.", "",
               "Use the default scale, which is smaller."};
}

}  // namespace

CodeRange spread_codes(NumberFormat format, Symmetry symmetry) {
  const NumberFormatInfo& info = number_format_info(format);
  CodeRange codes = {info.lowest, info.highest};
  if (symmetry == Symmetry::kAsymmetric || info.kind != FormatKind::kInteger || info.bits < 8) return codes;
  if (info.lowest < 0) {
    codes.lowest = -info.highest;
  } else {
    codes.highest -= 1;
  }
  return codes;
}

Result<QuantParams> params_from_range(NumberFormat format, Symmetry symmetry, ValueRange range,
                                      Float8Scale float8) {
  if (!is_quantize_format(format)) return not_quantizable(format);
  if (!std::isfinite(range.min) || !std::isfinite(range.max)) {
    return Error{ErrorCode::kNonFinite, "A range has an end that is not a finite number.", "",
                 "Look for NaN or infinity in the samples or the weights."};
  }
  if (range.min > range.max) {
    return Error{ErrorCode::kInvalidPolicy, "A range has its minimum above its maximum.", "",
                 "Swap its two ends."};
  }
  const std::optional<SmallFloat> small_float = small_float_of(format);
  if (small_float && symmetry == Symmetry::kAsymmetric) {
    return Error{
        ErrorCode::kInvalidPolicy,
        std::string(number_format_info(format).name) + " has no zero point, so a range for it is symmetric.",
        "", "Make the site symmetric, or choose an integer format."};
  }
  float min = std::min(range.min, 0.0F);
  float max = std::max(range.max, 0.0F);
  if (symmetry == Symmetry::kSymmetric) {
    max = std::max(-min, max);
    min = -max;
  }
  if (small_float) return small_float_params(*small_float, range_width(min, max), float8);
  const CodeRange codes = spread_codes(format, symmetry);
  const double lowest = codes.lowest;
  const double highest = codes.highest;
  const double scale = range_width(min, max) / (highest - lowest);
  if (scale < kSmallestNormal) return QuantParams{1.0F, 0};
  const double zero_point =
      symmetry == Symmetry::kSymmetric ? (lowest + highest) / 2.0 : lowest - static_cast<double>(min) / scale;
  return QuantParams{static_cast<float>(scale),
                     std::clamp(round_to_code(zero_point), codes.lowest, codes.highest)};
}

Result<std::vector<float>> symmetric_channel_scales(NumberFormat format, std::span<const float> magnitudes,
                                                    Float8Scale float8) {
  std::vector<float> scales;
  scales.reserve(magnitudes.size());
  for (std::size_t channel = 0; channel < magnitudes.size(); ++channel) {
    const float magnitude = magnitudes[channel];
    Result<QuantParams> params =
        params_from_range(format, Symmetry::kSymmetric, {-magnitude, magnitude}, float8);
    if (!params.ok()) {
      Error error = params.error();
      error.where = "channel " + std::to_string(channel);
      return error;
    }
    scales.push_back(params.value().scale);
  }
  return scales;
}

namespace {

// 2^31: the first magnitude whose code no int32 holds.
constexpr double kBiasLimit = 2147483648.0;

Error bias_error(ErrorCode code, std::string message, std::size_t channel) {
  return {code, std::move(message), "channel " + std::to_string(channel), "Leave this bias in float."};
}

Result<float> bias_scale(float input_scale, float weight_scale, std::size_t channel) {
  if (!std::isfinite(input_scale) || !std::isfinite(weight_scale)) {
    return bias_error(ErrorCode::kNonFinite, "A scale that a bias depends on is not a finite number.",
                      channel);
  }
  if (!(input_scale > 0.0F) || !(weight_scale > 0.0F)) {
    return bias_error(ErrorCode::kInvalidPolicy, "A scale that a bias depends on is not positive.", channel);
  }
  const float scale = input_scale * weight_scale;
  // A denormal product is one that the peer uses too: a channel that died in training has such scales.
  if (!std::isfinite(scale) || !(scale > 0.0F)) {
    return bias_error(ErrorCode::kTooLarge,
                      "The scales of input and weight multiply to something outside float32.", channel);
  }
  return scale;
}

Result<std::int32_t> bias_code(float bias, float scale, std::size_t channel) {
  if (!std::isfinite(bias)) {
    return bias_error(ErrorCode::kNonFinite, "The bias has a value that is not a finite number.", channel);
  }
  const double quotient = static_cast<double>(bias) / static_cast<double>(scale);
  if (!(std::fabs(quotient) < kBiasLimit)) {
    return bias_error(ErrorCode::kTooLarge,
                      "The bias is too large for int32 codes at the scale of input times weight.", channel);
  }
  // Rounding can't reach 2^31: a quotient of two float32 numbers below it is at most 2^31 (1 - 2^-24) = 2^31
  // - 128.
  return round_to_code(quotient);
}

}  // namespace

Result<QuantizedBias> quantize_bias(std::span<const float> bias, float input_scale,
                                    std::span<const float> weight_scales) {
  if (weight_scales.size() != 1 && weight_scales.size() != bias.size()) {
    return Error{ErrorCode::kShapeMismatch,
                 "A bias of " + std::to_string(bias.size()) + " elements can't use " +
                     std::to_string(weight_scales.size()) + " weight scales.",
                 "", "Give one scale, or one for each element."};
  }
  QuantizedBias out;
  out.scales.reserve(weight_scales.size());
  for (std::size_t channel = 0; channel < weight_scales.size(); ++channel) {
    const Result<float> scale = bias_scale(input_scale, weight_scales[channel], channel);
    if (!scale.ok()) return scale.error();
    out.scales.push_back(scale.value());
  }
  out.codes.reserve(bias.size());
  for (std::size_t i = 0; i < bias.size(); ++i) {
    const float scale = out.scales.size() == 1 ? out.scales[0] : out.scales[i];
    const Result<std::int32_t> code = bias_code(bias[i], scale, i);
    if (!code.ok()) return code.error();
    out.codes.push_back(code.value());
  }
  return out;
}

}  // namespace halftone
