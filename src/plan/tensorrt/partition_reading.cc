#include "plan/tensorrt/partition_reading.h"

#include <algorithm>
#include <array>

#include "plan/tensorrt/path_matcher.h"

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

constexpr std::array<std::string_view, 5> kHeadFeeders = {"AveragePool", "BatchNormalization",
                                                          "GlobalAveragePool", "MaxPool", "Mul"};

bool feeds_heads(const GraphNode& node) {
  return node.domain.empty() &&
         std::find(kHeadFeeders.begin(), kHeadFeeders.end(), node.op_type) != kHeadFeeders.end();
}

}  // namespace

std::vector<bool> members(const PolicyGraph& graph, const PartitionList& partitions) {
  std::vector<bool> member(graph.graph().nodes().size(), false);
  for (const NodeId id : partitions.nodes()) member[index_of(id)] = true;
  return member;
}

PartitionNodes classify_partition_nodes(const PolicyGraph& graph, const PartitionList& partitions) {
  PartitionNodes result;
  std::vector<std::int32_t> owner(graph.graph().nodes().size(), -1);
  for (std::size_t i = 0; i < partitions.size(); ++i)
    for (const NodeId id : partitions[i]) owner[index_of(id)] = static_cast<std::int32_t>(i);
  std::vector<RawEdge> internal;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    for (const NodeId id : partitions[i]) {
      bool external = false;
      internal.clear();
      for (const TensorId input : graph.graph().node(id).inputs) {
        if (graph.is_const_input(input)) continue;
        const NodeId producer = input == kNone ? kNone : graph.producer(input);
        if (producer == kNone || owner[index_of(producer)] != static_cast<std::int32_t>(i)) {
          external = true;
        } else {
          internal.push_back({producer, id, input});
        }
      }
      if (!external) {
        result.non_quantizable.push_back(id);
      } else if (internal.empty()) {
        result.quantizable.push_back(id);
      } else {
        result.raw_edges.insert(result.raw_edges.end(), internal.begin(), internal.end());
      }
    }
  }
  return result;
}

std::vector<RawEdge> classify_partially_quantized_weighted_ops(const PolicyGraph& graph,
                                                               const std::vector<bool>& excluded) {
  std::vector<RawEdge> edges;
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if (!excluded[index_of(id)] || !graph.is_class(id, OpClass::kLinear)) continue;
    for (const TensorId input : node.inputs) {
      const NodeId producer = graph.producer(input);
      if (producer != kNone) edges.push_back({producer, id, input});
    }
  }
  return edges;
}

// Depth at most 10, but a Concat of a tensor with itself asks the same question twice at every step, so
// answers are kept per depth.
bool follows_cask(const PolicyGraph& graph, const std::vector<bool>& in_cask, NodeId node, int depth) {
  if (in_cask[index_of(node)]) return true;
  std::vector<NodeId> layer = {node};
  for (; !layer.empty(); --depth) {
    std::vector<NodeId> next;
    for (const NodeId id : layer) {
      if (in_cask[index_of(id)]) continue;
      const std::span<const NodeId> parents = graph.parents(id);
      if (depth <= 0 || !graph.is_class(id, OpClass::kCopy) || parents.empty()) return false;
      next.insert(next.end(), parents.begin(), parents.end());
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    layer = std::move(next);
  }
  return true;
}

namespace {

class KgenHeadFilter {
 public:
  KgenHeadFilter(const PolicyGraph& graph, const Partitions& partitions,
                 bool (*quantizable)(std::string_view))
      : graph_(graph),
        partitions_(partitions),
        quantizable_(quantizable),
        in_cask_(members(graph, partitions.cask)),
        reads_quantized_(graph.graph().nodes().size(), false),
        quantized_readings_(graph.graph().tensors().size(), 0),
        softmax_matmul_(graph, {"Softmax", "MatMul"}, Direction::kForward, {"Flatten", "Reshape"}) {
    for (std::size_t i = 0; i < partitions.cask.size(); ++i) accept(partitions.cask[i].front());
  }

  KgenHeads run() && {
    for (std::size_t i = 0; i < partitions_.kgen.size(); ++i) look_at(partitions_.kgen[i].front());
    return std::move(result_);
  }

 private:
  void look_at(NodeId head) {
    const GraphNode& node = graph_.graph().node(head);
    if (!node.domain.empty() || !quantizable_(node.op_type) || graph_.has_const_input(head)) return;
    bool accepted = false;
    std::vector<RawEdge> raw;
    for (const NodeId parent : graph_.parents(head)) {
      const TensorId made = graph_.graph().node(parent).outputs[0];
      if (follows_cask(graph_, in_cask_, parent) || feeds_heads(graph_.graph().node(parent))) {
        if (is_mask_add(head)) {
          raw.push_back({parent, head, made});
        } else {
          result_.heads.push_back(head);
          accept(head);
          accepted = true;
        }
      } else if (!other_quantized_consumer(made, head)) {
        raw.push_back({parent, head, made});
      }
    }
    if (accepted && is_op(node, "Add"))
      result_.raw_edges.insert(result_.raw_edges.end(), raw.begin(), raw.end());
  }

  bool is_mask_add(NodeId head) {
    if (!is_op(graph_.graph().node(head), "Add")) return false;
    const std::span<const NodeId> children = graph_.children(head);
    return std::any_of(children.begin(), children.end(),
                       [&](NodeId child) { return softmax_matmul_.matches(child); });
  }

  // From now on `id` counts as a node that reads quantized data.
  void accept(NodeId id) {
    if (reads_quantized_[index_of(id)]) return;
    reads_quantized_[index_of(id)] = true;
    for (const TensorId input : graph_.graph().node(id).inputs) {
      if (input != kNone) ++quantized_readings_[index_of(input)];
    }
  }

  // One reading by the head itself doesn't count; a second one does.
  bool other_quantized_consumer(TensorId tensor, NodeId head) const {
    return tensor != kNone &&
           quantized_readings_[index_of(tensor)] > (reads_quantized_[index_of(head)] ? 1 : 0);
  }

  const PolicyGraph& graph_;
  const Partitions& partitions_;
  bool (*quantizable_)(std::string_view);
  std::vector<bool> in_cask_;
  std::vector<bool> reads_quantized_;             // by node: a CASK head, or a KGEN head accepted so far
  std::vector<std::int32_t> quantized_readings_;  // by tensor: how often such nodes read it
  PathMatcher softmax_matmul_;
  KgenHeads result_;
};

}  // namespace

KgenHeads filter_quantizable_kgen_heads(const PolicyGraph& graph, const Partitions& partitions,
                                        bool (*quantizable)(std::string_view op_type)) {
  return KgenHeadFilter(graph, partitions, quantizable).run();
}

std::vector<NodeId> find_conv_to_layernorm_nodes(const PolicyGraph& graph, const PartitionList& cask) {
  const std::vector<bool> in_cask = members(graph, cask);
  std::vector<NodeId> found;
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if (!is_op(node, "LayerNormalization") || node.inputs.empty()) continue;
    const NodeId producer = graph.producer(node.inputs[0]);
    if (producer != kNone && follows_cask(graph, in_cask, producer)) found.push_back(id);
  }
  return found;
}

}  // namespace halftone::tensorrt
