// The contract's order of sites: graph inputs, then for each node in graph order its inputs, then its
// outputs; each tensor at its first appearance.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/graph.h"

namespace halftone {

// By tensor id: its place in that order; tensors that appear nowhere come last. O(nodes + edges).
std::vector<std::int32_t> contract_site_order(const Graph& graph);

}  // namespace halftone
