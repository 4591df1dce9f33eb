// ModelOpt's build_non_residual_input_map: which input of an Add belongs to the convolution that the Add is
// fused with. That input stays unquantized; the skip branch gets the Q/DQ pair.
#pragma once

#include <vector>

#include "plan/tensorrt/fusible_backbone.h"
#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

// An edge of the graph that has to read the raw tensor.
struct RawEdge {
  NodeId producer = kNone;
  NodeId consumer = kNone;
  TensorId tensor = kNone;
};

struct NonResidualInputs {
  std::vector<TensorId>
      of_node;  // by node: for an Add its non-residual input, else kNone (also where the Add has none)
  std::vector<RawEdge> edges;  // one for every Add that has one, in graph order
};

// For every Add with two variable, produced inputs, with backbones B1, B2 of their producers P1, P2 and their
// lowest common ancestor L at distances d1, d2: the same backbone -> none; two backbones -> input 0 if d1 >
// d2, else input 1; only one -> that input, unless L is that backbone itself (a branch that hangs off it);
// none -> none. Linear but for the walks between an Add's branches.
NonResidualInputs build_non_residual_input_map(const PolicyGraph& graph, FusibleBackbone& backbone);

}  // namespace halftone::tensorrt
