#include <algorithm>
#include <cmath>
#include <vector>

#include "halftone/sensitivity.h"

namespace halftone {

void rank(std::vector<ScoredSite>& rows, bool higher_is_worse) {
  std::stable_sort(rows.begin(), rows.end(), [higher_is_worse](const ScoredSite& a, const ScoredSite& b) {
    if (std::isnan(a.score) || std::isnan(b.score)) return std::isnan(a.score) && !std::isnan(b.score);
    return higher_is_worse ? a.score > b.score : a.score < b.score;
  });
}

}  // namespace halftone
