// Records of the core as JavaScript objects.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/print_stat.h"
#include "halftone/statistics.h"
#include "halftone/tensor_report.h"

namespace halftone::wasm {

// {tensor, count, min, max, histogram, clipped, sqnr}
emscripten::val tensor_report_to_js(const std::string& tensor, const TensorReport& report);
// {psnr, max_abs_error, sqnr, mse, cosine}; null where a number is not finite.
emscripten::val comparison_to_js(double psnr, const ErrorSums& sums);
// Operator type -> number of nodes with at least one quantized input.
emscripten::val quantized_type_counts_to_js(const QuantizedNodeStatistics& statistics);
// [{group, branches: [{tensor, growth}]}]: by which factor sharing a scale made each branch's steps larger;
// null where a branch has no range of its own.
emscripten::val scale_growth_to_js(const std::vector<BranchGrowth>& growth);
// {quantized, byRule: {rule: count}, floatByRule: {rule: count}}: quantized sites, and those left in float.
emscripten::val site_counts_to_js(const Plan& plan);
// Element type -> bytes of the model's constants (initializers and Constant nodes of the main graph).
emscripten::val sizes_by_type_to_js(const Model& model);

}  // namespace halftone::wasm
