// Which nodes read quantized data, and which edges of theirs stay raw: the assembly of ModelOpt's rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/tensorrt/exclusions.h"
#include "plan/tensorrt/partitions.h"
#include "plan/tensorrt/policy_graph.h"
#include "plan/tensorrt/residual.h"

namespace halftone::tensorrt {

// Why a node is in the list, or isn't.
enum class Standing : std::uint8_t {
  kPartitionHead,  // reads only from outside its CASK partition
  kPartitionEdge,  // reads from inside and outside: the residual Add of a partition
  kKgenHead,       // first of a pointwise chain that follows a CASK partition
  kLayerNormBehindConv,
  kLeftover,  // quantizable and in no partition
  kPoolingNextToQuantized,
  kInsidePartition,  // fused behind a head
  kPointwiseChain,   // in a KGEN partition that isn't quantized
  kOffLimits,        // LayerNorm, GELU or attention kernels
  kExcluded,         // by a rule or a pattern
  kOutputLayer,      // makes a graph output and isn't a Conv, Gemm or MatMul
  kOperatorNotQuantizable,
  kPoolingApart,     // a pooling node with nothing quantized next to it
  kConstantOperand,  // a pointwise node outside all partitions with a constant input
  kListed,           // by the caller, in place of the policy
  kNotListed,
};

struct NodeChoice {
  std::vector<Standing> standing;       // by node
  std::vector<bool> selected;           // by node
  std::vector<RawEdge> raw_edges;       // in the order in which they are applied
  std::vector<std::int32_t> partition;  // by node: index into CASK, or CASK count + index into KGEN; -1: none
  std::vector<NodeId> partition_heads;  // by that number
  std::size_t cask_count = 0;
};

// `excluded` (by node). `quantizable`: the operators that may be quantized.
NodeChoice choose_nodes(const PolicyGraph& graph, const std::vector<bool>& excluded,
                        bool (*quantizable)(std::string_view op_type));

// The caller's list (by node) in place of the policy, as the peer does for its op_types_to_quantize,
// nodes_to_quantize and target_dla: no partitions, no residual rule, no edge stays raw. `excluded` wins.
NodeChoice choose_listed_nodes(const PolicyGraph& graph, const std::vector<bool>& listed,
                               const std::vector<bool>& excluded);

}  // namespace halftone::tensorrt
