// Which nodes a quantizer belongs to. Private to src/sensitivity.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/graph.h"
#include "halftone/plan.h"

namespace halftone {

class SiteOwners {
 public:
  // O(nodes).
  explicit SiteOwners(const Graph& graph);

  // The nodes that the site is part of in AIMET's per-layer analysis, in topological order, each once: the
  // producer of an activation, or where no node makes the tensor, and for weights, all that read it
  // dequantized. Empty if there are none in this graph.
  [[nodiscard]] std::vector<NodeId> nodes_of(const Site& site) const;

  // Position of a node in the topological order.
  [[nodiscard]] std::int32_t position(NodeId node) const {
    return positions_[static_cast<std::size_t>(node)];
  }

 private:
  const Graph& graph_;
  std::vector<std::int32_t> positions_;
};

}  // namespace halftone
