#include <algorithm>
#include <cmath>
#include <string>

#include "halftone/sensitivity.h"
#include "halftone/statistics.h"

namespace halftone {
namespace {

constexpr double kEpsilon = 1e-10;       // smallest peak
constexpr double kLimitDb = 100.0;       // scores are clipped to ± this
constexpr double kSmallestRmse = 1e-15;  // kEpsilon * 10^(-kLimitDb / 20)

}  // namespace

Result<void> PsnrAccumulator::add(std::span<const float> expected, std::span<const float> actual) {
  const Result<ErrorSums> sums = error_sums(FloatView(expected), FloatView(actual));
  if (!sums.ok()) return sums.error();
  const RangeStatistics range = range_of(FloatView(expected));
  if (!range.all_finite())
    return Error{ErrorCode::kNonFinite,
                 "The float model's output holds NaN or infinity at element " +
                     std::to_string(range.first_non_finite) + ".",
                 "",
                 "Look at the sample: a float model that fails on it can't be "
                 "compared with."};
  if (!std::isfinite(sums.value().actual_squares)) non_finite_ = true;
  squared_error_ += sums.value().error_squares;
  if (range.has_range()) {
    min_ = count_ == 0 ? range.min : std::min(min_, static_cast<double>(range.min));
    max_ = count_ == 0 ? range.max : std::max(max_, static_cast<double>(range.max));
  }
  count_ += range.count;
  return {};
}

void PsnrAccumulator::merge(const PsnrAccumulator& other) {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  squared_error_ += other.squared_error_;
  count_ += other.count_;
  non_finite_ = non_finite_ || other.non_finite_;
}

Result<double> PsnrAccumulator::score() const {
  if (count_ == 0)
    return Error{ErrorCode::kInvalidState, "No outputs were compared, so there is no PSNR.", "",
                 "Give at least one sample, and score a tensor that has elements."};
  if (non_finite_) return -kLimitDb;
  const double peak = std::max({max_ - min_, std::abs(min_), std::abs(max_), kEpsilon});
  const double rmse = std::max(std::sqrt(squared_error_ / static_cast<double>(count_)), kSmallestRmse);
  return std::clamp(20.0 * std::log10(peak / rmse), -kLimitDb, kLimitDb);
}

}  // namespace halftone
