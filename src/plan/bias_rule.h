// When a bias becomes int32 at the scale of its node's data input times that of its weight (contract,
// "Bias").
#pragma once

#include <optional>

#include "halftone/graph.h"
#include "plan/selection.h"

namespace halftone {

inline constexpr std::int32_t kBiasInput = 2;

// Whether a node's input 2 is a bias that is added per output channel.
bool has_bias_input(const GraphNode& node);

// nullopt if the bias of `node` may be int32 as far as the graph is concerned: constant float32 of rank 1
// with one value per output channel, alpha = beta = 1 for a Gemm, and both operands quantized
// (`operands_quantized`). Otherwise the reason. Precondition: has_bias_input, and input 2 is given. That its
// codes stay below 2^31 is known only with the scales, see complete_encodings.
std::optional<LeftOut> bias_left_out(const Graph& graph, NodeId node, bool operands_quantized);

}  // namespace halftone
