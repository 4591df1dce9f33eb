// Nodes that ModelOpt's policy never quantizes because TensorRT has kernels of its own for the pattern around
// them.
#pragma once

#include <vector>

#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

struct OffLimits {
  std::vector<NodeId> gelu;  // Div Erf Add Mul Mul, directly one behind the other
  std::vector<NodeId>
      layer_norm;  // LayerNormalization, or its parts: ReduceMean Sub Pow ReduceMean Add Sqrt Div [Mul Add]
  std::vector<NodeId> attention;  // MatMul Add(variable mask) Softmax MatMul, nothing in between
};

// ModelOpt's find_non_quantizable_partitions_from_patterns. A root-mean-square norm (no Sub) is not
// recognised, as in the peer.
OffLimits find_off_limits(const PolicyGraph& graph);

// MatMul, Softmax, MatMul with only scaling, masks and shape changes between: the attentions that the
// automatic exclusions look at.
struct AttentionTriple {
  NodeId first = kNone;
  NodeId softmax = kNone;
  NodeId second = kNone;
};
std::vector<AttentionTriple> find_attention_triples(const PolicyGraph& graph);

}  // namespace halftone::tensorrt
