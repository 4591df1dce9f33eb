#include "plan/tensorrt/marks.h"

#include <algorithm>

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

class Marker {
 public:
  Marker(const PolicyGraph& graph, bool (*quantizable)(std::string_view), const Selection* patterns)
      : graph_(graph), quantizable_(quantizable), patterns_(patterns), marks_(graph.graph()) {}

  Marks run(const NodeChoice& choice) && {
    for (const NodeId id : graph_.nodes()) {
      const GraphNode& node = graph_.graph().node(id);
      if (choice.selected[index_of(id)] && node.domain.empty() && quantizable_(node.op_type))
        handle(id, node);
    }
    return std::move(marks_);
  }

 private:
  void handle(NodeId id, const GraphNode& node) {
    const std::string_view op = node.op_type;
    if (op == "Conv" || op == "ConvTranspose" || op == "Gemm") {
      mark(id, 0, -1);
      mark(id, 1, weight_axis(id, op));
    } else if (op == "MatMul") {
      mark(id, 0, matmul_axis(id, 0));
      mark(id, 1, matmul_axis(id, 1));
    } else if (op == "Clip") {
      // A Clip that an earlier node didn't mark the input of counts as part of what comes before it.
      if (!node.inputs.empty() && node.inputs[0] != kNone &&
          marks_.tensors[index_of(node.inputs[0])].kind != MarkKind::kNone)
        mark(id, 0, -1);
    } else if (reads_first_input(op)) {
      mark(id, 0, -1);
    } else {
      for (std::int32_t input = 0; index_of(input) < node.inputs.size(); ++input) mark(id, input, -1);
    }
  }

  static bool reads_first_input(std::string_view op) {
    constexpr std::string_view kOps[] = {
        "AveragePool", "BatchNormalization", "LRN", "LayerNormalization", "MaxPool", "Resize", "TopK"};
    return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
  }

  std::int32_t weight_axis(NodeId id, std::string_view op) const {
    if (op == "Conv") return 0;
    if (op == "ConvTranspose") {
      // Grouped, the channels of axis 1 belong to several groups; the peer quantizes along it all the same.
      const bool grouped = graph_.graph().int_attribute(id, "group", 1) != 1;
      return grouped && graph_.peer() == Peer::kCorrect ? -1 : 1;
    }
    return graph_.graph().int_attribute(id, "transB", 0) == 1 ? 0 : 1;
  }

  // The peer takes axis 1 whatever the rank and side (catalogue Q15): for [B, K, N] that is K, along which a
  // product sums.
  std::int32_t matmul_axis(NodeId id, std::size_t input) const {
    const std::vector<TensorId>& inputs = graph_.graph().node(id).inputs;
    if (graph_.peer() == Peer::kReproduce || input >= inputs.size() || inputs[input] == kNone) return 1;
    const std::optional<std::vector<Dimension>>& shape = graph_.graph().tensor(inputs[input]).shape;
    if (!shape || shape->size() < 2) return -1;
    return static_cast<std::int32_t>(shape->size()) - (input == 0 ? 2 : 1);
  }

  void mark(NodeId id, std::int32_t input, std::int32_t axis) {
    const std::vector<TensorId>& inputs = graph_.graph().node(id).inputs;
    const TensorId tensor = index_of(input) < inputs.size() ? inputs[index_of(input)] : kNone;
    if (tensor == kNone || (patterns_ != nullptr && patterns_->left_out(id, tensor))) return;
    const GraphTensor& facts = graph_.graph().tensor(tensor);
    if (facts.type == DataType::kUndefined) marks_.unknown_types.push_back(tensor);
    if (facts.type != DataType::kFloat) return;
    if (graph_.is_stored(tensor)) {
      const auto rank = facts.shape ? static_cast<std::int32_t>(facts.shape->size()) : 0;
      marks_.readings.at({id, input}).constant = {MarkKind::kWeight, axis < rank ? axis : -1, id};
    } else if (Mark& known = marks_.tensors[index_of(tensor)]; known.kind == MarkKind::kNone) {
      known = {MarkKind::kActivation, -1, id};
    }
  }

  const PolicyGraph& graph_;
  bool (*quantizable_)(std::string_view);
  const Selection* patterns_;
  Marks marks_;
};

class RawEdges {
 public:
  RawEdges(const PolicyGraph& graph, const std::vector<RawEdge>& edges, Marks& marks)
      : graph_(graph), edges_(edges), marks_(marks), named_(graph.graph().tensors().size(), false) {
    for (const RawEdge& edge : edges) named_[index_of(edge.tensor)] = true;
  }

  void apply() {
    for (const RawEdge& edge : edges_) disconnect(edge);
    for (const RawEdge& edge : edges_) {
      if (is_op(graph_.graph().node(edge.consumer), "Add")) disconnect_skip(edge.consumer);
    }
    unmark_unread();
  }

