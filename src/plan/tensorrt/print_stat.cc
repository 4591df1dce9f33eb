#include "halftone/print_stat.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace halftone {
namespace {

bool reads_dequantized(const Graph& graph, const GraphNode& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId input) {
    const NodeId producer = input == kNone ? kNone : graph.tensor(input).producer;
    return producer != kNone && graph.node(producer).op_type == "DequantizeLinear";
  });
}

}  // namespace

QuantizedNodeStatistics print_stat(const Graph& graph) {
  QuantizedNodeStatistics statistics;
  statistics.nodes = graph.nodes().size();
  std::unordered_map<std::string_view, std::size_t> place_of_type;
  for (NodeId id = 0; static_cast<std::size_t>(id) < graph.nodes().size(); ++id) {
    const GraphNode& node = graph.node(id);
    if (!reads_dequantized(graph, node)) continue;
    ++statistics.quantized_nodes;
    statistics.quantized_node_names.push_back(graph.node_label(id));
    const auto [place, is_new] =
        place_of_type.try_emplace(node.op_type, statistics.quantized_type_counts.size());
    if (is_new) statistics.quantized_type_counts.emplace_back(node.op_type, 0);
    ++statistics.quantized_type_counts[place->second].second;
  }
  return statistics;
}

}  // namespace halftone
