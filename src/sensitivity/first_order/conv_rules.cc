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

// With steps of one, the gradient is a convolution, too: with the filter turned around in space, and in each
// group with its two kinds of channels exchanged. Runtimes do that faster than the general way, with one
// group a channel several times. nullopt where the filter isn't known, or margins are wider than the windows;
// where there is nothing to turn around it isn't worth a copy.
std::optional<std::string> as_convolution(BackwardStep& step, const Window& window, std::int64_t groups) {
  const std::size_t rank = window.rank();
  if (!window.steps_by_one() || window.margins != Margins::kGiven || groups < 1) return std::nullopt;
  Ints begin(rank);
  Ints end(rank);
  std::size_t taps = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    begin[i] = window.extent(i) - 1 - window.begin[i];
    end[i] = window.extent(i) - 1 - window.end[i];
    if (begin[i] < 0 || end[i] < 0) return std::nullopt;
    taps *= static_cast<std::size_t>(window.kernel[i]);
  }
  const std::optional<Ints> dims = step.shapes.known(step.node.inputs[1]);
  if (taps == 1 || !dims || (*dims)[0] % groups != 0) return std::nullopt;
  const std::optional<std::vector<float>> filter = step.constant_floats(1);
  if (!filter) return std::nullopt;
  const auto count = static_cast<std::size_t>(groups);
  const auto made = static_cast<std::size_t>((*dims)[0]) / count;
  const auto read = static_cast<std::size_t>((*dims)[1]);
  if (filter->size() != count * made * read * taps) return std::nullopt;
  std::vector<float> turned(filter->size());
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const std::size_t tap = i % taps;
    const std::size_t from = i / taps % read;
    const std::size_t to = i / taps / read % made;
    const std::size_t group = i / taps / read / made;
    turned[((group * read + from) * made + to) * taps + (taps - 1 - tap)] = (*filter)[i];
  }
  Ints shape = *dims;
  shape[0] = static_cast<std::int64_t>(count * read);
  shape[1] = static_cast<std::int64_t>(made);
  begin.insert(begin.end(), end.begin(), end.end());
  return step.nodes.add("Conv", {step.gradient(), step.nodes.floats(shape, turned)},
                        {{"dilations", window.dilations}, {"group", groups}, {"pads", begin}});
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
  if (std::optional<std::string> made = as_convolution(step, window.value(), groups)) {
    step.given[0] = *std::move(made);
    return {};
  }
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
