#include "codec/decoded_nodes.h"

#include <algorithm>

namespace halftone::codec {
namespace {

bool is_standard(const GraphNode& node, std::string_view op) {
  return node.domain.empty() && node.op_type == op && node.outputs.size() == 1 && node.outputs[0] != kNone;
}

bool swaps_axes(const Graph& graph, NodeId id) {
  if (!is_standard(graph.node(id), "Transpose")) return false;
  const AttributeView* perm = graph.attribute(id, "perm");
  return perm == nullptr || (perm->ints.size() == 2 && perm->ints[0] == 1 && perm->ints[1] == 0);
}

bool multiplies(const Graph& graph, const Use& use) {
  const GraphNode& node = graph.node(use.node);
  if (!is_standard(node, "MatMul") || use.input != 1 || node.inputs[0] == kNone) return false;
  const auto& shape = graph.tensor(node.inputs[0]).shape;
  return !shape || shape->size() > 1;
}

// A Gemm that is A times the weight's transpose, plus C.
bool multiplies_by_transpose(const Graph& graph, const Use& use) {
  const GraphNode& node = graph.node(use.node);
  if (!is_standard(node, "Gemm") || use.input != 1 || node.inputs[0] == kNone) return false;
  const bool adds = node.inputs.size() > 2 && node.inputs[2] != kNone;
  return graph.int_attribute(use.node, "transB", 0) == 1 && graph.int_attribute(use.node, "transA", 0) == 0 &&
         graph.float_attribute(use.node, "alpha", 1.0F) == 1.0F &&
         (!adds || graph.float_attribute(use.node, "beta", 1.0F) == 1.0F);
}

}  // namespace

DecodedNodes find_decoded_nodes(const Graph& graph, const EncodedModel& encoded) {
  DecodedNodes found;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const GraphNode& node = graph.nodes()[i];
    const bool decodes = node.domain == kEncodedDomain && node.op_type == "Dequantize" &&
                         node.inputs.size() == 1 && node.outputs.size() == 1 && node.inputs[0] != kNone &&
                         node.outputs[0] != kNone;
    if (!decodes) continue;
    const auto id = static_cast<NodeId>(i);
    const EncodedInitializer* initializer = encoded.find(graph.tensor(node.inputs[0]).name);
    if (initializer != nullptr) {
      found.direct.push_back(
          {id, node.outputs[0], initializer, static_cast<DataType>(graph.int_attribute(id, "dtype", 0))});
    } else {
      found.left.push_back({graph.tensor(node.outputs[0]).name,
                            "What its Dequantize reads is no encoded initializer of the main graph."});
    }
  }
  return found;
}

bool read_by_matmul_only(const Graph& graph, const GraphTensor& tensor) {
  return !tensor.graph_output && !tensor.read_by_subgraph &&
         std::all_of(tensor.consumers.begin(), tensor.consumers.end(),
                     [&](const Use& use) { return multiplies(graph, use); });
}

std::optional<TransposedReaders> transposed_readers(const Graph& graph, const GraphTensor& weight) {
  if (weight.graph_output || weight.read_by_subgraph || weight.consumers.empty()) return std::nullopt;
  TransposedReaders readers;
  for (const Use& use : weight.consumers) {
    if (multiplies_by_transpose(graph, use)) {
      readers.multiplications.push_back(use.node);
      continue;
    }
    if (!swaps_axes(graph, use.node)) return std::nullopt;
    const GraphTensor& turned = graph.tensor(graph.node(use.node).outputs[0]);
    if (!read_by_matmul_only(graph, turned)) return std::nullopt;
    readers.transposes.push_back(use.node);
    for (const Use& inner : turned.consumers) readers.multiplications.push_back(inner.node);
  }
  return readers;
}

}  // namespace halftone::codec
