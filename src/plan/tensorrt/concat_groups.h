// ModelOpt's get_concat_eliminated_tensors: tensors that a Concat joins get one scale, so that TensorRT can
// drop the Concat.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

// By tensor: the number of its group, -1: none. Groups are numbered by their first member in topological
// order. `selected` (by node): the nodes that are quantized. A Concat counts if a selected node reads its
// output; its inputs join if a selected node reads them. Chained Concats merge. Near-linear (union by size
// with path halving).
std::vector<std::int32_t> get_concat_eliminated_tensors(const PolicyGraph& graph,
                                                        const std::vector<bool>& selected);

}  // namespace halftone::tensorrt
