#include <numeric>
#include <vector>

#include "halftone/metric.h"

namespace halftone {
namespace {

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

Result<double> user_score(const UserMetric& metric, std::span<const double> values) {
  if (values.empty())
    return Error{ErrorCode::kInvalidState, "No sample was scored, so there is no score.", "",
                 "Give at least one sample."};
  return metric.combine ? metric.combine(values) : sum_of(values) / static_cast<double>(values.size());
}

std::optional<Interval> user_interval(const UserMetric& metric, std::span<const double> values,
                                      double confidence) {
  if (values.size() < 2) return std::nullopt;
  std::vector<double> left_out(values.size());
  if (metric.combine) {
    std::vector<double> others(values.begin() + 1, values.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
      left_out[i] = metric.combine(others);
      if (i < others.size()) others[i] = values[i];
    }
  } else {
    const double sum = sum_of(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      left_out[i] = (sum - values[i]) / static_cast<double>(values.size() - 1);
  }
  return jackknife_interval(user_score(metric, values).value(), left_out, confidence);
}

}  // namespace halftone
