// Scale and zero point by the formula that a site asks for.
#pragma once

#include "halftone/plan.h"
#include "halftone/quant_params.h"

namespace halftone {

// Errors: as params_from_range and aimet_params.
Result<QuantParams> site_params(const Site& site, ValueRange range, Float8Scale float8);

}  // namespace halftone
