// Options that mean nothing to a target, and formats that several targets take.
#pragma once

#include <string_view>

#include "plan/target_rules.h"

namespace halftone {

// The first option that is set but belongs to other targets than `target`, the name of one. Errors:
// kInvalidPolicy.
Result<void> check_foreign_options(const PlanOptions& options, std::string_view target);

// Activations of 8 or 16 bits, weights of 4 to 16, integers both. Errors: kInvalidPolicy.
Result<void> check_integer_formats(const TargetFormats& formats, std::string_view target);

}  // namespace halftone
