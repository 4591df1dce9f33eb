#include <algorithm>
#include <cmath>
#include <string>

#include "halftone/sensitivity_results.h"

namespace halftone {
namespace {

constexpr std::string_view kClipped = "scores_clipped";

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

std::size_t clipped_rows(const SensitivityResults& results) {
  const Result<Metric> metric = metric_from_name(results.metric);
  const std::optional<double> limit = metric.ok() ? metric_limit(metric.value().kind) : std::nullopt;
  if (!limit) return 0;
  return static_cast<std::size_t>(
      std::count_if(results.ranking.begin(), results.ranking.end(),
                    [limit](const ScoredSite& row) { return std::abs(row.score) >= *limit; }));
}

Warning clip_warning(const SensitivityResults& results, std::size_t clipped) {
  const std::vector<std::string>& better = results.unsaturated;
  const std::string advice = better.empty() ? "Score a tensor nearer to the quantizers."
                                            : "Score " + joined(better) + " instead, which " +
                                                  (better.size() == 1 ? "does" : "do") + " not saturate.";
  return {std::string(kClipped),
          std::to_string(clipped) + " of " + std::to_string(results.ranking.size()) +
              " scores are at the limit of 100 dB and tell nothing. " + advice,
          joined(results.scored)};
}

}  // namespace

void complete_results(SensitivityResults& results) {
  rank(results.ranking, results.higher_is_worse);
  std::erase_if(results.warnings, [](const Warning& warning) { return warning.code == kClipped; });
  if (results.shard) return;
  const std::size_t clipped = clipped_rows(results);
  if (3 * clipped > results.ranking.size()) results.warnings.push_back(clip_warning(results, clipped));
  if (!results.partial) results.groups.reset();
}

}  // namespace halftone
