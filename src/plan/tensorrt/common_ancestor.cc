#include "plan/tensorrt/common_ancestor.h"

#include <unordered_map>
#include <utility>

namespace halftone::tensorrt {
namespace {

std::size_t index_of(NodeId id) { return static_cast<std::size_t>(id); }

}  // namespace

struct AncestorFinder::Distances {
  std::vector<NodeId> visited;  // in order of first visit
  std::unordered_map<NodeId, std::int64_t> of;
};

// Dominators of an acyclic graph in one topological pass: a node's is the nearest common dominator of its
// parents. The jump pointers are Myers' skew-binary ones, so a common dominator takes O(log n).
AncestorFinder::AncestorFinder(const PolicyGraph& graph)
    : graph_(graph),
      dominator_(graph.graph().nodes().size(), kNone),
      jump_(graph.graph().nodes().size(), kNone),
      depth_(graph.graph().nodes().size(), 1) {
  const auto depth = [&](NodeId id) { return id == kNone ? 0 : depth_[index_of(id)]; };
  const auto jump = [&](NodeId id) { return id == kNone ? kNone : jump_[index_of(id)]; };
  for (const NodeId id : graph.nodes()) {
    bool first = true;
    NodeId dominator = kNone;
    for (const NodeId parent : graph.parents(id)) {
      dominator = first ? parent : common_dominator(dominator, parent);
      first = false;
    }
    dominator_[index_of(id)] = dominator;
    depth_[index_of(id)] = depth(dominator) + 1;
    const NodeId near = jump(dominator);
    const bool level = depth(dominator) - depth(near) == depth(near) - depth(jump(near));
    jump_[index_of(id)] = dominator != kNone && level ? jump(near) : dominator;
  }
}

// The dominator of `node` (or itself) at `depth`.
NodeId AncestorFinder::lift(NodeId node, std::int32_t depth) const {
  const auto depth_of = [&](NodeId id) { return id == kNone ? 0 : depth_[index_of(id)]; };
  while (depth_of(node) > depth) {
    const NodeId far = jump_[index_of(node)];
    node = depth_of(far) >= depth ? far : dominator_[index_of(node)];
  }
  return node;
}

NodeId AncestorFinder::common_dominator(NodeId a, NodeId b) const {
  const auto depth_of = [&](NodeId id) { return id == kNone ? 0 : depth_[index_of(id)]; };
  a = lift(a, depth_of(b));
  b = lift(b, depth_of(a));
  while (a != b) {
    // Equal depths have equally long jumps.
    const bool far = jump_[index_of(a)] != jump_[index_of(b)];
    a = far ? jump_[index_of(a)] : dominator_[index_of(a)];
    b = far ? jump_[index_of(b)] : dominator_[index_of(b)];
  }
  return a;
}

AncestorFinder::Distances AncestorFinder::walk(NodeId from, NodeId barrier) const {
  Distances distances;
  distances.of.emplace(from, 0);
  distances.visited.push_back(from);
  std::vector<NodeId> stack = {from};
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    if (node == barrier) continue;
    const std::int64_t next = distances.of.at(node) + 1;
    for (const NodeId parent : graph_.parents(node)) {
      if (!distances.of.emplace(parent, next).second) continue;
      distances.visited.push_back(parent);
      stack.push_back(parent);
    }
  }
  return distances;
}

CommonAncestor AncestorFinder::find(NodeId first, NodeId second) const {
  const NodeId barrier = common_dominator(first, second);
  const Distances from_first = walk(first, barrier);
  const Distances from_second = walk(second, barrier);
  CommonAncestor best;
  for (const NodeId node : from_first.visited) {
    const auto other = from_second.of.find(node);
    if (other == from_second.of.end()) continue;
    const std::int64_t distance = from_first.of.at(node);
    const bool better = best.node == kNone || distance < best.from_first ||
                        (distance == best.from_first && graph_.position(node) < graph_.position(best.node));
    if (better) best = {node, distance, other->second};
  }
  return best;
}

}  // namespace halftone::tensorrt
