// ModelOpt's lowest common ancestor of two nodes, by the distances of its own depth-first walk, without
// walking the whole graph.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

struct CommonAncestor {
  NodeId node = kNone;
  std::int64_t from_first = -1;  // distance from the first node; -1 without a common ancestor
  std::int64_t from_second = -1;
};

// What the residual rule asks of a CommonAncestor.
struct AncestorRelation {
  NodeId node = kNone;
  bool first_is_farther = false;  // from_first > from_second
};

// Keeps scratch memory between calls: not to be shared by threads.
class AncestorFinder {
 public:
  explicit AncestorFinder(const PolicyGraph& graph);

  // Among the nodes that are (or are above) both, the one with the smallest distance from `first`. Distances
  // are those of a last-in-first-out walk over parents (first visit counts), not shortest paths. Ties, which
  // the peer leaves to chance, go to the topologically first node. The walks stop at the nearest node through
  // which everything above both has to pass: what lies beyond is farther than it.
  [[nodiscard]] CommonAncestor find(NodeId first, NodeId second);
  // The same, in O(log n) where all ways to one of the two lead through the other, as on a residual net's
  // identity branches, however long the other branch is.
  [[nodiscard]] AncestorRelation relate(NodeId first, NodeId second);

 private:
  // The nodes that the last walk from one of the two met, and how far they are.
  struct Walk {
    std::vector<NodeId> visited;                                  // in order of first visit
    std::vector<std::pair<std::uint32_t, std::int64_t>> reached;  // by node: number of the walk, distance
    std::uint32_t number = 0;
    [[nodiscard]] bool met(NodeId node) const {
      return reached[static_cast<std::size_t>(node)].first == number;
    }
    [[nodiscard]] std::int64_t distance(NodeId node) const {
      return reached[static_cast<std::size_t>(node)].second;
    }
  };
  void walk(NodeId from, NodeId barrier, Walk& walk);
  [[nodiscard]] NodeId common_dominator(NodeId a, NodeId b) const;
  [[nodiscard]] NodeId lift(NodeId node, std::int32_t depth) const;

  const PolicyGraph& graph_;
  // Dominator tree of the forward graph under a virtual root (kNone), with a second, longer jump for each
  // node.
  std::vector<NodeId> dominator_;
  std::vector<NodeId> jump_;
  std::vector<std::int32_t> depth_;  // of nodes below the virtual root: 1; the root's is 0
  Walk first_;
  Walk second_;
  std::vector<NodeId> stack_;
};

}  // namespace halftone::tensorrt
