// The graph as ModelOpt's rules see it: parents, children, and what counts as constant.
//
// With `Peer::kReproduce` the view is the peer's own: only initializers are constants, so that a weight in a
// Constant node is an activation, and its faults are kept. With `Peer::kCorrect` every constant of the Graph
// (Constant nodes and foldable chains over them) is a constant, and the nodes that only make constants don't
// take part. Threading: immutable. Building is linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/graph.h"
#include "plan/tensorrt/op_classes.h"

namespace halftone::tensorrt {

enum class Peer : std::uint8_t { kCorrect, kReproduce };

class PolicyGraph {
 public:
  PolicyGraph(const Graph& graph, Peer peer);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] Peer peer() const { return peer_; }
  // The nodes that take part, in topological order.
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  // Place of a node in nodes(); kNone for one that doesn't take part.
  [[nodiscard]] std::int32_t position(NodeId id) const { return position_[static_cast<std::size_t>(id)]; }

  // The producers of the inputs, in input order, duplicates kept; inputs without a producer give none.
  [[nodiscard]] std::span<const NodeId> parents(NodeId id) const;
  // For each output in order its consumers in node order, duplicates kept.
  [[nodiscard]] std::span<const NodeId> children(NodeId id) const;

  // Stored data: an initializer, or in the corrected view any constant.
  [[nodiscard]] bool is_stored(TensorId tensor) const { return stored_[static_cast<std::size_t>(tensor)]; }
  // The node that makes `tensor`; kNone for graph inputs, stored data, and kNone itself.
  [[nodiscard]] NodeId producer(TensorId tensor) const {
    return tensor == kNone ? kNone : producer_[static_cast<std::size_t>(tensor)];
  }
  [[nodiscard]] bool is_class(NodeId id, OpClass op_class) const {
    return (classes_[static_cast<std::size_t>(id)] & static_cast<std::uint8_t>(op_class)) != 0;
  }

  // ModelOpt's is_const_input: stored data; the output of a Constant or Identity node (Identity counts
  // whatever feeds it); a Squeeze or Unsqueeze of such; an Exp over a Clip with such an input. kNone (an
  // omitted input) is not constant. An Exp that reads a graph input makes the peer fail; here it is not
  // constant (catalogue Q3).
  [[nodiscard]] bool is_const_input(TensorId tensor) const {
    return tensor != kNone && const_input_[static_cast<std::size_t>(tensor)];
  }
  [[nodiscard]] bool has_const_input(NodeId id) const;

 private:
  void index_tensors();
  void index_nodes();
  void link();
  void find_const_inputs();

  const Graph& graph_;
  Peer peer_;
  std::vector<NodeId> nodes_;
  std::vector<std::int32_t> position_;
  std::vector<NodeId> parents_;
  std::vector<std::size_t> parents_begin_;  // by node, one more at the end
  std::vector<NodeId> children_;
  std::vector<std::size_t> children_begin_;
  // What the rules ask most, apart from the graph's own nodes and tensors, which are too large to stay in
  // cache. By tensor; classes_ by node.
  std::vector<bool> stored_;
  std::vector<NodeId> producer_;
  std::vector<bool> const_input_;
  std::vector<std::uint8_t> classes_;
};

}  // namespace halftone::tensorrt
