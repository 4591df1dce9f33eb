#include "plan/tensorrt/common_ancestor.h"

namespace halftone::tensorrt {
namespace {

std::size_t index_of(NodeId id) { return static_cast<std::size_t>(id); }

}  // namespace

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

void AncestorFinder::walk(NodeId from, NodeId barrier, Walk& walk) {
  walk.reached.resize(graph_.graph().nodes().size());
  walk.visited.clear();
  ++walk.number;
  const auto visit = [&](NodeId node, std::int64_t distance) {
    if (walk.met(node)) return;
    walk.reached[index_of(node)] = {walk.number, distance};
    walk.visited.push_back(node);
    stack_.push_back(node);
  };
  visit(from, 0);
  while (!stack_.empty()) {
    const NodeId node = stack_.back();
    stack_.pop_back();
    if (node == barrier) continue;
    for (const NodeId parent : graph_.parents(node)) visit(parent, walk.distance(node) + 1);
  }
}

CommonAncestor AncestorFinder::find(NodeId first, NodeId second) {
  const NodeId barrier = common_dominator(first, second);
  walk(first, barrier, first_);
  walk(second, barrier, second_);
  CommonAncestor best;
  for (const NodeId node : first_.visited) {
    if (!second_.met(node)) continue;
    const std::int64_t distance = first_.distance(node);
    const bool better = best.node == kNone || distance < best.from_first ||
                        (distance == best.from_first && graph_.position(node) < graph_.position(best.node));
    if (better) best = {node, distance, second_.distance(node)};
  }
  return best;
}

AncestorRelation AncestorFinder::relate(NodeId first, NodeId second) {
  const NodeId barrier = common_dominator(first, second);
  // Everything else that is above both is above the barrier, so it is farther.
  if (barrier == first || barrier == second) return {barrier, barrier != first};
  const CommonAncestor common = find(first, second);
  return {common.node, common.from_first > common.from_second};
}

}  // namespace halftone::tensorrt
