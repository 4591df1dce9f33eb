// Who produces what a graph reads: name resolution, single assignment and order, for the main graph and every
// subgraph in it.
//
// Linear in names (times the nesting depth); no recursion deeper than kMaxSubgraphDepth.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halftone/graph.h"
#include "halftone/result.h"
#include "model/onnx_messages.h"

namespace halftone {

// Bodies of If, Loop and Scan inside each other. Real models stay below ten.
inline constexpr int kMaxSubgraphDepth = 32;

struct GraphScopes {
  // For each node of the main graph: the main graph's tensors that its bodies read, each once. Views into the
  // graph.
  std::vector<std::vector<std::string_view>> captures;
  std::vector<NodeId> order;  // a topological order; 0, 1, 2, … where the file's order is one
  bool in_file_order = true;
};

// Errors: kInvalidGraph for a name that two places define, an input or graph output that nothing produces, a
// cycle; kTooLarge for bodies nested deeper than kMaxSubgraphDepth. All in the main graph and in subgraphs.
Result<GraphScopes> resolve_scopes(const onnx::GraphProto& graph);

// The subgraphs that a node owns, in attribute order.
std::vector<const onnx::GraphProto*> bodies(const onnx::NodeProto& node);

// For messages: `"conv1" (Conv)`, or `"@first_output" (Conv)` for a nameless node. Safe to print.
std::string describe_node(const onnx::NodeProto& node);

// "ai.onnx" is another spelling of the default domain "".
std::string_view canonical_domain(std::string_view domain);

}  // namespace halftone
