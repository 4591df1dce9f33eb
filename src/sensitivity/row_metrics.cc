#include "sensitivity/row_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "sensitivity/metric_layout.h"

namespace halftone {
namespace {

Result<void> check_rows(std::size_t expected, std::size_t actual, std::int64_t last_dim) {
  const std::string next = "Compare outputs of the same shape.";
  if (expected != actual)
    return Error{
        ErrorCode::kShapeMismatch,
        "The outputs have " + std::to_string(expected) + " and " + std::to_string(actual) + " values.", "",
        next};
  if (expected == 0 || (last_dim > 0 && expected % static_cast<std::size_t>(last_dim) == 0)) return {};
  return Error{
      ErrorCode::kShapeMismatch,
      std::to_string(expected) + " values are no whole rows of " + std::to_string(last_dim) + " each.", "",
      next};
}

// Places of the `count` largest values, ascending; of equal values the first ones. NaN counts as the largest,
// so that it is found out. `places` holds all places of the row, in any order.
std::span<const std::size_t> largest(std::span<const float> row, std::size_t count,
                                     std::vector<std::size_t>& places) {
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto before = [row](std::size_t a, std::size_t b) {
    const bool a_nan = std::isnan(row[a]);
    const bool b_nan = std::isnan(row[b]);
    if (a_nan != b_nan) return a_nan;
    if (!a_nan && row[a] != row[b]) return row[a] > row[b];
    return a < b;
  };
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(places.begin(), end, places.end(), before);
  // In the row's order, whatever the library's nth_element leaves: sums depend on it.
  std::sort(places.begin(), end);
  return std::span<const std::size_t>(places).first(count);
}

Result<MetricTerms> topk_terms(std::span<const float> expected, std::span<const float> actual,
                               std::size_t length, std::size_t k) {
  if (k >= length) return psnr_terms(expected, actual);
  std::vector<std::size_t> places(length);
  std::vector<float> taken_expected;
  std::vector<float> taken_actual;
  taken_expected.reserve(expected.size() / length * k);
  taken_actual.reserve(expected.size() / length * k);
  for (std::size_t start = 0; start < expected.size(); start += length) {
    for (const std::size_t place : largest(expected.subspan(start, length), k, places)) {
      taken_expected.push_back(expected[start + place]);
      taken_actual.push_back(actual[start + place]);
    }
  }
  return psnr_terms(taken_expected, taken_actual);
}

bool all_finite(std::span<const float> row) {
  return std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); });
}

// With w = exp(e - max e), sum(w (e - a)) / sum(w) + log sum exp(a) - log sum exp(e): one pass behind the
// maxima, and exactly 0 for equal rows.
double divergence(std::span<const float> expected, std::span<const float> actual) {
  const auto top_expected = static_cast<double>(*std::max_element(expected.begin(), expected.end()));
  const auto top_actual = static_cast<double>(*std::max_element(actual.begin(), actual.end()));
  double weights = 0;
  double actual_weights = 0;
  double weighted = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto e = static_cast<double>(expected[i]);
    const auto a = static_cast<double>(actual[i]);
    const double weight = std::exp(e - top_expected);
    weights += weight;
    weighted += weight * (e - a);
    actual_weights += std::exp(a - top_actual);
  }
  const double normalizers = (top_actual + std::log(actual_weights)) - (top_expected + std::log(weights));
  return std::max(0.0, weighted / weights + normalizers);
}

bool agree(std::span<const float> expected, std::span<const float> actual) {
  return std::max_element(expected.begin(), expected.end()) - expected.begin() ==
         std::max_element(actual.begin(), actual.end()) - actual.begin();
}

MetricTerms sum_over_rows(MetricKind kind, std::span<const float> expected, std::span<const float> actual,
                          std::size_t length) {
  MetricTerms out{};
  for (std::size_t start = 0; start < expected.size(); start += length) {
    const std::span<const float> row = expected.subspan(start, length);
    const std::span<const float> other = actual.subspan(start, length);
    out[terms::kCount] += 1;
    const bool finite = all_finite(other);
    if (kind == MetricKind::kKl) {
      if (finite) out[terms::kRowSum] += divergence(row, other);
      if (!finite) out[terms::kBroken] = 1;
    } else if (finite && agree(row, other)) {
      out[terms::kRowSum] += 1;
    }
  }
  return out;
}

}  // namespace

Result<MetricTerms> row_terms(const Metric& metric, std::span<const float> expected,
                              std::span<const float> actual, std::int64_t last_dim) {
  if (const Result<void> rows = check_rows(expected.size(), actual.size(), last_dim); !rows.ok())
    return rows.error();
  if (expected.empty()) return MetricTerms{};
  const auto length = static_cast<std::size_t>(last_dim);
  if (metric.kind == MetricKind::kTopkPsnr)
    return topk_terms(expected, actual, length,
                      static_cast<std::size_t>(std::max<std::int64_t>(metric.k, 1)));
  if (length == 1)
    return Error{ErrorCode::kInvalidPolicy,
                 metric_title(metric) + " compares rows, and the scored tensor's last axis has one value.",
                 "", "Score the logits, or use another metric, such as psnr."};
  if (!all_finite(expected)) return expected_not_finite(expected);
  return sum_over_rows(metric.kind, expected, actual, length);
}

}  // namespace halftone
