// From sums over samples to a score. Private to src/sensitivity.
#pragma once

#include "halftone/metric.h"

namespace halftone {

// The score of merged terms; NaN if nothing was compared.
double score_of(MetricKind kind, const MetricTerms& sums);

}  // namespace halftone
