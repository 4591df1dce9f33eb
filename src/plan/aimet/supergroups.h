// Chains of nodes that a backend runs as one, so that only the last one's output is quantized.
#pragma once

#include <vector>

#include "halftone/aimet_config.h"
#include "halftone/graph.h"

namespace halftone::aimet {

// By node: the node that follows it in its supergroup; kNone for the last of a supergroup, and for nodes that
// are in none. Longer patterns go first, then those that come first in the configuration; a node is in one
// supergroup at most. Inside a chain a node has one output, which one node reads once and nothing else does.
// Convolutions of three dimensions and depthwise ones are in none. Linear in nodes for each pattern.
std::vector<NodeId> supergroup_successors(const Graph& graph, const AimetConfig& config);

// The pass MatmulAdd, by node: for a MatMul whose product only an Add of a constant vector reads, that Add.
std::vector<NodeId> matmul_bias_adds(const Graph& graph, const AimetConfig& config);

// The input at which such an Add reads its constant vector.
std::int32_t added_vector(const Graph& graph, NodeId add);

}  // namespace halftone::aimet
