#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "halftone/sensitivity_results.h"

namespace halftone {

void rank(std::vector<ScoredSite>& rows, bool higher_is_worse) {
  std::stable_sort(rows.begin(), rows.end(), [higher_is_worse](const ScoredSite& a, const ScoredSite& b) {
    const bool a_nan = std::isnan(a.score);
    const bool b_nan = std::isnan(b.score);
    if (a_nan != b_nan) return a_nan;
    if (!a_nan && a.score != b.score) return higher_is_worse ? a.score > b.score : a.score < b.score;
    return a.order < b.order;
  });
}

Result<std::size_t> flip_count(std::size_t count, double percent) {
  if (std::isnan(percent) || percent < 0)
    return Error{ErrorCode::kInvalidPolicy, "A share to flip can't be negative.", "percent",
                 "Give a percentage from 0 to 100."};
  const double wanted = std::ceil(static_cast<double>(count) * percent / 100.0);
  return wanted < static_cast<double>(count) ? static_cast<std::size_t>(wanted) : count;
}

}  // namespace halftone
