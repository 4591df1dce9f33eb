// ModelOpt's print_stat, as data: how many nodes of a quantized graph read quantized data, and which.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "halftone/graph.h"

namespace halftone {

struct QuantizedNodeStatistics {
  std::size_t nodes = 0;  // all nodes of the main graph, those of the pairs included
  std::size_t quantized_nodes = 0;
  // Operator types with their numbers of quantized nodes, in order of first appearance. The numbers add up to
  // quantized_nodes.
  std::vector<std::pair<std::string, std::size_t>> quantized_type_counts;
  std::vector<std::string> quantized_node_names;  // labels (Graph::node_label) in node order; names are raw
};

// A node counts, once, if some input of it comes out of a DequantizeLinear (of any domain), be it a weight or
// another QuantizeLinear's input. Other operators that dequantize, such as TensorRT's own, are not looked at.
// Bodies of If, Loop and Scan are not counted. Linear in nodes and inputs; no errors.
QuantizedNodeStatistics print_stat(const Graph& graph);

}  // namespace halftone
