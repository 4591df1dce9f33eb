#include "sensitivity/site_owners.h"

#include <algorithm>

namespace halftone {

SiteOwners::SiteOwners(const Graph& graph) : graph_(graph), positions_(graph.nodes().size(), 0) {
  std::int32_t next = 0;
  for (const NodeId node : graph.topological_order()) positions_[static_cast<std::size_t>(node)] = next++;
}

std::vector<NodeId> SiteOwners::nodes_of(const Site& site) const {
  const TensorId id = graph_.find_tensor(site.tensor);
  if (id == kNone) return {};
  const GraphTensor& tensor = graph_.tensor(id);
  // A Constant node is no layer: what it makes belongs to those that read it.
  const bool made_by_node = tensor.producer != kNone && !tensor.constant && site.role == Role::kActivation;
  if (made_by_node) return {tensor.producer};
  std::vector<NodeId> nodes;
  for (const Consumer& consumer : site.consumers) {
    const NodeId node = graph_.find_node(consumer.node);
    if (node != kNone) nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end(), [this](NodeId a, NodeId b) { return position(a) < position(b); });
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace halftone
