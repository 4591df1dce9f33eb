// The targets there are.
#pragma once

#include <span>

#include "plan/target_rules.h"

namespace halftone {

// In the order in which messages list them.
std::span<const TargetRules* const> all_target_rules();

const TargetRules& target_rules(Target target);

// One declaration per target_*.cc.
extern const TargetRules kAimetTarget;
extern const TargetRules kOnnxRuntimeTarget;
extern const TargetRules kTensorRTTarget;

}  // namespace halftone
