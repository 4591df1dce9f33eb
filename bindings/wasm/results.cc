#include "results.h"

#include <utility>
#include <vector>

#include "conversions.h"
#include "halftone/exchange.h"
#include "halftone/sensitivity_results.h"

namespace halftone::wasm {

val rank_results(const std::string& results_json) {
  return guarded([&] {
    Result<SensitivityResults> results = sensitivity_from_json(results_json);
    if (!results.ok()) return failure(results.error());
    complete_results(results.value());
    return success(val(sensitivity_to_json(results.value())));
  });
}

val merge_results_of(const val& texts) {
  return guarded([&] {
    std::vector<SensitivityResults> parts;
    for (const std::string& text : strings_from_js(texts)) {
      Result<SensitivityResults> part = sensitivity_from_json(text);
      if (!part.ok()) return failure(part.error());
      parts.push_back(std::move(part).value());
    }
    // One text alone is read as it is, a stopped or single shard included: a sweep goes on from it.
    if (parts.size() == 1) return success(val(sensitivity_to_json(parts.front())));
    const Result<SensitivityResults> merged = merge_results(parts);
    return merged.ok() ? success(val(sensitivity_to_json(merged.value()))) : failure(merged.error());
  });
}

val compare_results_of(const std::string& before_json, const std::string& after_json) {
  return guarded([&] {
    const Result<SensitivityResults> before = sensitivity_from_json(before_json);
    if (!before.ok()) return failure(before.error());
    const Result<SensitivityResults> after = sensitivity_from_json(after_json);
    if (!after.ok()) return failure(after.error());
    const Result<ResultsComparison> compared = compare_results(before.value(), after.value());
    return compared.ok() ? success(val(comparison_to_json(compared.value()))) : failure(compared.error());
  });
}

}  // namespace halftone::wasm
