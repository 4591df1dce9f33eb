// Which nodes of the partitions read quantized data: ModelOpt's classify_* and filter_* functions.
#pragma once

#include <string_view>
#include <vector>

#include "plan/tensorrt/partitions.h"
#include "plan/tensorrt/policy_graph.h"
#include "plan/tensorrt/residual.h"

namespace halftone::tensorrt {

struct PartitionNodes {
  std::vector<NodeId> non_quantizable;  // everything they read comes from their own partition
  std::vector<NodeId> quantizable;      // everything variable that they read comes from outside
  std::vector<RawEdge> raw_edges;       // of nodes that read both: the inside edges, which stay raw
};

// For each node of each partition, looking at its inputs that aren't constant (an omitted input counts as one
// from outside).
PartitionNodes classify_partition_nodes(const PolicyGraph& graph, const PartitionList& partitions);

// Every produced input of every excluded Conv, ConvTranspose, Gemm and MatMul: with one shared pair per
// tensor such a node would otherwise read quantized data as soon as a neighbour does. Other excluded
// operators get no such protection (catalogue Q4).
std::vector<RawEdge> classify_partially_quantized_weighted_ops(const PolicyGraph& graph,
                                                               const std::vector<bool>& excluded);

// Whether what `node` makes comes out of a CASK partition, through at most `depth` copy operators.
bool follows_cask(const PolicyGraph& graph, const std::vector<bool>& in_cask, NodeId node, int depth = 10);

struct KgenHeads {
  std::vector<NodeId> heads;  // once for every parent that makes it one, as in the peer
  std::vector<RawEdge> raw_edges;
};

// A KGEN partition's head is quantized if its operator may be, it has no constant input, and a parent follows
// a CASK partition or is a pooling, BatchNormalization or Mul node; an Add in front of a Softmax and MatMul
// is a mask and stays raw. Inputs of an Add whose producer feeds nothing else that is quantized stay raw.
// Depends on the order of the partitions, as in the peer.
KgenHeads filter_quantizable_kgen_heads(const PolicyGraph& graph, const Partitions& partitions,
                                        bool (*quantizable)(std::string_view op_type));

// LayerNormalization nodes whose input 0 follows a CASK partition: they are quantized although they are off
// limits otherwise.
std::vector<NodeId> find_conv_to_layernorm_nodes(const PolicyGraph& graph, const PartitionList& cask);

// By node: member of one of the partitions.
std::vector<bool> members(const PolicyGraph& graph, const PartitionList& partitions);

}  // namespace halftone::tensorrt
