#include "plan/tensorrt/concat_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

class DisjointTensors {
 public:
  explicit DisjointTensors(std::size_t count) : parent_(count), size_(count, 1) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  TensorId find(TensorId id) {
    while (parent_[index_of(id)] != id) {
      parent_[index_of(id)] = parent_[index_of(parent_[index_of(id)])];
      id = parent_[index_of(id)];
    }
    return id;
  }
  void join(TensorId a, TensorId b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    if (size_[index_of(a)] < size_[index_of(b)]) std::swap(a, b);
    parent_[index_of(b)] = a;
    size_[index_of(a)] += size_[index_of(b)];
  }

 private:
  std::vector<TensorId> parent_;
  std::vector<std::int32_t> size_;
};

}  // namespace

std::vector<std::int32_t> get_concat_eliminated_tensors(const PolicyGraph& graph,
                                                        const std::vector<bool>& selected) {
  const std::span<const GraphTensor> tensors = graph.graph().tensors();
  const auto read_by_selected = [&](TensorId id) {
    const std::vector<Use>& consumers = graph.graph().tensor(id).consumers;
    return std::any_of(consumers.begin(), consumers.end(),
                       [&](const Use& use) { return selected[index_of(use.node)]; });
  };
  DisjointTensors sets(tensors.size());
  std::vector<bool> joined(tensors.size(), false);
  std::vector<signed char> known(tensors.size(), -1);
  const auto remembered = [&](TensorId id) {
    signed char& answer = known[index_of(id)];
    if (answer < 0) answer = read_by_selected(id) ? 1 : 0;
    return answer == 1;
  };
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if (!is_op(node, "Concat") || node.outputs[0] == kNone || !remembered(node.outputs[0])) continue;
    for (const TensorId input : node.inputs) {
      if (input == kNone || !remembered(input)) continue;
      sets.join(node.outputs[0], input);
      joined[index_of(node.outputs[0])] = joined[index_of(input)] = true;
    }
  }
  std::vector<std::int32_t> group(tensors.size(), -1);
  std::vector<std::int32_t> number(tensors.size(), -1);
  std::int32_t next = 0;
  const auto assign = [&](TensorId id) {
    if (id == kNone || !joined[index_of(id)]) return;
    std::int32_t& of_root = number[index_of(sets.find(id))];
    if (of_root < 0) of_root = next++;
    group[index_of(id)] = of_root;
  };
  for (const TensorId input : graph.graph().inputs()) assign(input);
  for (const NodeId id : graph.nodes()) {
    for (const TensorId input : graph.graph().node(id).inputs) assign(input);
    for (const TensorId output : graph.graph().node(id).outputs) assign(output);
  }
  return group;
}

}  // namespace halftone::tensorrt
