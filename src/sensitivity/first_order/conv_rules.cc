// Convolutions.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "sensitivity/first_order/rules.h"
#include "sensitivity/first_order/window.h"

namespace halftone::first_order_model {
namespace {

constexpr std::size_t kSmallestRank = 3;

// The sizes of a filter's windows; nullopt where they aren't known.
std::optional<Ints> kernel_of(const BackwardStep& step) {
  const std::optional<Ints> dims =
      step.input_id(1) == kNone ? std::nullopt : step.shapes.known(step.input_id(1));
  if (!dims || dims->size() < kSmallestRank) return std::nullopt;
  return Ints(dims->begin() + 2, dims->end());
}

// Over all axes but the channels'.
void give_bias(BackwardStep& step, std::size_t spatial) {
  if (!step.wants(2)) return;
  Ints axes = {0};
  for (std::size_t i = 0; i < spatial; ++i) axes.push_back(static_cast<std::int64_t>(i + 2));
  step.given[2] =
      step.nodes.add("ReduceSum", {step.gradient(), step.nodes.ints(axes)}, {{"keepdims", std::int64_t{0}}});
}

}  // namespace

Result<void> back_conv(BackwardStep& step) {
  const std::optional<Ints> kernel = kernel_of(step);
  if (!kernel) return step.unsupported("the shape of its weight isn't known");
  step.give_linear_effect(1, 2);
  if (step.wants(1) && step.changes[1].empty()) return step.unsupported("its weight is computed");
  give_bias(step, kernel->size());
  if (!step.wants(0)) return {};
  if (!step.changes[0].empty()) {
    step.give_linear_effect(0, 2);
    return {};
  }
  const Result<Window> window = window_of(step, *kernel);
  if (!window.ok()) return window.error();
  const std::int64_t groups = step.graph.int_attribute(step.id, "group", 1);
  step.given[0] =
      spread_back(step, window.value(), step.gradient(), step.input(1), groups, step.node.inputs[0]);
  return {};
}

// Its gradient is the convolution with the same filter. What output_padding adds lies behind its last window.
Result<void> back_conv_transpose(BackwardStep& step) {
  const std::optional<Ints> kernel = kernel_of(step);
  if (!kernel) return step.unsupported("the shape of its weight isn't known");
  const AttributeView* automatic = step.graph.attribute(step.id, "auto_pad");
  const bool given = automatic == nullptr || !automatic->s || *automatic->s == "NOTSET";
  if (!given || step.graph.attribute(step.id, "output_shape") != nullptr)
    return step.unsupported("its margins follow from the shape of its output");
  step.give_linear_effect(1, 2);
  if (step.wants(1) && step.changes[1].empty()) return step.unsupported("its weight is computed");
  give_bias(step, kernel->size());
  if (!step.wants(0)) return {};
  if (!step.changes[0].empty()) {
    step.give_linear_effect(0, 2);
    return {};
  }
  step.given[0] = step.nodes.add("Conv", {step.gradient(), step.input(1)},
                                 step.attributes({"dilations", "group", "kernel_shape", "pads", "strides"}));
  return {};
}

}  // namespace halftone::first_order_model
