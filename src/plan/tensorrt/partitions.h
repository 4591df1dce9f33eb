// ModelOpt's partitions: groups of nodes that TensorRT is expected to fuse into one kernel. CASK partitions
// grow from a Conv, ConvTranspose, Gemm or MatMul; KGEN partitions are the pointwise chains left over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/tensorrt/fusible_backbone.h"
#include "plan/tensorrt/policy_graph.h"
#include "plan/tensorrt/residual.h"

namespace halftone::tensorrt {

using Partition = std::span<const NodeId>;  // the head first, in the order in which the nodes joined

// Partitions one behind the other in one array, since a large graph has very many.
class PartitionList {
 public:
  // Precondition: not empty.
  void push_back(Partition partition);
  [[nodiscard]] std::size_t size() const { return begins_.size(); }
  // Valid until the next push_back.
  [[nodiscard]] Partition operator[](std::size_t index) const;
  // Those of all partitions.
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }

 private:
  std::vector<NodeId> nodes_;
  std::vector<std::size_t> begins_;
};

struct Partitions {
  PartitionList cask;
  // The chains, then single Resize or Upsample nodes behind the last node of a CASK partition.
  PartitionList kgen;
};

// `partitioned` (by node): nodes that no partition may take, such as off-limits and excluded ones; the nodes
// taken are added. Resize partitions are not. Linear in nodes and edges.
Partitions find_fusible_partitions(const PolicyGraph& graph, std::vector<bool>& partitioned,
                                   const NonResidualInputs& non_residual, FusibleBackbone& backbone);

}  // namespace halftone::tensorrt
