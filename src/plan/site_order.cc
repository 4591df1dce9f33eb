#include "plan/site_order.h"

#include <cstddef>
#include <limits>
#include <span>

namespace halftone {

std::vector<std::int32_t> contract_site_order(const Graph& graph) {
  constexpr std::int32_t kUnseen = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> places(graph.tensors().size(), kUnseen);
  std::int32_t next = 0;
  const auto visit = [&](std::span<const TensorId> tensors) {
    for (const TensorId id : tensors) {
      if (id == kNone) continue;
      std::int32_t& place = places[static_cast<std::size_t>(id)];
      if (place == kUnseen) place = next++;
    }
  };
  visit(graph.inputs());
  for (const NodeId id : graph.topological_order()) {
    visit(graph.node(id).inputs);
    visit(graph.node(id).outputs);
  }
  return places;
}

}  // namespace halftone
