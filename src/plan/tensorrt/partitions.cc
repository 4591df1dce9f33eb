#include "plan/tensorrt/partitions.h"

#include <algorithm>

#include "plan/tensorrt/path_matcher.h"

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

// Grows one partition after the other, depth first, children in order.
class PartitionBuilder {
 public:
  PartitionBuilder(const PolicyGraph& graph, std::vector<bool>& partitioned,
                   const NonResidualInputs& non_residual, FusibleBackbone& backbone)
      : graph_(graph),
        partitioned_(partitioned),
        non_residual_(non_residual),
        backbone_(backbone),
        owner_(graph.graph().nodes().size(), -1),
        rank_(graph.graph().nodes().size(), 0) {
    for (const std::vector<std::string_view>& path : kFusibleMul)
      fusible_.emplace_back(graph, path, Direction::kBackward);
    for (const std::vector<std::string_view>& path : kLoneGate)
      lone_gate_.emplace_back(graph, path, Direction::kBackward);
  }

  // Empty if the root is a Mul that doesn't fuse.
  // Valid until the next call.
  Partition grow(NodeId root) {
    partition_.clear();
    ++current_;
    enter(root);
    while (!stack_.empty()) {
      Level& level = stack_.back();
      const std::span<const NodeId> children = graph_.children(level.node);
      if (level.child == children.size()) {
        stack_.pop_back();
        continue;
      }
      const NodeId child = children[level.child++];
      if (!partitioned_[index_of(child)] && joins(child, level)) enter(child);
    }
    return partition_;
  }

 private:
  struct Level {
    NodeId node = kNone;
    std::size_t seen =
        0;  // the partition's size when the node joined: outputs of later nodes don't count at this level
    std::size_t child = 0;
  };

  inline static const std::vector<std::vector<std::string_view>> kFusibleMul = {
      {"Mul", "Sigmoid", "Conv"},
      {"Mul", "Sigmoid", "BatchNormalization", "Conv"},
      {"Mul", "Sigmoid", "Add"}};
  inline static const std::vector<std::vector<std::string_view>> kLoneGate = {{"Mul", "Sigmoid"},
                                                                              {"Mul", "HardSigmoid"}};

  void enter(NodeId id) {
    if (is_op(graph_.graph().node(id), "Mul") && !is_fusible_mul(id)) return;
    owner_[index_of(id)] = current_;
    rank_[index_of(id)] = partition_.size();
    partition_.push_back(id);
    partitioned_[index_of(id)] = true;
    // A residual Add is where its partition ends.
    if (non_residual_.of_node[index_of(id)] != kNone) return;
    stack_.push_back({id, partition_.size(), 0});
  }

  bool is_fusible_mul(NodeId id) {
    std::size_t variables = 0;
    for (const TensorId input : graph_.graph().node(id).inputs) {
      if (input == kNone || graph_.is_stored(input)) continue;
      const NodeId producer = graph_.producer(input);
      if (producer == kNone || !is_op(graph_.graph().node(producer), "Constant")) ++variables;
    }
    if (variables <= 1) return true;
    const auto leads = [id](PathMatcher& path) { return path.matches(id); };
    if (std::any_of(fusible_.begin(), fusible_.end(), leads)) return true;
    return std::none_of(lone_gate_.begin(), lone_gate_.end(), leads);
  }

  bool made_here(TensorId tensor, const Level& level) const {
    const NodeId producer = tensor == kNone ? kNone : graph_.producer(tensor);
    return producer != kNone && owner_[index_of(producer)] == current_ &&
           rank_[index_of(producer)] < level.seen;
  }

  bool joins(NodeId id, const Level& level) {
    const GraphNode& node = graph_.graph().node(id);
    if (graph_.is_class(id, OpClass::kCopy) || graph_.is_class(id, OpClass::kPointwise)) {
      const bool inside = std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId input) {
        return graph_.is_const_input(input) || made_here(input, level);
      });
      if (inside) return true;
    }
    if (is_op(node, "BatchNormalization") || is_op(node, "Relu") || is_op(node, "MaxPool"))
      return backbone_.of(id) != kNone;
    if (!is_op(node, "Add")) return false;
    const TensorId fused = non_residual_.of_node[index_of(id)];
    return fused != kNone && fused == graph_.graph().node(level.node).outputs[0];
  }

  const PolicyGraph& graph_;
  std::vector<bool>& partitioned_;
  const NonResidualInputs& non_residual_;
  FusibleBackbone& backbone_;
  std::vector<PathMatcher> fusible_;
  std::vector<PathMatcher> lone_gate_;
  std::vector<NodeId> partition_;
  std::vector<Level> stack_;  // of the partition that grows; empty between two
  std::int32_t current_ = -1;
  std::vector<std::int32_t> owner_;  // by node: number of the partition, -1: none
  std::vector<std::size_t> rank_;    // by node: place in it
};

void add_resize_partitions(const PolicyGraph& graph, const std::vector<bool>& partitioned,
                           Partitions& partitions) {
  std::vector<bool> ends(graph.graph().nodes().size(), false);
  for (std::size_t i = 0; i < partitions.cask.size(); ++i) ends[index_of(partitions.cask[i].back())] = true;
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    const bool resizes = is_op(node, "Resize") || is_op(node, "Upsample");
    if (!resizes || partitioned[index_of(id)] || node.inputs.empty() || node.inputs[0] == kNone) continue;
    const NodeId producer = graph.producer(node.inputs[0]);
    const bool behind = producer != kNone && ends[index_of(producer)] &&
                        graph.graph().node(producer).outputs[0] == node.inputs[0];
    if (behind) partitions.kgen.push_back({&id, 1});
  }
}

}  // namespace

void PartitionList::push_back(Partition partition) {
  begins_.push_back(nodes_.size());
  nodes_.insert(nodes_.end(), partition.begin(), partition.end());
}

Partition PartitionList::operator[](std::size_t index) const {
  const std::size_t end = index + 1 < begins_.size() ? begins_[index + 1] : nodes_.size();
  return std::span(nodes_).subspan(begins_[index], end - begins_[index]);
}

Partitions find_fusible_partitions(const PolicyGraph& graph, std::vector<bool>& partitioned,
                                   const NonResidualInputs& non_residual, FusibleBackbone& backbone) {
  PartitionBuilder builder(graph, partitioned, non_residual, backbone);
  Partitions partitions;
  const auto grow_from = [&](OpClass roots, PartitionList& into) {
    for (const NodeId id : graph.nodes()) {
      if (partitioned[index_of(id)] || !graph.is_class(id, roots)) continue;
      const Partition partition = builder.grow(id);
      if (!partition.empty()) into.push_back(partition);
    }
  };
  grow_from(OpClass::kLinear, partitions.cask);
  grow_from(OpClass::kPointwise, partitions.kgen);
  add_resize_partitions(graph, partitioned, partitions);
  return partitions;
}

}  // namespace halftone::tensorrt
