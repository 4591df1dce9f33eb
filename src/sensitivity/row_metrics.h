// Metrics over rows along a tensor's last axis: topk-psnr, kl and top1.
#pragma once

#include <cstdint>
#include <span>

#include "halftone/metric.h"
#include "halftone/result.h"

namespace halftone {

// As metric_terms, for these kinds.
Result<MetricTerms> row_terms(const Metric& metric, std::span<const float> expected,
                              std::span<const float> actual, std::int64_t last_dim);

// kNonFinite with the place of the first NaN or infinity. Precondition: there is one.
Error expected_not_finite(std::span<const float> expected);

// As metric_terms, for kPsnr.
Result<MetricTerms> psnr_terms(std::span<const float> expected, std::span<const float> actual);

}  // namespace halftone
