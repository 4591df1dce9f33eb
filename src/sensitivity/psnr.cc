#include "halftone/sensitivity.h"
#include "sensitivity/metric_layout.h"

namespace halftone {

Result<void> PsnrAccumulator::add(std::span<const float> expected, std::span<const float> actual) {
  const Result<MetricTerms> fresh = metric_terms({MetricKind::kPsnr}, expected, actual, 1);
  if (!fresh.ok()) return fresh.error();
  terms_ = merged_terms(MetricKind::kPsnr, terms_, fresh.value());
  return {};
}

void PsnrAccumulator::merge(const PsnrAccumulator& other) {
  terms_ = merged_terms(MetricKind::kPsnr, terms_, other.terms_);
}

Result<double> PsnrAccumulator::score() const {
  return metric_score(MetricKind::kPsnr, std::span<const MetricTerms>(&terms_, 1));
}

bool PsnrAccumulator::saw_non_finite() const { return terms_[terms::kBroken] > 0; }

}  // namespace halftone
