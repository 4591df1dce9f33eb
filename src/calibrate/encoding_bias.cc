// Source: onnxruntime.quantization's int32 biases, without its widening of weight scales: a bias that doesn't
// fit stays float.
#include <utility>

#include "calibrate/bias_fit.h"
#include "halftone/quant_params.h"
#include "plan/constant_values.h"

namespace halftone {
namespace {

Error missing(const Site& site, const std::string& of) {
  return Error{ErrorCode::kInvalidState,
               "The bias \"" + printable(site.tensor) + "\" needs the scales of \"" + printable(of) +
                   "\", which has none yet.",
               printable(site.tensor), "Calibrate first, and encode weights before biases."};
}

}  // namespace

Result<Encoding> fitted_bias_encoding(const Model& model, const Site& site, const Encodings& encodings) {
  const BiasOf of = site.bias_of.value_or(BiasOf{});
  const Encoding* activation = encodings.find(of.activation);
  const Encoding* weight = encodings.find(of.weight);
  if (activation == nullptr || activation->scale.size() != 1) return missing(site, of.activation);
  if (weight == nullptr || weight->scale.empty()) return missing(site, of.weight);
  const Result<ConstantValues> bias = constant_values(model, site.tensor);
  if (!bias.ok()) return bias.error();
  Result<QuantizedBias> quantized =
      quantize_bias(copied(bias.value().values), activation->scale.front(), weight->scale);
  if (!quantized.ok()) {
    Error error = std::move(quantized).error();
    error.where = printable(site.tensor) + (error.where.empty() ? "" : ", " + error.where);
    return error;
  }
  Encoding encoding;
  encoding.format = NumberFormat::kInt32;
  encoding.axis = weight->axis >= 0 ? 0 : -1;
  encoding.scale = std::move(quantized.value().scales);
  encoding.zero_point.assign(encoding.scale.size(), 0);
  return encoding;
}

Result<Encoding> bias_encoding(const Model& model, const Site& site, const Encodings& encodings) {
  Result<Encoding> encoding = fitted_bias_encoding(model, site, encodings);
  if (encoding.ok() || encoding.error().code != ErrorCode::kTooLarge) return encoding;
  Error error = std::move(encoding).error();
  error.code = ErrorCode::kInvalidPolicy;
  return error;
}

}  // namespace halftone
