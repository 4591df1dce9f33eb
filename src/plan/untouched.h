// What targets leave alone: operators of other domains (aimet doesn't), and the bodies of control flow.
#pragma once

#include <vector>

#include "halftone/graph.h"
#include "halftone/result.h"

namespace halftone {

// A warning "custom_domain" for each domain besides the default one, in order of names, and one
// "subgraph_not_planned" if there are bodies. Linear in nodes.
void warn_of_untouched(const Graph& graph, std::vector<Warning>& warnings);

// The latter alone.
void warn_of_bodies(const Graph& graph, std::vector<Warning>& warnings);

}  // namespace halftone
