// What AIMET's placement knows of operators.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "halftone/graph.h"

namespace halftone::aimet {

struct Parameter {
  std::int32_t input;
  std::string_view role;  // as in configurations: "weight", "bias", "running_mean", …
};

// The inputs of a node that are parameters where they are constants. Empty for operators of other domains.
std::span<const Parameter> parameters_of(const GraphNode& node);

// The output has the grid of the data input (MaxPool, Slice, …): off unless a configuration names the
// operator.
bool preserves_grid(const GraphNode& node);

// Never has an output quantizer, whatever a configuration says (Reshape, Transpose, …).
bool is_transparent(const GraphNode& node);

// Along which axis a parameter of `rank` dimensions has its channels: Conv 0, ConvTranspose 1, Gemm by
// transB, MatMul the last one; a vector 0; -1 for everything else.
std::int32_t channel_axis(const Graph& graph, NodeId owner, std::string_view role, std::size_t rank);

}  // namespace halftone::aimet
