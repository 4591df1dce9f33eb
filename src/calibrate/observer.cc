#include "halftone/observer.h"

#include <algorithm>

#include "halftone/statistics.h"

namespace halftone {

void MinMaxObserver::observe(std::span<const float> values) {
  const RangeStatistics seen = range_of(FloatView(values));
  values_ += seen.count;
  non_finite_ += seen.nan_count + seen.infinity_count;
  if (!seen.all_finite()) first_non_finite_ = seen.first_non_finite;
  if (!seen.has_range()) return;
  range_.min = std::min(range_.min, seen.min);
  range_.max = std::max(range_.max, seen.max);
}

void MinMaxObserver::merge(const MinMaxObserver& other) {
  range_.min = std::min(range_.min, other.range_.min);
  range_.max = std::max(range_.max, other.range_.max);
  values_ += other.values_;
  non_finite_ += other.non_finite_;
  if (other.non_finite_ > 0) first_non_finite_ = other.first_non_finite_;
}

}  // namespace halftone
