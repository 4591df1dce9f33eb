#include <string>
#include <string_view>
#include <unordered_map>

#include "halftone/sensitivity_results.h"
#include "sensitivity/results_facts.h"

namespace halftone {
namespace {

Result<void> check_comparable(const SensitivityResults& before, const SensitivityResults& after) {
  if (before.metric.empty() || after.metric.empty()) return {};
  const std::string next = "Compare sweeps of the same metric.";
  if (before.metric != after.metric || before.k != after.k)
    return Error{ErrorCode::kInvalidPolicy,
                 "The results are of different metrics, " + printable(before.metric) +
                     (before.k ? " with k " + std::to_string(*before.k) : "") + " and " +
                     printable(after.metric) + (after.k ? " with k " + std::to_string(*after.k) : "") + ".",
                 "metric", next};
  if (before.higher_is_worse != after.higher_is_worse)
    return Error{ErrorCode::kInvalidPolicy, "The results rank in opposite directions.", "higher_is_worse",
                 next};
  return {};
}

std::vector<Warning> differences(const SensitivityResults& before, const SensitivityResults& after) {
  std::vector<Warning> warnings;
  const std::vector<ResultsFact> old_facts = results_facts(before);
  const std::vector<ResultsFact> new_facts = results_facts(after);
  for (std::size_t i = 0; i < old_facts.size(); ++i) {
    if (!old_facts[i].of_the_scores || old_facts[i].value == new_facts[i].value) continue;
    warnings.push_back({"results_differ",
                        "The second result is of another " + std::string(old_facts[i].what) +
                            ", so a difference of scores may come from that.",
                        std::string(old_facts[i].what)});
  }
  return warnings;
}

}  // namespace

std::optional<double> RowChange::difference() const {
  if (!before || !after) return std::nullopt;
  return *after - *before;
}

Result<ResultsComparison> compare_results(const SensitivityResults& before, const SensitivityResults& after) {
  if (const Result<void> checked = check_comparable(before, after); !checked.ok()) return checked.error();
  const SensitivityResults& known = after.metric.empty() ? before : after;
  ResultsComparison out{known.metric, known.higher_is_worse, {}, {}, {}, differences(before, after)};
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < before.ranking.size(); ++i) places.emplace(before.ranking[i].name, i);
  for (std::size_t i = 0; i < after.ranking.size(); ++i) {
    const ScoredSite& row = after.ranking[i];
    RowChange change{row.name, std::nullopt, row.score, 0, static_cast<std::int64_t>(i + 1)};
    const auto found = places.find(row.name);
    if (found == places.end()) {
      out.only_after.push_back(std::move(change));
      continue;
    }
    change.before = before.ranking[found->second].score;
    change.rank_before = static_cast<std::int64_t>(found->second + 1);
    out.both.push_back(std::move(change));
    places.erase(found);
  }
  for (std::size_t i = 0; i < before.ranking.size(); ++i) {
    const ScoredSite& row = before.ranking[i];
    if (places.contains(row.name))
      out.only_before.push_back({row.name, row.score, std::nullopt, static_cast<std::int64_t>(i + 1), 0});
  }
  return out;
}

}  // namespace halftone
