// AIMET's quantizers of a graph: one for each parameter and for each float32 tensor that a node computes or
// reads, most of them switched on or off by a configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/aimet_config.h"
#include "plan/target_rules.h"

namespace halftone::aimet {

struct Quantizer {
  TensorId tensor = kNone;
  // Whose it is: the node that reads a parameter or makes an activation; for what no node makes, its first
  // reader.
  NodeId owner = kNone;
  std::string_view role;  // "weight", "bias", …; empty: an activation
  bool on = false;
  bool symmetric = false;
  std::int32_t axis = -1;           // of a parameter with one scale for each channel
  std::optional<ValueRange> range;  // fixed by the configuration
  std::optional<std::string> tie;   // activations with the same tie share one quantizer
  std::string rule;
  std::string why;  // for "on" without format and granularity
};

// In AIMET's order: all parameters by node, then graph inputs, then by node its constant inputs and what it
// makes. At most one for a tensor; none for what the placement never quantizes: the outputs of Reshape,
// Transpose and their like, the inputs of Resize but the first, constants that only nodes read whose results
// are constants.
std::vector<Quantizer> quantizers_of(const PlanContext& context, const AimetConfig& config);

// A node whose results are all constants.
bool is_folded(const Graph& graph, const GraphNode& node);

// The inputs of Resize that say how, not what.
bool is_resize_setting(const GraphNode& node, std::int32_t input);

}  // namespace halftone::aimet
