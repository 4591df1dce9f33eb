// ModelOpt's partitions: groups of nodes that TensorRT is expected to fuse into one kernel. CASK partitions
// grow from a Conv, ConvTranspose, Gemm or MatMul; KGEN partitions are the pointwise chains left over.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/tensorrt/fusible_backbone.h"
#include "plan/tensorrt/policy_graph.h"
#include "plan/tensorrt/residual.h"

namespace halftone::tensorrt {

using Partition = std::vector<NodeId>;  // the head first, in the order in which the nodes joined

struct Partitions {
  std::vector<Partition> cask;
  std::vector<Partition>
      kgen;  // the chains, then single Resize or Upsample nodes behind the last node of a CASK partition
};

// `partitioned` (by node): nodes that no partition may take, such as off-limits and excluded ones; the nodes
// taken are added. Resize partitions are not. Linear in nodes and edges.
Partitions find_fusible_partitions(const PolicyGraph& graph, std::vector<bool>& partitioned,
                                   const NonResidualInputs& non_residual, FusibleBackbone& backbone);

}  // namespace halftone::tensorrt