  void apply_to_nodes(const std::vector<bool>& nodes) {
    for (const NodeId id : graph_.nodes()) {
      if (!nodes[index_of(id)]) continue;
      const auto inputs = static_cast<std::int32_t>(graph_.graph().node(id).inputs.size());
      for (std::int32_t input = 0; input < inputs; ++input) {
        marks_.readings.at({id, input}).constant = {};
        if (reads_pair({id, input})) set_raw({id, input}, RawReason::kExcludedNode);
      }
    }
    unmark_unread();
  }

 private:
  [[nodiscard]] bool marked(TensorId tensor) const {
    return tensor != kNone && marks_.tensors[index_of(tensor)].kind != MarkKind::kNone;
  }

  void set_raw(Use use, RawReason reason) { marks_.readings.at(use).raw = reason; }

  [[nodiscard]] bool reads_pair(Use use) const {
    return marked(graph_.graph().node(use.node).inputs[index_of(use.input)]) &&
           marks_.readings.at(use).raw == RawReason::kNone;
  }

  // Only output 0 of the producer is ever looked at, and only the consumer's first reading of its pair.
  void disconnect(const RawEdge& edge) {
    const TensorId made = graph_.graph().node(edge.producer).outputs[0];
    if (!marked(made)) return;
    const std::vector<TensorId>& inputs = graph_.graph().node(edge.consumer).inputs;
    for (std::int32_t input = 0; index_of(input) < inputs.size(); ++input) {
      const Use use = {edge.consumer, input};
      if (inputs[index_of(input)] != made || !reads_pair(use)) continue;
      set_raw(use, RawReason::kRawEdge);
      return;
    }
  }

  void disconnect_skip(NodeId add) {
    const std::vector<TensorId>& inputs = graph_.graph().node(add).inputs;
    for (std::int32_t input = 0; index_of(input) < inputs.size(); ++input) {
      if (!reads_pair({add, input})) continue;
      const NodeId producer = graph_.producer(inputs[index_of(input)]);
      if (producer == kNone) continue;
      std::size_t quantized = 0;
      TensorId only = kNone;
      bool named = false;
      for (const TensorId output : graph_.graph().node(producer).outputs) {
        if (output == kNone) continue;
        if (marked(output)) {
          ++quantized;
          only = output;
        }
        // A quantized graph output has another name behind its producer, which no edge has.
        named = named ||
                (named_[index_of(output)] && !(marked(output) && graph_.graph().tensor(output).graph_output));
      }
      if (quantized == 1 && named && only == inputs[index_of(input)])
        set_raw({add, input}, RawReason::kSkipAlsoRaw);
    }
  }

  void unmark_unread() {
    for (TensorId tensor = 0; index_of(tensor) < marks_.tensors.size(); ++tensor) {
      const GraphTensor& facts = graph_.graph().tensor(tensor);
      if (!marked(tensor) || facts.graph_output) continue;
      const bool read = std::any_of(facts.consumers.begin(), facts.consumers.end(),
                                    [&](const Use& use) { return reads_pair(use); });
      if (!read) marks_.tensors[index_of(tensor)] = {};
    }
  }

  const PolicyGraph& graph_;
  const std::vector<RawEdge>& edges_;
  Marks& marks_;
  std::vector<bool> named_;  // by tensor: some edge is about it
};

}  // namespace

Readings::Readings(const Graph& graph) {
  first_.reserve(graph.nodes().size());
  std::size_t count = 0;
  for (const GraphNode& node : graph.nodes()) {
    first_.push_back(count);
    count += node.inputs.size();
  }
  readings_.resize(count);
}

bool Marks::quantized(const Graph& graph, Use use) const {
  const Reading& reading = readings.at(use);
  if (reading.constant.kind == MarkKind::kWeight) return true;
  const TensorId tensor = graph.node(use.node).inputs[index_of(use.input)];
  return tensor != kNone && tensors[index_of(tensor)].kind != MarkKind::kNone &&
         reading.raw == RawReason::kNone;
}

Marks mark_inputs(const PolicyGraph& graph, const NodeChoice& choice,
                  bool (*quantizable)(std::string_view op_type), const Selection* patterns) {
  return Marker(graph, quantizable, patterns).run(choice);
}

void remove_partial_input_qdq(const PolicyGraph& graph, const std::vector<RawEdge>& edges, Marks& marks) {
  RawEdges(graph, edges, marks).apply();
}

void keep_raw(const PolicyGraph& graph, const std::vector<bool>& nodes, Marks& marks) {
  RawEdges(graph, {}, marks).apply_to_nodes(nodes);
}

}  // namespace halftone::tensorrt
