#include "plan/constant_codes.h"

#include <utility>

#include "halftone/quant_grid.h"
#include "halftone/quant_params.h"
#include "plan/code_bytes.h"
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

Result<ConstantCodes> simulated_bias(const ConstantValues& bias, const Encoding& encoding) {
  const Result<ConstantCodes> codes = bias_codes(bias, encoding);
  if (!codes.ok()) return codes;
  const Result<QuantGrid> grid = grid_of(bias, encoding);
  if (!grid.ok()) return grid.error();
  ConstantCodes values{bias.dims, std::vector<std::uint8_t>(bias.values.size() * sizeof(float))};
  const Result<MutableFloatView> target = MutableFloatView::from_bytes(values.bytes);
  if (!target.ok()) return target.error();
  const Result<void> done = dequantize(codes.value().bytes, grid.value(), target.value());
  if (!done.ok()) return done.error();
  return values;
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

Result<ConstantCodes> converted(const Model& model, const Site& site, const Encoding& encoding,
                                Conversion of_bias, Conversion of_weight) {
  const Result<ConstantValues> constant = constant_values(model, site.tensor);
  if (!constant.ok()) return constant.error();
  Result<ConstantCodes> result = (site.role == Role::kBias ? of_bias : of_weight)(constant.value(), encoding);
  if (!result.ok()) return at_site(std::move(result).error(), site);
  return result;
}

}  // namespace

Result<ConstantCodes> constant_codes(const Model& model, const Site& site, const Encoding& encoding) {
  return converted(model, site, encoding, bias_codes, weight_codes);
}

Result<ConstantCodes> simulated_values(const Model& model, const Site& site, const Encoding& encoding) {
  return converted(model, site, encoding, simulated_bias, simulated_weight);
}

}  // namespace halftone
