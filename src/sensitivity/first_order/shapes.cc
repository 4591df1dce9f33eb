#include "sensitivity/first_order/shapes.h"

namespace halftone::first_order_model {

std::optional<std::size_t> Shapes::rank(TensorId tensor) const {
  if (tensor == kNone) return std::nullopt;
  const auto& shape = graph_.tensor(tensor).shape;
  return shape ? std::optional(shape->size()) : std::nullopt;
}

std::optional<Ints> Shapes::known(TensorId tensor) const {
  if (tensor == kNone) return std::nullopt;
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
  if (tensor == kNone) return -1;
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

std::string Shapes::spread_axes(TensorId tensor, const std::string& wide) {
  std::string& is_unit = is_unit_[tensor];
  if (is_unit.empty()) is_unit = nodes_.add("Equal", {of(tensor), nodes_.ints({1})});
  const std::string is_wide = nodes_.add("Greater", {nodes_.add("Shape", {wide}), nodes_.ints({1})});
  return nodes_.add("Squeeze",
                    {nodes_.add("NonZero", {nodes_.add("And", {is_unit, is_wide})}), nodes_.ints({0})});
}

std::string Shapes::size(TensorId tensor) { return nodes_.add("Size", {graph_.tensor(tensor).name}); }

}  // namespace halftone::first_order_model
