// From the policy's marks to the sites and input decisions of a plan.
#pragma once

#include "plan/target_rules.h"
#include "plan/tensorrt/policy.h"

namespace halftone::tensorrt {

// One site for every float tensor that an input of a quantizable operator reads, quantized or not, and one
// decision for every input of every node. Constants that several nodes read get one site; where their marks
// want different axes, one scale. With the peer's view a constant that isn't an initializer is an activation:
// here a weight with one scale that all its readers share, which is the same numbers. Linear in nodes and
// edges.
TargetDecisions sites_of(const PolicyGraph& graph, const Policy& policy, const PolicyOptions& options,
                         const PlanContext& context);

}  // namespace halftone::tensorrt
