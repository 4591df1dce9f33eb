#include "sensitivity/first_order/broadcast.h"

#include <algorithm>
#include <cstdint>

namespace halftone::first_order_model {
namespace {

const Attributes kKeepDims = {{"keepdims", std::int64_t{1}}, {"noop_with_empty_axes", std::int64_t{1}}};
const Attributes kDropDims = {{"keepdims", std::int64_t{0}}, {"noop_with_empty_axes", std::int64_t{1}}};

// Some exporters write one "?" for everything that they don't know.
bool tells_apart(const std::string& symbol) { return !symbol.empty() && symbol != "?"; }

}  // namespace

Broadcast::Broadcast(const Graph& graph, Shapes& shapes, NodeWriter& nodes,
                     const std::vector<TensorId>& operands)
    : graph_(graph), shapes_(shapes), nodes_(nodes) {
  for (const TensorId operand : operands) {
    if (operand == kNone) continue;
    const auto& shape = graph_.tensor(operand).shape;
    if (!shape) {
      ranks_known_ = false;
      continue;
    }
    axes_.resize(std::max(axes_.size(), shape->size()));
    for (std::size_t i = 0; i < shape->size(); ++i) {
      const Dimension& dimension = (*shape)[shape->size() - 1 - i];
      if (dimension.value == 1) continue;
      Axis& axis = axes_[i];
      const bool named = dimension.value < 0 && tells_apart(dimension.symbol);
      axis.one_symbol = named && (axis.wide == 0 || (axis.one_symbol && axis.symbol == dimension.symbol));
      axis.symbol = dimension.symbol;
      ++axis.wide;
    }
  }
}

bool Broadcast::may_be_spread(TensorId operand, std::size_t axis) const {
  const auto& shape = *graph_.tensor(operand).shape;
  const Axis& of_all = axes_[shape.size() - 1 - axis];
  return shape[axis].value < 0 && of_all.wide > 1 && !of_all.one_symbol;
}

std::string Broadcast::to_operand(const std::string& gradient, TensorId operand) {
  if (!ranks_known_) return to_unknown_rank(gradient, operand);
  const auto& shape = *graph_.tensor(operand).shape;
  Ints leading;
  Ints spread;
  bool uncertain = false;
  for (std::size_t i = shape.size(); i < axes_.size(); ++i)
    leading.push_back(static_cast<std::int64_t>(i - shape.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].value == 1 && axes_[shape.size() - 1 - i].wide > 0)
      spread.push_back(static_cast<std::int64_t>(i));
    uncertain = uncertain || may_be_spread(operand, i);
  }
  std::string sum = gradient;
  if (!leading.empty()) sum = nodes_.add("ReduceSum", {sum, nodes_.ints(leading)}, kDropDims);
  if (uncertain) return nodes_.add("ReduceSum", {sum, shapes_.spread_axes(operand, sum)}, kKeepDims);
  if (!spread.empty()) sum = nodes_.add("ReduceSum", {sum, nodes_.ints(spread)}, kKeepDims);
  return sum;
}

// The operand's shape is filled up with ones in front, as broadcasting does.
std::string Broadcast::to_unknown_rank(const std::string& gradient, TensorId operand) {
  const std::string own = shapes_.of(operand);
  const std::string missing =
      nodes_.add("Sub", {nodes_.add("Shape", {nodes_.add("Shape", {gradient})}), nodes_.add("Shape", {own})});
  const std::string filled = nodes_.add("Concat", {nodes_.add("Expand", {nodes_.ints({1}), missing}), own},
                                        {{"axis", std::int64_t{0}}});
  const std::string is_one = nodes_.add("Equal", {filled, nodes_.ints({1})});
  const std::string axes = nodes_.add("Squeeze", {nodes_.add("NonZero", {is_one}), nodes_.ints({0})});
  return nodes_.add("Reshape", {nodes_.add("ReduceSum", {gradient, axes}, kKeepDims), own},
                    {{"allowzero", std::int64_t{1}}});
}

}  // namespace halftone::first_order_model
