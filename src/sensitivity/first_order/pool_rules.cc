// Pooling over windows.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include "sensitivity/first_order/moved_values.h"
#include "sensitivity/first_order/rules.h"
#include "sensitivity/first_order/window.h"

namespace halftone::first_order_model {
namespace {

constexpr std::int64_t kMostChannels = std::int64_t{1} << 20;
constexpr std::int64_t kMostFilterValues = std::int64_t{1} << 24;

// Whether rounding the number of windows up makes none more than rounding down.
bool rounds_up_to_nothing(const BackwardStep& step, const Window& window) {
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const std::int64_t size = step.shapes.dimension(step.input_id(0), i + 2);
    if (size < 0 || size > kMostFilterValues) return window.steps_by_one();
    if ((size + window.begin[i] + window.end[i] - window.extent(i)) % window.strides[i] != 0) return false;
  }
  return true;
}

// The same value all over a filter [channels, 1, kernel …].
std::string filter(BackwardStep& step, const Window& window, std::int64_t channels, float value) {
  Ints dims = {channels, 1};
  dims.insert(dims.end(), window.kernel.begin(), window.kernel.end());
  std::string shape = step.nodes.ints(dims);
  return step.nodes.add("Expand", {step.nodes.number(value), shape});
}

// How many values of the input each window holds.
std::string counts(BackwardStep& step, const Window& window) {
  NodeWriter& nodes = step.nodes;
  const std::string sizes =
      nodes.add("Slice", {step.shapes.of(step.node.inputs[0]), nodes.ints({2}), nodes.ints({INT64_MAX})});
  const std::string shape = nodes.add("Concat", {nodes.ints({1, 1}), sizes}, {{"axis", std::int64_t{0}}});
  const std::string ones = nodes.add("Expand", {nodes.number(1.0F), shape});
  return nodes.add("Conv", {ones, filter(step, window, 1, 1.0F)},
                   step.attributes({"auto_pad", "dilations", "kernel_shape", "pads", "strides"}));
}

}  // namespace

// The runtime says which value each window took.
Result<void> back_max_pool(BackwardStep& step) {
  const std::vector<std::string> pooled = step.nodes.add_with(
      2, "MaxPool", {step.input(0)},
      step.attributes({"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"}));
  step.given[0] = scattered(step, step.gradient(), pooled[1], step.node.inputs[0]);
  return {};
}

Result<void> back_average_pool(BackwardStep& step) {
  const Result<Window> of = window_of(step, {});
  if (!of.ok()) return of.error();
  const Window& window = of.value();
  if (step.graph.int_attribute(step.id, "ceil_mode", 0) != 0 && !rounds_up_to_nothing(step, window))
    return step.unsupported("its last windows may reach beyond its margins");
  const std::int64_t channels = step.shapes.dimension(step.node.inputs[0], 1);
  if (channels < 1 || channels > kMostChannels)
    return step.unsupported("the number of its channels isn't known");
  std::int64_t values = 1;
  for (const std::int64_t size : window.kernel) {
    values *= size;  // sizes are at most 2^20
    if (values > kMostFilterValues / channels) return step.unsupported("its windows are too large");
  }
  const auto none = [](const Ints& margins) {
    return std::all_of(margins.begin(), margins.end(), [](std::int64_t pad) { return pad == 0; });
  };
  const bool full = step.graph.int_attribute(step.id, "count_include_pad", 0) != 0 ||
                    (window.margins == Margins::kGiven && none(window.begin) && none(window.end));
  const std::string gradient =
      full ? step.gradient() : step.nodes.add("Div", {step.gradient(), counts(step, window)});
  const float value = full ? 1.0F / static_cast<float>(values) : 1.0F;
  step.given[0] = spread_back(step, window, gradient, filter(step, window, channels, value), channels,
                              step.node.inputs[0]);
  return {};
}

}  // namespace halftone::first_order_model
