#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>

#include "halftone/mixed_precision.h"
#include "plan/wording.h"

namespace halftone {
namespace {

Error choice_error(std::string message, std::string where) {
  return Error{ErrorCode::kInvalidPolicy, std::move(message), std::move(where),
               "Choose the worst N rows, a percentage, all worse than a score, or names."};
}

std::vector<std::string> first_of(const std::vector<ScoredSite>& rows, double count) {
  const std::size_t taken =
      count >= static_cast<double>(rows.size()) ? rows.size() : static_cast<std::size_t>(count);
  std::vector<std::string> names;
  names.reserve(taken);
  for (std::size_t i = 0; i < taken; ++i) names.push_back(rows[i].name);
  return names;
}

Result<std::vector<std::string>> known_names(std::span<const ScoredSite> ranking,
                                             const std::vector<std::string>& names) {
  std::unordered_set<std::string_view> known;
  for (const ScoredSite& row : ranking) known.insert(row.name);
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    return Error{ErrorCode::kInvalidPolicy, "The ranking has no row " + quoted(name) + ".", printable(name),
                 "Take names from the ranking's first column."};
  }
  return names;
}

std::vector<std::string> beyond(const std::vector<ScoredSite>& rows, double threshold, bool higher_is_worse) {
  std::vector<std::string> names;
  for (const ScoredSite& row : rows) {
    const bool worse = higher_is_worse ? row.score > threshold : row.score < threshold;
    if (worse || std::isnan(row.score)) names.push_back(row.name);
  }
  return names;
}

std::optional<NumberFormat> format_or(std::string_view name) {
  const std::optional<NumberFormat> format = number_format_from_name(name);
  return format && (is_quantize_format(*format) || *format == NumberFormat::kFloat32) ? format : std::nullopt;
}

Error no_precision(std::string_view role, std::string_view name) {
  return Error{ErrorCode::kInvalidPolicy,
               "There is no precision \"" + printable(name) + "\" for " + std::string(role) + ".",
               std::string(role),
               role == "weights" ? "Take a format such as int16, float32, or channel."
                                 : "Take a format such as uint16, or float32."};
}

}  // namespace

Result<Precision> precision_from_names(std::string_view activations, std::string_view weights) {
  Precision to;
  if (activations.empty() && weights.empty()) {
    return Error{ErrorCode::kInvalidPolicy, "No precision is given to flip to.", "to",
                 "Name a format for weights, activations or both."};
  }
  if (!activations.empty() && !(to.activations = format_or(activations)))
    return no_precision("activations", activations);
  to.weights_per_channel = weights == "channel";
  if (!weights.empty() && !to.weights_per_channel && !(to.weights = format_or(weights)))
    return no_precision("weights", weights);
  return to;
}

Result<std::vector<std::string>> rows_to_flip(std::span<const ScoredSite> ranking, bool higher_is_worse,
                                              const FlipChoice& choice) {
  const int given =
      static_cast<int>(choice.worst.has_value()) + static_cast<int>(choice.percent.has_value()) +
      static_cast<int>(choice.threshold.has_value()) + static_cast<int>(choice.names.has_value());
  if (given != 1)
    return choice_error(
        given == 0 ? "Nothing says which rows to flip." : "There is more than one choice of rows.", "");
  if (choice.names) return known_names(ranking, *choice.names);
  std::vector<ScoredSite> rows(ranking.begin(), ranking.end());
  rank(rows, higher_is_worse);
  if (choice.worst) {
    if (!(*choice.worst >= 0) || std::floor(*choice.worst) != *choice.worst)
      return choice_error("The number of rows to flip has to be a whole number from 0.", "worst");
    return first_of(rows, *choice.worst);
  }
  if (choice.percent) {
    const Result<std::size_t> count = flip_count(rows.size(), *choice.percent);
    if (!count.ok()) return count.error();
    return first_of(rows, static_cast<double>(count.value()));
  }
  if (std::isnan(*choice.threshold)) return choice_error("The threshold has to be a number.", "threshold");
  return beyond(rows, *choice.threshold, higher_is_worse);
}

}  // namespace halftone
