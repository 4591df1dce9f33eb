// Source: docs of onnxruntime.quantization's min-max calibration (float64, then float32); the arithmetic is
// params_from_range.
#include <utility>

#include "calibrate/site_params.h"
#include "halftone/encoding.h"

namespace halftone {

Float8Scale float8_scale_of(const Plan& plan) {
  return plan.match == "modelopt" ? Float8Scale::kModelOpt : Float8Scale::kWholeRange;
}

Result<QuantParams> site_params(const Site& site, ValueRange range, Float8Scale float8) {
  const Symmetry symmetry = site.symmetric ? Symmetry::kSymmetric : Symmetry::kAsymmetric;
  return site.aimet ? aimet_params(site.format, symmetry, *site.aimet, range)
                    : params_from_range(site.format, symmetry, range, float8);
}

Result<Encoding> activation_encoding(const Site& site, const MinMax& observed, Float8Scale float8) {
  const MinMax range = site.fixed_range ? MinMax{site.fixed_range->min, site.fixed_range->max} : observed;
  if (range.empty()) {
    return Error{ErrorCode::kNonFinite,
                 "No value of \"" + printable(site.tensor) + "\" was observed, so it has no range.",
                 printable(site.tensor), "Calibrate with at least one sample that reaches this tensor."};
  }
  const Result<QuantParams> params = site_params(site, {range.min, range.max}, float8);
  if (!params.ok()) {
    Error error = params.error();
    error.where = printable(site.tensor);
    return error;
  }
  Encoding encoding;
  encoding.format = site.format;
  encoding.scale = {params.value().scale};
  encoding.zero_point = {params.value().zero_point};
  encoding.min = {range.min};
  encoding.max = {range.max};
  return encoding;
}

}  // namespace halftone
