// Softmax and normalizations.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {
namespace {

constexpr float kDefaultEpsilon = 1e-5F;

// With n = (x - mean) / σ over some axes, and σ's reciprocal.
struct Normalized {
  std::string values;
  std::string by;
};

Normalized normalized(BackwardStep& step, const Ints& axes) {
  NodeWriter& nodes = step.nodes;
  const std::string centered = nodes.add("Sub", {step.input(0), nodes.mean_over(step.input(0), axes)});
  const std::string variance = nodes.mean_over(nodes.add("Mul", {centered, centered}), axes);
  const float epsilon = step.graph.float_attribute(step.id, "epsilon", kDefaultEpsilon);
  const std::string deviation = nodes.add("Sqrt", {nodes.add("Add", {variance, nodes.number(epsilon)})});
  const std::string by = nodes.add("Reciprocal", {deviation});
  return {nodes.add("Mul", {centered, by}), by};
}

// (g - mean(g) - n mean(g n)) / σ, for g by n.
std::string through(BackwardStep& step, const Normalized& of, const std::string& gradient, const Ints& axes) {
  NodeWriter& nodes = step.nodes;
  const std::string along = nodes.mean_over(nodes.add("Mul", {gradient, of.values}), axes);
  const std::string level = nodes.add("Sub", {gradient, nodes.mean_over(gradient, axes)});
  const std::string rest = nodes.add("Sub", {level, nodes.add("Mul", {of.values, along})});
  return nodes.add("Mul", {rest, of.by});
}

Ints axes_from(std::size_t first, std::size_t rank) {
  Ints axes;
  for (std::size_t i = first; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

// [channels] as something that is spread over [batch, channels, …].
std::string by_channel(BackwardStep& step, const std::string& tensor, std::size_t rank) {
  Ints dims(rank - 1, 1);
  dims[0] = -1;
  return step.nodes.add("Reshape", {tensor, step.nodes.ints(dims)});
}

std::string over_all_but_channels(BackwardStep& step, const std::string& tensor, std::size_t rank) {
  Ints axes = axes_from(2, rank);
  axes.insert(axes.begin(), 0);
  return step.nodes.add("ReduceSum", {tensor, step.nodes.ints(axes)}, {{"keepdims", std::int64_t{0}}});
}

// scale / √(variance + ε), by channel, worked out here where both are constants, as they nearly always are.
std::string batch_slope(BackwardStep& step, std::size_t rank) {
  NodeWriter& nodes = step.nodes;
  const float epsilon = step.graph.float_attribute(step.id, "epsilon", kDefaultEpsilon);
  const std::optional<std::vector<float>> scale = step.constant_floats(1);
  const std::optional<std::vector<float>> variance = step.constant_floats(4);
  if (!scale || !variance || scale->size() != variance->size()) {
    const std::string deviation =
        nodes.add("Sqrt", {nodes.add("Add", {step.input(4), nodes.number(epsilon)})});
    return by_channel(step, nodes.add("Div", {step.input(1), deviation}), rank);
  }
  std::vector<float> slope = *scale;
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] /= std::sqrt((*variance)[i] + epsilon);
  Ints dims(rank - 1, 1);
  dims[0] = static_cast<std::int64_t>(slope.size());
  return nodes.floats(std::move(dims), slope);
}

}  // namespace

Result<void> back_softmax(BackwardStep& step) {
  NodeWriter& nodes = step.nodes;
  const std::string axis = nodes.ints({step.graph.int_attribute(step.id, "axis", -1)});
  const auto summed = [&](const std::string& tensor) {
    return nodes.add("ReduceSum", {tensor, axis}, {{"keepdims", std::int64_t{1}}});
  };
  const std::string& g = step.gradient();
  if (step.node.op_type == "LogSoftmax") {
    const std::string share = nodes.add("Mul", {nodes.add("Exp", {step.output()}), summed(g)});
    step.given[0] = nodes.add("Sub", {g, share});
    return {};
  }
  const std::string mean = summed(nodes.add("Mul", {g, step.output()}));
  step.given[0] = nodes.add("Mul", {step.output(), nodes.add("Sub", {g, mean})});
  return {};
}

Result<void> back_batch_normalization(BackwardStep& step) {
  if (step.graph.int_attribute(step.id, "training_mode", 0) != 0)
    return step.unsupported("it is in training mode");
  if (step.node.inputs.size() != 5) return step.unsupported("it lacks parameters");
  if (step.wants_any_behind(2)) return step.unsupported("a quantizer changes its statistics");
  const auto rank = step.shapes.rank(step.node.inputs[0]);
  if (!rank || *rank < 2) return step.unsupported("the rank of its input isn't known");
  NodeWriter& nodes = step.nodes;
  if (step.wants(0)) step.give_product(batch_slope(step, *rank));
  if (step.wants(1)) {
    const float epsilon = step.graph.float_attribute(step.id, "epsilon", kDefaultEpsilon);
    const std::string deviation =
        nodes.add("Sqrt", {nodes.add("Add", {step.input(4), nodes.number(epsilon)})});
    const std::string centered = nodes.add("Sub", {step.input(0), by_channel(step, step.input(3), *rank)});
    const std::string normal = nodes.add("Div", {centered, by_channel(step, deviation, *rank)});
    step.given[1] = over_all_but_channels(step, nodes.add("Mul", {step.gradient(), normal}), *rank);
  }
  if (step.wants(2)) step.given[2] = over_all_but_channels(step, step.gradient(), *rank);
  return {};
}

Result<void> back_layer_normalization(BackwardStep& step) {
  const auto rank = step.shapes.rank(step.node.inputs[0]);
  std::int64_t axis = step.graph.int_attribute(step.id, "axis", -1);
  if (rank && axis < 0) axis += static_cast<std::int64_t>(*rank);
  if (!rank || axis < 0 || axis >= static_cast<std::int64_t>(*rank) || step.input(1).empty())
    return step.unsupported("the rank of its input isn't known");
  const Ints axes = axes_from(static_cast<std::size_t>(axis), *rank);
  NodeWriter& nodes = step.nodes;
  const std::string& g = step.gradient();
  if (step.wants(0) || step.wants(1)) {
    const Normalized of = normalized(step, axes);
    if (step.wants(0)) step.given[0] = through(step, of, nodes.add("Mul", {g, step.input(1)}), axes);
    if (step.wants(1)) {
      Broadcast spread(step.graph, step.shapes, nodes, {step.node.inputs[1], step.node.outputs[0]});
      step.given[1] = spread.to_operand(nodes.add("Mul", {g, of.values}), step.node.inputs[1]);
    }
  }
  if (step.wants(2)) {
    Broadcast spread(step.graph, step.shapes, nodes, {step.node.inputs[2], step.node.outputs[0]});
    step.given[2] = spread.to_operand(g, step.node.inputs[2]);
  }
  return {};
}

Result<void> back_instance_normalization(BackwardStep& step) {
  const auto rank = step.shapes.rank(step.node.inputs[0]);
  if (!rank || *rank < 3 || step.input(1).empty())
    return step.unsupported("the rank of its input isn't known");
  const Ints axes = axes_from(2, *rank);
  NodeWriter& nodes = step.nodes;
  const std::string& g = step.gradient();
  if (step.wants(0) || step.wants(1)) {
    const Normalized of = normalized(step, axes);
    const std::string scaled = nodes.add("Mul", {g, by_channel(step, step.input(1), *rank)});
    if (step.wants(0)) step.given[0] = through(step, of, scaled, axes);
    if (step.wants(1)) step.given[1] = over_all_but_channels(step, nodes.add("Mul", {g, of.values}), *rank);
  }
  if (step.wants(2)) step.given[2] = over_all_but_channels(step, g, *rank);
  return {};
}

}  // namespace halftone::first_order_model
