// Operators that join tensors and take parts of them.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "sensitivity/first_order/moved_values.h"
#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {
namespace {

// int64 [inputs]: how long each is along the axis.
std::string lengths(BackwardStep& step, std::int64_t axis) {
  NodeWriter& nodes = step.nodes;
  std::vector<std::string> each;
  Ints known;
  for (const TensorId input : step.node.inputs) {
    const auto rank = step.shapes.rank(input);
    const std::int64_t from_front = axis < 0 && rank ? axis + static_cast<std::int64_t>(*rank) : axis;
    const std::int64_t size =
        from_front < 0 ? -1 : step.shapes.dimension(input, static_cast<std::size_t>(from_front));
    if (size >= 0) known.push_back(size);
    each.push_back(size >= 0 ? nodes.ints({size})
                             : nodes.add("Gather", {step.shapes.of(input), nodes.ints({axis})}));
  }
  if (known.size() == each.size()) return nodes.ints(known);
  return nodes.add("Concat", std::move(each), {{"axis", std::int64_t{0}}});
}

std::string computed_pads(BackwardStep& step, const Ints& begin) {
  NodeWriter& nodes = step.nodes;
  const std::string lost =
      nodes.add("Sub", {step.shapes.of(step.node.inputs[0]), step.shapes.of(step.node.outputs[0])});
  const std::string front = nodes.ints(begin);
  return nodes.add("Concat", {front, nodes.add("Sub", {lost, front})}, {{"axis", std::int64_t{0}}});
}

// What a slice leaves out in front, by axis, if it goes forward by ones from known places; else nullopt.
std::optional<Ints> left_out(const BackwardStep& step) {
  const auto rank = step.shapes.rank(step.input_id(0));
  const std::optional<Ints> starts = step.constant_ints(1);
  if (!rank || !starts || starts->size() > *rank) return std::nullopt;
  Ints axes(starts->size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  if (!step.input(3).empty()) {
    const std::optional<Ints> given = step.constant_ints(3);
    if (!given || given->size() != axes.size()) return std::nullopt;
    axes = *given;
  }
  if (!step.input(4).empty()) {
    const std::optional<Ints> steps = step.constant_ints(4);
    if (!steps || std::any_of(steps->begin(), steps->end(), [](auto by) { return by != 1; }))
      return std::nullopt;
  }
  Ints begin(*rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + static_cast<std::int64_t>(*rank) : axes[i];
    if (axis < 0 || axis >= static_cast<std::int64_t>(*rank)) return std::nullopt;
    const auto place = static_cast<std::size_t>(axis);
    const std::int64_t size = step.shapes.dimension(step.input_id(0), place);
    std::int64_t start = (*starts)[i];
    if (size < 0 && start != 0) return std::nullopt;
    if (start < 0) start = std::max<std::int64_t>(0, start + size);
    begin[place] = size < 0 ? 0 : std::min(start, size);
  }
  return begin;
}

}  // namespace

Result<void> back_concat(BackwardStep& step) {
  const std::int64_t axis = step.graph.int_attribute(step.id, "axis", 0);
  for (const TensorId input : step.node.inputs) {
    if (input == kNone) return step.unsupported("it lacks an operand");
  }
  const std::vector<std::string> parts = step.nodes.add_with(
      step.node.inputs.size(), "Split", {step.gradient(), lengths(step, axis)}, {{"axis", axis}});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (step.wants(i)) step.given[i] = parts[i];
  }
  return {};
}

Result<void> back_split(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes its sizes");
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    if (step.gradients[i].empty() && step.node.outputs[i] == kNone)
      return step.unsupported("it leaves an output out");
    parts.push_back(
        !step.gradients[i].empty()
            ? step.gradients[i]
            : step.nodes.add("Expand", {step.nodes.number(0.0F), step.shapes.of(step.node.outputs[i])}));
  }
  step.given[0] =
      step.nodes.add("Concat", std::move(parts), {{"axis", step.graph.int_attribute(step.id, "axis", 0)}});
  return {};
}

Result<void> back_slice(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes its places");
  const std::optional<Ints> begin = left_out(step);
  if (!begin) {
    give_moved(step, "int64");
    return {};
  }
  const std::optional<Ints> from = step.shapes.known(step.node.inputs[0]);
  const std::optional<Ints> made = step.shapes.known(step.node.outputs[0]);
  std::string pads;
  if (from && made && from->size() == made->size()) {
    Ints both = *begin;
    for (std::size_t i = 0; i < from->size(); ++i) both.push_back((*from)[i] - (*made)[i] - (*begin)[i]);
    pads = step.nodes.ints(both);
  } else {
    pads = computed_pads(step, *begin);
  }
  step.given[0] = step.nodes.add("Pad", {step.gradient(), pads});
  return {};
}

// Linear in what it takes from, so a quantized table needs no gradient of its own.
Result<void> back_gather(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes its indices");
  if (step.node.op_type == "Gather") step.give_linear_effect(0, 2);
  if (step.effects[0].empty()) give_moved(step, "int64");
  return {};
}

Result<void> back_resize(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes its scales");
  const AttributeView* mode = step.graph.attribute(step.id, "mode");
  if (mode != nullptr && mode->s && *mode->s != "nearest")
    return step.unsupported("it interpolates (" + printable(*mode->s) + ")");
  const AttributeView* places = step.graph.attribute(step.id, "coordinate_transformation_mode");
  if (places != nullptr && places->s && *places->s == "tf_crop_and_resize")
    return step.unsupported("it may read beyond its input");
  give_moved(step, "int32");
  return {};
}

}  // namespace halftone::first_order_model
