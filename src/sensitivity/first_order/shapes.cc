#include "sensitivity/first_order/shapes.h"

namespace halftone::first_order_model {

std::optional<std::size_t> Shapes::rank(TensorId tensor) const {
  const auto& shape = graph_.tensor(tensor).shape;
  return shape ? std::optional(shape->size()) : std::nullopt;
}

std::optional<Ints> Shapes::known(TensorId tensor) const {
  const auto& shape = graph_.tensor(tensor).shape;
  if (!shape) return std::nullopt;
  Ints dims;
  for (const Dimension& dimension : *shape) {
    if (dimension.value < 0) return std::nullopt;
    dims.push_back(dimension.value);
  }
  return dims;
}

std::int64_t Shapes::dimension(TensorId tensor, std::size_t axis) const {
  const auto& shape = graph_.tensor(tensor).shape;
  return shape && axis < shape->size() ? (*shape)[axis].value : -1;
}

std::string Shapes::of(TensorId tensor) {
  std::string& name = shapes_[tensor];
  if (!name.empty()) return name;
  const std::optional<Ints> dims = known(tensor);
  name = dims ? nodes_.ints(*dims) : nodes_.add("Shape", {graph_.tensor(tensor).name});
  return name;
}

std::string Shapes::unit_axes(TensorId tensor) {
  std::string& name = unit_axes_[tensor];
  if (!name.empty()) return name;
  const std::string is_one = nodes_.add("Equal", {of(tensor), nodes_.ints({1})});
  name = nodes_.add("Squeeze", {nodes_.add("NonZero", {is_one}), nodes_.ints({0})});
  return name;
}

std::string Shapes::size(TensorId tensor) { return nodes_.add("Size", {graph_.tensor(tensor).name}); }

}  // namespace halftone::first_order_model
