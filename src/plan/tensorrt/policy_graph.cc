#include "plan/tensorrt/policy_graph.h"

#include <algorithm>

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace

PolicyGraph::PolicyGraph(const Graph& graph, Peer peer) : graph_(graph), peer_(peer) {
  index_tensors();
  index_nodes();
  link();
  find_const_inputs();
}

void PolicyGraph::index_tensors() {
  stored_.reserve(graph_.tensors().size());
  producer_.reserve(graph_.tensors().size());
  for (const GraphTensor& tensor : graph_.tensors()) {
    stored_.push_back(peer_ == Peer::kReproduce ? tensor.initializer : tensor.constant);
    producer_.push_back(stored_.back() ? kNone : tensor.producer);
  }
}

void PolicyGraph::index_nodes() {
  position_.assign(graph_.nodes().size(), kNone);
  classes_.assign(graph_.nodes().size(), 0);
  for (const NodeId id : graph_.topological_order()) {
    const std::vector<TensorId>& outputs = graph_.node(id).outputs;
    const bool makes_constants =
        !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](TensorId output) {
          return output != kNone && is_stored(output);
        });
    if (makes_constants) continue;
    position_[index_of(id)] = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back(id);
    classes_[index_of(id)] = op_classes(graph_.node(id));
  }
}

void PolicyGraph::link() {
  parents_begin_.reserve(graph_.nodes().size() + 1);
  children_begin_.reserve(graph_.nodes().size() + 1);
  for (NodeId id = 0; index_of(id) < graph_.nodes().size(); ++id) {
    parents_begin_.push_back(parents_.size());
    children_begin_.push_back(children_.size());
    if (position(id) == kNone) continue;
    for (const TensorId input : graph_.node(id).inputs) {
      if (const NodeId from = producer(input); from != kNone) parents_.push_back(from);
    }
    for (const TensorId output : graph_.node(id).outputs) {
      if (output == kNone) continue;
      for (const Use& use : graph_.tensor(output).consumers) {
        if (position(use.node) != kNone) children_.push_back(use.node);
      }
    }
  }
  parents_begin_.push_back(parents_.size());
  children_begin_.push_back(children_.size());
}

std::span<const NodeId> PolicyGraph::parents(NodeId id) const {
  const std::size_t begin = parents_begin_[index_of(id)];
  return std::span(parents_).subspan(begin, parents_begin_[index_of(id) + 1] - begin);
}

std::span<const NodeId> PolicyGraph::children(NodeId id) const {
  const std::size_t begin = children_begin_[index_of(id)];
  return std::span(children_).subspan(begin, children_begin_[index_of(id) + 1] - begin);
}

// In topological order, so that what a rule looks back at is known already.
void PolicyGraph::find_const_inputs() {
  const_input_ = stored_;
  for (const NodeId id : nodes_) {
    const GraphNode& node = graph_.node(id);
    if (!node.domain.empty() || node.outputs.empty()) continue;
    const TensorId first = node.inputs.empty() ? kNone : node.inputs[0];
    bool is_const = node.op_type == "Constant" || node.op_type == "Identity";
    if (node.op_type == "Squeeze" || node.op_type == "Unsqueeze") is_const = is_const_input(first);
    if (node.op_type == "Exp") {
      const NodeId before = producer(first);
      is_const = before != kNone && is_op(graph_.node(before), "Clip") && has_const_input(before);
    }
    if (!is_const) continue;
    for (const TensorId output : node.outputs) {
      if (output != kNone) const_input_[index_of(output)] = true;
    }
  }
}

bool PolicyGraph::has_const_input(NodeId id) const {
  const std::vector<TensorId>& inputs = graph_.node(id).inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) { return is_const_input(input); });
}

}  // namespace halftone::tensorrt
