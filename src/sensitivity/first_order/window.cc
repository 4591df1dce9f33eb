#include "sensitivity/first_order/window.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace halftone::first_order_model {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 20;
// Of an axis whose margins are computed here; a run may know better.
constexpr std::int64_t kLongest = std::int64_t{1} << 40;

Ints list_or(const BackwardStep& step, const char* name, std::size_t count, std::int64_t otherwise) {
  const AttributeView* given = step.graph.attribute(step.id, name);
  if (given == nullptr || given->ints.empty()) return Ints(count, otherwise);
  return {given->ints.begin(), given->ints.end()};
}

bool within(const Ints& values, std::size_t count, std::int64_t least) {
  return values.size() == count && std::all_of(values.begin(), values.end(), [&](std::int64_t value) {
           return value >= least && value <= kLargest;
         });
}

// SAME margins, where the graph tells them.
void settle(const BackwardStep& step, Window& window) {
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const std::int64_t size = step.shapes.dimension(step.input_id(0), i + 2);
    const std::int64_t stride = window.strides[i];
    if ((size < 0 && stride != 1) || size > kLongest) return;
    const std::int64_t before_last = stride == 1 ? size - 1 : (size - 1) / stride * stride;
    const std::int64_t missing =
        stride == 1 ? window.extent(i) - 1 : std::max<std::int64_t>(0, before_last + window.extent(i) - size);
    const std::int64_t smaller = missing / 2;
    window.begin[i] = window.margins == Margins::kSameUpper ? smaller : missing - smaller;
    window.end[i] = missing - window.begin[i];
  }
  window.margins = Margins::kGiven;
}

// What the strides leave over at the end of each axis; nullopt where only a run knows.
std::optional<Ints> remainders(const BackwardStep& step, const Window& window, TensorId input) {
  Ints left(window.rank(), 0);
  for (std::size_t i = 0; i < window.rank(); ++i) {
    if (window.strides[i] == 1) continue;
    const std::int64_t size = step.shapes.dimension(input, i + 2);
    if (size < 0 || size > kLongest) return std::nullopt;
    const std::int64_t room = size + window.begin[i] + window.end[i] - window.extent(i);
    if (room < 0) return std::nullopt;
    left[i] = room % window.strides[i];
  }
  return left;
}

std::string padded(BackwardStep& step, const std::string& tensor, const std::string& begin,
                   const std::string& end) {
  const std::string pads = step.nodes.add("Concat", {begin, end}, {{"axis", std::int64_t{0}}});
  return step.nodes.add("Pad", {tensor, pads});
}

}  // namespace

bool Window::steps_by_one() const {
  return std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 1; });
}

Result<Window> window_of(const BackwardStep& step, Ints kernel) {
  Window window;
  window.kernel = kernel.empty() ? list_or(step, "kernel_shape", 0, 0) : std::move(kernel);
  const std::size_t rank = window.rank();
  window.strides = list_or(step, "strides", rank, 1);
  window.dilations = list_or(step, "dilations", rank, 1);
  const AttributeView* automatic = step.graph.attribute(step.id, "auto_pad");
  const std::string_view mode =
      automatic != nullptr && automatic->s ? *automatic->s : std::string_view("NOTSET");
  Ints pads = mode == "NOTSET" ? list_or(step, "pads", 2 * rank, 0) : Ints(2 * rank, 0);
  if (rank == 0 || rank > 8 || !within(window.kernel, rank, 1) || !within(window.strides, rank, 1) ||
      !within(window.dilations, rank, 1) || !within(pads, 2 * rank, 0))
    return step.unsupported("its kernel, strides or margins don't fit each other");
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  window.begin.assign(pads.begin(), middle);
  window.end.assign(middle, pads.end());
  if (mode == "SAME_UPPER") window.margins = Margins::kSameUpper;
  if (mode == "SAME_LOWER") window.margins = Margins::kSameLower;
  if (window.margins != Margins::kGiven) settle(step, window);
  return window;
}

// Rows behind the last window get nothing, those that a margin at the end would cut off belong to the input
// as far as it goes: so where only a run knows the input's size, the end is cut off or filled up by it.
std::string spread_back(BackwardStep& step, const Window& window, const std::string& gradient,
                        const std::string& filter, std::int64_t groups, TensorId input) {
  NodeWriter& nodes = step.nodes;
  Attributes attributes = {{"strides", window.strides}, {"dilations", window.dilations}, {"group", groups}};
  const bool given = window.margins == Margins::kGiven;
  const std::optional<Ints> left = given ? remainders(step, window, input) : std::nullopt;
  Ints pads = window.begin;
  pads.insert(pads.end(), window.end.begin(), window.end.end());
  if (!left) std::fill(pads.begin() + static_cast<std::ptrdiff_t>(given ? window.rank() : 0), pads.end(), 0);
  attributes.emplace_back("pads", std::move(pads));
  if (left) attributes.emplace_back("output_padding", *left);
  const std::string full = nodes.add("ConvTranspose", {gradient, filter}, std::move(attributes));
  if (left) return full;
  const std::string missing = nodes.add("Sub", {step.shapes.of(input), nodes.add("Shape", {full})});
  if (given) return padded(step, full, nodes.ints(Ints(window.rank() + 2, 0)), missing);
  const std::string surplus = nodes.add("Max", {nodes.add("Neg", {missing}), nodes.ints({0})});
  const bool upper = window.margins == Margins::kSameUpper;
  const std::string larger = upper ? surplus : nodes.add("Add", {surplus, nodes.ints({1})});
  const std::string begin = nodes.add("Neg", {nodes.add("Div", {larger, nodes.ints({2})})});
  return padded(step, full, begin, nodes.add("Sub", {missing, begin}));
}

}  // namespace halftone::first_order_model
