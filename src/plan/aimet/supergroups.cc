// Source: placement rules of AIMET's ONNX simulation, 2.x line.
#include "plan/aimet/supergroups.h"

#include <algorithm>
#include <span>
#include <string>

namespace halftone::aimet {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

// The node that alone reads the only output of this one; kNone if there is none such.
NodeId only_reader(const Graph& graph, NodeId id) {
  const GraphNode& node = graph.node(id);
  NodeId reader = kNone;
  for (const TensorId output : node.outputs) {
    if (output == kNone) continue;
    const GraphTensor& tensor = graph.tensor(output);
    const bool unread = tensor.consumers.empty() && !tensor.graph_output && !tensor.read_by_subgraph;
    if (unread && output != node.outputs.front()) continue;
    if (reader != kNone || tensor.consumers.size() != 1 || tensor.graph_output || tensor.read_by_subgraph)
      return kNone;
    reader = tensor.consumers.front().node;
  }
  return reader;
}

bool may_join(const Graph& graph, NodeId id, std::string_view op) {
  const GraphNode& node = graph.node(id);
  if (node.op_type != op || !node.domain.empty()) return false;
  if (op != "Conv" || node.inputs.size() < 2 || node.inputs[1] == kNone) return true;
  const auto& shape = graph.tensor(node.inputs[1]).shape;
  if (!shape) return true;
  const bool three_dimensional = shape->size() == 5;
  const bool depthwise =
      graph.int_attribute(id, "group", 1) > 1 && shape->size() > 1 && (*shape)[1].value == 1;
  return !three_dimensional && !depthwise;
}

// The nodes of the pattern from `first` on; empty if they aren't there.
std::vector<NodeId> chain_from(const Graph& graph, NodeId first, std::span<const std::string> pattern,
                               const std::vector<bool>& used) {
  std::vector<NodeId> chain;
  for (NodeId id = first; chain.size() < pattern.size();) {
    if (id == kNone || used[index_of(id)] || !may_join(graph, id, pattern[chain.size()])) return {};
    chain.push_back(id);
    if (chain.size() < pattern.size()) id = only_reader(graph, id);
  }
  return chain;
}

void mark_chains(const Graph& graph, std::span<const std::string> pattern, std::vector<bool>& used,
                 std::vector<NodeId>& next) {
  for (const NodeId first : graph.topological_order()) {
    const std::vector<NodeId> chain = chain_from(graph, first, pattern, used);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      used[index_of(chain[i])] = true;
      if (i + 1 < chain.size()) next[index_of(chain[i])] = chain[i + 1];
    }
  }
}

}  // namespace

std::vector<NodeId> supergroup_successors(const Graph& graph, const AimetConfig& config) {
  std::size_t length = 0;
  for (const std::vector<std::string>& pattern : config.supergroups)
    length = std::max(length, pattern.size());
  std::vector<NodeId> next(graph.nodes().size(), kNone);
  std::vector<bool> used(graph.nodes().size(), false);
  for (; length > 1; --length) {
    for (const std::vector<std::string>& pattern : config.supergroups) {
      if (pattern.size() == length) mark_chains(graph, pattern, used, next);
    }
  }
  return next;
}

std::int32_t added_vector(const Graph& graph, NodeId add) {
  const std::vector<TensorId>& inputs = graph.node(add).inputs;
  for (std::int32_t input = 0; index_of(input) < inputs.size(); ++input) {
    if (inputs[index_of(input)] == kNone) continue;
    const GraphTensor& tensor = graph.tensor(inputs[index_of(input)]);
    if (tensor.constant && tensor.shape && tensor.shape->size() == 1) return input;
  }
  return -1;
}

std::vector<NodeId> matmul_bias_adds(const Graph& graph, const AimetConfig& config) {
  std::vector<NodeId> adds(graph.nodes().size(), kNone);
  if (!config.matmul_add) return adds;
  for (NodeId id = 0; index_of(id) < adds.size(); ++id) {
    if (!may_join(graph, id, "MatMul")) continue;
    const NodeId reader = only_reader(graph, id);
    if (reader != kNone && may_join(graph, reader, "Add") && added_vector(graph, reader) >= 0)
      adds[index_of(id)] = reader;
  }
  return adds;
}

}  // namespace halftone::aimet
