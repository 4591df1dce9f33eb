// Sums, means and extrema over axes.
#include <array>
#include <cstdint>
#include <string_view>

#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {
namespace {

// How many values of the output there are for one of the input, as a number.
std::string share(BackwardStep& step) {
  const auto float_size = [&](TensorId tensor) {
    return step.nodes.add("Cast", {step.shapes.size(tensor)},
                          {{"to", static_cast<std::int64_t>(DataType::kFloat)}});
  };
  return step.nodes.add("Div", {float_size(step.node.outputs[0]), float_size(step.node.inputs[0])});
}

// The axes of a reduction, wherever the version of the operator has them; empty: none are given.
std::string axes_of(BackwardStep& step) {
  const AttributeView* attribute = step.graph.attribute(step.id, "axes");
  if (attribute != nullptr)
    return attribute->ints.empty() ? std::string()
                                   : step.nodes.ints({attribute->ints.begin(), attribute->ints.end()});
  const std::optional<Ints> constant = step.constant_ints(1);
  return constant && constant->empty() ? std::string() : step.input(1);
}

std::string spread(BackwardStep& step, const std::string& tensor) {
  return step.nodes.add("Expand", {tensor, step.shapes.of(step.node.inputs[0])});
}

struct Reduction {
  std::string axes;    // empty: all
  std::string result;  // with the axes
  std::string gradient;
};

// The places that hold the extremum share its gradient.
void give_extremum(BackwardStep& step, const Reduction& of) {
  NodeWriter& nodes = step.nodes;
  const std::string holds = nodes.add("Cast", {nodes.add("Equal", {step.input(0), of.result})},
                                      {{"to", static_cast<std::int64_t>(DataType::kFloat)}});
  std::vector<std::string> counted = {holds};
  if (!of.axes.empty()) counted.push_back(of.axes);
  const std::string count = nodes.add("ReduceSum", std::move(counted), {{"keepdims", std::int64_t{1}}});
  step.given[0] = nodes.add("Mul", {holds, nodes.add("Div", {of.gradient, count})});
}

}  // namespace

Result<void> back_global_average(BackwardStep& step) {
  step.given[0] = spread(step, step.nodes.add("Mul", {step.gradient(), share(step)}));
  return {};
}

Result<void> back_global_max(BackwardStep& step) {
  const auto rank = step.shapes.rank(step.node.inputs[0]);
  if (!rank || *rank < 3) return step.unsupported("the rank of its input isn't known");
  Ints axes;
  for (std::size_t i = 2; i < *rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  give_extremum(step, {step.nodes.ints(axes), step.output(), step.gradient()});
  return {};
}

Result<void> back_reduction(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes its axes");
  NodeWriter& nodes = step.nodes;
  const std::string_view op = step.node.op_type;
  const bool kept = step.graph.int_attribute(step.id, "keepdims", 1) != 0;
  Reduction of{axes_of(step), step.output(), step.gradient()};
  if (of.axes.empty() && step.graph.int_attribute(step.id, "noop_with_empty_axes", 0) != 0) {
    if (op == "ReduceSumSquare" || op == "ReduceL2") return step.unsupported("it reduces nothing");
    step.given[0] = step.gradient();
    return {};
  }
  if (!kept && !of.axes.empty()) {
    of.result = nodes.add("Unsqueeze", {of.result, of.axes});
    of.gradient = nodes.add("Unsqueeze", {of.gradient, of.axes});
  }
  if (op == "ReduceMax" || op == "ReduceMin") {
    give_extremum(step, of);
  } else if (op == "ReduceSum") {
    step.given[0] = spread(step, of.gradient);
  } else if (op == "ReduceMean") {
    step.given[0] = spread(step, nodes.add("Mul", {of.gradient, share(step)}));
  } else if (op == "ReduceSumSquare") {
    step.given[0] = nodes.add("Mul", {step.input(0), nodes.times(of.gradient, 2.0F)});
  } else {
    step.given[0] = nodes.add("Mul", {step.input(0), nodes.add("Div", {of.gradient, of.result})});
  }
  return {};
}

}  // namespace halftone::first_order_model
