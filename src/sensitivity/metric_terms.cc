// What one sample adds, for the metrics that look at all values alike.
#include <cmath>
#include <string>

#include "halftone/metric.h"
#include "halftone/statistics.h"
#include "sensitivity/metric_layout.h"
#include "sensitivity/row_metrics.h"

namespace halftone {
namespace {

Result<MetricTerms> sum_terms(MetricKind kind, std::span<const float> expected,
                              std::span<const float> actual) {
  const Result<ErrorSums> summed = error_sums(FloatView(expected), FloatView(actual));
  if (!summed.ok()) return summed.error();
  const ErrorSums& sums = summed.value();
  if (!std::isfinite(sums.expected_squares)) return expected_not_finite(expected);
  MetricTerms out{};
  out[terms::kCount] = static_cast<double>(sums.count);
  if (!std::isfinite(sums.actual_squares)) {
    out[terms::kBroken] = 1;
    return out;
  }
  if (kind != MetricKind::kCosine) out[terms::kErrorSquares] = sums.error_squares;
  if (kind != MetricKind::kMse) out[terms::kExpectedSquares] = sums.expected_squares;
  if (kind == MetricKind::kCosine) {
    out[terms::kActualSquares] = sums.actual_squares;
    out[terms::kProducts] = sums.products;
  }
  return out;
}

}  // namespace

Error expected_not_finite(std::span<const float> expected) {
  const std::uint64_t first = range_of(FloatView(expected)).first_non_finite;
  return Error{ErrorCode::kNonFinite,
               "The float model's output holds NaN or infinity at element " + std::to_string(first) + ".", "",
               "Look at the sample: a float model that fails on it can't be compared with."};
}

Result<MetricTerms> psnr_terms(std::span<const float> expected, std::span<const float> actual) {
  Result<MetricTerms> summed = sum_terms(MetricKind::kMse, expected, actual);
  if (!summed.ok() || expected.empty()) return summed;
  const RangeStatistics range = range_of(FloatView(expected));
  summed.value()[terms::kMin] = static_cast<double>(range.min);
  summed.value()[terms::kMax] = static_cast<double>(range.max);
  return summed;
}

Result<MetricTerms> metric_terms(const Metric& metric, std::span<const float> expected,
                                 std::span<const float> actual, std::int64_t last_dim) {
  switch (metric.kind) {
    case MetricKind::kPsnr:
      return psnr_terms(expected, actual);
    case MetricKind::kTopkPsnr:
    case MetricKind::kKl:
    case MetricKind::kTop1:
      return row_terms(metric, expected, actual, last_dim);
    case MetricKind::kSqnr:
    case MetricKind::kCosine:
    case MetricKind::kMse:
      break;
  }
  return sum_terms(metric.kind, expected, actual);
}

}  // namespace halftone
