#include "plan/constant_codes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "halftone/code_bytes.h"
#include "halftone/quant_grid.h"
#include "halftone/quant_params.h"
#include "plan/constant_values.h"

namespace halftone {
namespace {

Error at_site(Error error, const Site& site) {
  error.where = printable(site.tensor) + (error.where.empty() ? "" : ", " + error.where);
  return error;
}

// Views `encoding`.
Result<QuantGrid> grid_of(const ConstantValues& constant, const Encoding& encoding) {
  QuantGrid grid{encoding.format, GridLayout::per_tensor(constant.values.size()), encoding.scale,
                 encoding.zero_point};
  if (encoding.axis < 0) return grid;
  const Result<GridLayout> layout = GridLayout::per_axis(constant.dims, encoding.axis);
  if (!layout.ok()) return layout.error();
  grid.layout = layout.value();
  return grid;
}

Result<ConstantCodes> bias_codes(const ConstantValues& bias, const Encoding& encoding) {
  // An input scale of 1 leaves the product of the scales, which the encoding has already, as it is.
  Result<QuantizedBias> quantized = quantize_bias(copied(bias.values), 1.0F, encoding.scale);
  if (!quantized.ok()) {
    Error error = std::move(quantized).error();
    if (error.code == ErrorCode::kTooLarge) error.code = ErrorCode::kInvalidPolicy;
    return error;
  }
  return ConstantCodes{bias.dims, code_bytes(NumberFormat::kInt32, quantized.value().codes)};
}

// AIMET's kernel, in float32: code counted from the lowest = round(x / scale - offset), half up, where x is
// first clamped to what the codes reach. Where QuantizeLinear rounds half to even this differs on ties.
std::vector<std::uint8_t> half_up_codes(const ConstantValues& weight, const QuantGrid& grid) {
  const NumberFormatInfo& format = number_format_info(grid.format);
  const auto last = static_cast<float>(format.highest - format.lowest);
  std::vector<std::int32_t> codes(weight.values.size());
  std::size_t index = 0;
  for (std::size_t outer = 0; outer < grid.layout.outer; ++outer) {
    for (std::size_t channel = 0; channel < grid.layout.channels; ++channel) {
      const float scale = grid.scales[channel];
      const auto offset = static_cast<float>(format.lowest - grid.zero_points[channel]);
      for (std::size_t inner = 0; inner < grid.layout.inner; ++inner, ++index) {
        const float x = std::clamp(weight.values[index], scale * offset, scale * (offset + last));
        const float code = std::clamp(std::round(x / scale - offset), 0.0F, last);
        codes[index] = format.lowest + static_cast<std::int32_t>(code);
      }
    }
  }
  return code_bytes(grid.format, codes);
}

Result<ConstantCodes> half_up_weight(const ConstantValues& weight, const Encoding& encoding) {
  const Result<QuantGrid> grid = grid_of(weight, encoding);
  if (!grid.ok()) return grid.error();
  return ConstantCodes{weight.dims, half_up_codes(weight, grid.value())};
}

Result<ConstantCodes> weight_codes(const ConstantValues& weight, const Encoding& encoding) {
  const Result<QuantGrid> grid = grid_of(weight, encoding);
  if (!grid.ok()) return grid.error();
  ConstantCodes codes{weight.dims, {}};
  codes.bytes.resize(
      static_cast<std::size_t>(code_byte_count(encoding.format, weight.values.size()).value_or(0)));
  const Result<void> done = quantize(weight.values, grid.value(), codes.bytes);
  if (!done.ok()) return done.error();
  return codes;
}

Result<ConstantCodes> decoded(const ConstantValues& constant, const Encoding& encoding,
                              const Result<ConstantCodes>& codes) {
  if (!codes.ok()) return codes;
  const Result<QuantGrid> grid = grid_of(constant, encoding);
  if (!grid.ok()) return grid.error();
  ConstantCodes values{constant.dims, std::vector<std::uint8_t>(constant.values.size() * sizeof(float))};
  const Result<MutableFloatView> target = MutableFloatView::from_bytes(values.bytes);
  if (!target.ok()) return target.error();
  const Result<void> done = dequantize(codes.value().bytes, grid.value(), target.value());
  if (!done.ok()) return done.error();
  return values;
}

Result<ConstantCodes> simulated_bias(const ConstantValues& bias, const Encoding& encoding) {
  return decoded(bias, encoding, bias_codes(bias, encoding));
}

Result<ConstantCodes> simulated_half_up(const ConstantValues& weight, const Encoding& encoding) {
  return decoded(weight, encoding, half_up_weight(weight, encoding));
}

Result<ConstantCodes> simulated_weight(const ConstantValues& weight, const Encoding& encoding) {
  const Result<QuantGrid> grid = grid_of(weight, encoding);
  if (!grid.ok()) return grid.error();
  ConstantCodes values{weight.dims, std::vector<std::uint8_t>(weight.values.size() * sizeof(float))};
  const Result<MutableFloatView> target = MutableFloatView::from_bytes(values.bytes);
  if (!target.ok()) return target.error();
  const Result<void> done = fake_quantize(weight.values, grid.value(), target.value());
  if (!done.ok()) return done.error();
  return values;
}

using Conversion = Result<ConstantCodes> (*)(const ConstantValues& constant, const Encoding& encoding);

struct Conversions {
  Conversion of_bias;
  Conversion of_weight;
  Conversion of_half_up;
};

Result<ConstantCodes> converted(const Model& model, const Site& site, const Encoding& encoding,
                                const Conversions& conversions) {
  const Result<ConstantValues> constant = constant_values(model, site.tensor);
  if (!constant.ok()) return constant.error();
  const bool half_up = site.aimet && site.aimet->half_up;
  const Conversion convert = site.role == Role::kBias ? conversions.of_bias
                             : half_up                ? conversions.of_half_up
                                                      : conversions.of_weight;
  Result<ConstantCodes> result = convert(constant.value(), encoding);
  if (!result.ok()) return at_site(std::move(result).error(), site);
  return result;
}

}  // namespace

Result<ConstantCodes> constant_codes(const Model& model, const Site& site, const Encoding& encoding) {
  return converted(model, site, encoding, {bias_codes, weight_codes, half_up_weight});
}

Result<ConstantCodes> simulated_values(const Model& model, const Site& site, const Encoding& encoding) {
  return converted(model, site, encoding, {simulated_bias, simulated_weight, simulated_half_up});
}

}  // namespace halftone
