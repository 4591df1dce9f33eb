// ModelOpt's lowest common ancestor of two nodes, by the distances of its own depth-first walk, without
// walking the whole graph.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

struct CommonAncestor {
  NodeId node = kNone;
  std::int64_t from_first = -1;  // distance from the first node; -1 without a common ancestor
  std::int64_t from_second = -1;
};

class AncestorFinder {
 public:
  explicit AncestorFinder(const PolicyGraph& graph);

  // Among the nodes that are (or are above) both, the one with the smallest distance from `first`. Distances
  // are those of a last-in-first-out walk over parents (first visit counts), not shortest paths. Ties, which
  // the peer leaves to chance, go to the topologically first node. The walks stop at the nearest node through
  // which everything above both has to pass: what lies beyond is farther than it.
  [[nodiscard]] CommonAncestor find(NodeId first, NodeId second) const;

 private:
  struct Distances;
  [[nodiscard]] Distances walk(NodeId from, NodeId barrier) const;
  [[nodiscard]] NodeId common_dominator(NodeId a, NodeId b) const;
  [[nodiscard]] NodeId lift(NodeId node, std::int32_t depth) const;

  const PolicyGraph& graph_;
  // Dominator tree of the forward graph under a virtual root (kNone), with a second, longer jump for each
  // node.
  std::vector<NodeId> dominator_;
  std::vector<NodeId> jump_;
  std::vector<std::int32_t> depth_;  // of nodes below the virtual root: 1; the root's is 0
};

}  // namespace halftone::tensorrt
