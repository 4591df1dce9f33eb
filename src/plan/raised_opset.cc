#include "plan/raised_opset.h"

#include <algorithm>
#include <utility>

namespace halftone {

Result<std::shared_ptr<const Model>> raised_to(const std::shared_ptr<const Model>& model,
                                               std::int64_t needed) {
  if (model->graph().opset() >= needed) return model;
  return model->with_opset(needed);
}

Site site_in(const Graph& graph, Site site) {
  const TensorId id = site.aimet ? graph.find_tensor(site.tensor) : kNone;
  if (id == kNone) return site;
  site.consumers.clear();
  for (const Use use : graph.tensor(id).consumers)
    site.consumers.push_back({graph.node_label(use.node), use.input});
  return site;
}

std::vector<Site> sites_in(const Graph& graph, std::span<const Site* const> sites) {
  std::vector<Site> here;
  for (const Site* site : sites) {
    const TensorId id = graph.find_tensor(site->tensor);
    if (id == kNone) continue;
    Site part = site_in(graph, *site);
    const auto reads = [&](const Consumer& consumer) {
      const NodeId node = graph.find_node(consumer.node);
      if (node == kNone || consumer.input < 0) return false;
      const auto& inputs = graph.node(node).inputs;
      const auto input = static_cast<std::size_t>(consumer.input);
      return input < inputs.size() && inputs[input] == id;
    };
    std::erase_if(part.consumers, [&](const Consumer& consumer) { return !reads(consumer); });
    // A graph input of a part is what crosses a cut, not what its node makes.
    const GraphTensor& tensor = graph.tensor(id);
    part.serves_output = site->serves_output && tensor.graph_output && tensor.producer != kNone;
    if (!part.consumers.empty() || part.serves_output) here.push_back(std::move(part));
  }
  return here;
}

}  // namespace halftone
