#include "plan/tensorrt/tensor_shapes.h"

#include <algorithm>

namespace halftone::tensorrt {

TensorShapes::TensorShapes(const Graph& graph, const std::vector<std::pair<std::string, Shape>>& from_a_run)
    : graph_(graph) {
  for (const auto& [name, shape] : from_a_run) {
    if (const TensorId id = graph.find_tensor(name); id != kNone) measured_.insert_or_assign(id, shape);
  }
}

bool TensorShapes::is_known(TensorId tensor) const {
  if (measured_.contains(tensor)) return true;
  const std::optional<std::vector<Dimension>>& inferred = graph_.tensor(tensor).shape;
  return inferred && std::all_of(inferred->begin(), inferred->end(),
                                 [](const Dimension& dimension) { return dimension.value >= 0; });
}

std::optional<Shape> TensorShapes::of(TensorId tensor) const {
  if (const auto found = measured_.find(tensor); found != measured_.end()) return found->second;
  const std::optional<std::vector<Dimension>>& inferred = graph_.tensor(tensor).shape;
  if (!inferred) return std::nullopt;
  Shape shape;
  for (const Dimension& dimension : *inferred) shape.push_back(dimension.value < 0 ? 1 : dimension.value);
  return shape;
}

}  // namespace halftone::tensorrt
