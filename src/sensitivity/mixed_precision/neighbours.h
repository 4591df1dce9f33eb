// What backends make of operands at different precisions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "halftone/graph.h"
#include "halftone/plan.h"

namespace halftone {

// One warning for each kind of trouble, naming the nodes (the first of them in `where`) that read one of the
// `changed` tensors and that the plan's target would reject, or run in float between its pairs.
void warn_of_neighbours(const Graph& graph, const Plan& plan, std::span<const std::string> changed,
                        std::vector<Warning>& warnings);

}  // namespace halftone
