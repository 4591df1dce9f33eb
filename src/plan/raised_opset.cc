#include "plan/raised_opset.h"

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

}  // namespace halftone
