#include "sensitivity/metric_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sensitivity/metric_layout.h"

namespace halftone {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestPeak = 1e-10;
constexpr double kLimitDb = 100.0;
constexpr double kSmallestRmse = 1e-15;  // kSmallestPeak * 10^(-kLimitDb / 20)

double psnr(const MetricTerms& sums) {
  if (sums[terms::kBroken] > 0) return -kLimitDb;
  const double min = sums[terms::kMin];
  const double max = sums[terms::kMax];
  const double peak = std::max({max - min, std::abs(min), std::abs(max), kSmallestPeak});
  const double rmse = std::max(std::sqrt(sums[terms::kErrorSquares] / sums[terms::kCount]), kSmallestRmse);
  return std::clamp(20.0 * std::log10(peak / rmse), -kLimitDb, kLimitDb);
}

double sqnr(const MetricTerms& sums) {
  if (sums[terms::kBroken] > 0) return -kLimitDb;
  if (sums[terms::kErrorSquares] == 0) return kLimitDb;
  if (sums[terms::kExpectedSquares] == 0) return -kLimitDb;
  return std::clamp(10.0 * std::log10(sums[terms::kExpectedSquares] / sums[terms::kErrorSquares]), -kLimitDb,
                    kLimitDb);
}

double cosine(const MetricTerms& sums) {
  if (sums[terms::kBroken] > 0) return -1;
  const double expected = sums[terms::kExpectedSquares];
  const double actual = sums[terms::kActualSquares];
  if (expected == 0 || actual == 0) return expected == actual ? 1 : 0;
  return std::clamp(sums[terms::kProducts] / std::sqrt(expected * actual), -1.0, 1.0);
}

}  // namespace

MetricTerms merged_terms(MetricKind kind, const MetricTerms& terms, const MetricTerms& next) {
  MetricTerms out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = terms[i] + next[i];
  if (!terms::has_extremes(kind)) return out;
  if (terms[terms::kCount] == 0 || next[terms::kCount] == 0) return out;
  out[terms::kMin] = std::min(terms[terms::kMin], next[terms::kMin]);
  out[terms::kMax] = std::max(terms[terms::kMax], next[terms::kMax]);
  return out;
}

double score_of(MetricKind kind, const MetricTerms& sums) {
  const double count = sums[terms::kCount];
  if (count == 0) return kNaN;
  switch (kind) {
    case MetricKind::kPsnr:
    case MetricKind::kTopkPsnr:
      return psnr(sums);
    case MetricKind::kSqnr:
      return sqnr(sums);
    case MetricKind::kCosine:
      return cosine(sums);
    case MetricKind::kMse:
    case MetricKind::kKl:
      // The error's squares of one, the divergences of the other.
      return sums[terms::kBroken] > 0 ? kNaN : sums[terms::kErrorSquares] / count;
    case MetricKind::kTop1:
      return sums[terms::kRowSum] / count;
  }
  return kNaN;
}

double worst_score(std::span<const double> scores, bool higher_is_worse) {
  if (scores.empty()) return kNaN;
  double worst = scores[0];
  for (const double score : scores) {
    if (std::isnan(score)) return kNaN;
    worst = higher_is_worse ? std::max(worst, score) : std::min(worst, score);
  }
  return worst;
}

Result<double> metric_score(MetricKind kind, std::span<const MetricTerms> terms, std::size_t tensors) {
  const Error nothing{ErrorCode::kInvalidState, "No outputs were compared, so there is no score.", "",
                      "Give at least one sample, and score a tensor that has elements."};
  std::vector<double> scores;
  for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
    MetricTerms sums{};
    for (std::size_t at = tensor; at < terms.size(); at += tensors)
      sums = merged_terms(kind, sums, terms[at]);
    if (sums[terms::kCount] == 0) return nothing;
    scores.push_back(score_of(kind, sums));
  }
  if (scores.empty()) return nothing;
  return worst_score(scores, higher_is_worse(kind));
}

}  // namespace halftone
