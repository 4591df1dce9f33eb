// What backends make of operands at different precisions.
#pragma once

#include <vector>

#include "halftone/graph.h"
#include "halftone/plan.h"

namespace halftone {

// One warning for each kind of trouble, naming the nodes (the first of them in `where`) that the plans'
// target would reject, change the meaning of, or run in float between its pairs, and that it didn't before.
// Precondition: two plans of one model and target.
void warn_of_neighbours(const Graph& graph, const Plan& before, const Plan& after,
                        std::vector<Warning>& warnings);

}  // namespace halftone
