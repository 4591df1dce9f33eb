#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "halftone/metric.h"
#include "sensitivity/metric_score.h"

namespace halftone {
namespace {

Interval range_of_metric(MetricKind kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case MetricKind::kPsnr:
    case MetricKind::kTopkPsnr:
    case MetricKind::kSqnr:
      return {-100, 100};
    case MetricKind::kCosine:
      return {-1, 1};
    case MetricKind::kTop1:
      return {0, 1};
    case MetricKind::kMse:
    case MetricKind::kKl:
      break;
  }
  return {0, kInfinity};
}

// The scores without each of the samples: what is in front of it merged with what is behind it.
std::vector<double> left_out_scores(MetricKind kind, std::span<const MetricTerms> terms,
                                    std::size_t tensors) {
  const std::size_t samples = terms.size() / tensors;
  std::vector<MetricTerms> behind(terms.size() + tensors);
  for (std::size_t at = samples * tensors; at-- > 0;)
    behind[at] = merged_terms(kind, terms[at], behind[at + tensors]);
  std::vector<MetricTerms> before(tensors);
  std::vector<double> scores(tensors);
  std::vector<double> out;
  out.reserve(samples);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
      const std::size_t at = sample * tensors + tensor;
      scores[tensor] = score_of(kind, merged_terms(kind, before[tensor], behind[at + tensors]));
      before[tensor] = merged_terms(kind, before[tensor], terms[at]);
    }
    out.push_back(worst_score(scores, higher_is_worse(kind)));
  }
  return out;
}

}  // namespace

std::optional<Interval> jackknife_interval(double score, std::span<const double> left_out,
                                           double confidence) {
  if (left_out.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(left_out.size());
  const double mean = std::accumulate(left_out.begin(), left_out.end(), 0.0) / count;
  double squares = 0;
  for (const double value : left_out) squares += (value - mean) * (value - mean);
  const double half = student_t(confidence, left_out.size() - 1) * std::sqrt((count - 1) / count * squares);
  if (!std::isfinite(score) || !std::isfinite(half)) return std::nullopt;
  return Interval{score - half, score + half};
}

std::optional<Interval> metric_interval(MetricKind kind, std::span<const MetricTerms> terms,
                                        std::size_t tensors, double confidence) {
  const Result<double> score = metric_score(kind, terms, tensors);
  if (!score.ok()) return std::nullopt;
  std::optional<Interval> interval =
      jackknife_interval(score.value(), left_out_scores(kind, terms, tensors), confidence);
  if (!interval) return std::nullopt;
  const Interval range = range_of_metric(kind);
  return Interval{std::max(interval->low, range.low), std::min(interval->high, range.high)};
}

}  // namespace halftone
