// Operators with several operands that are broadcast against each other.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {
namespace {

void give(BackwardStep& step, Broadcast& broadcast, std::size_t input, const std::string& gradient) {
  step.given[input] = broadcast.to_operand(gradient, step.node.inputs[input]);
}

Result<void> sum(BackwardStep& step) {
  Broadcast broadcast = step.broadcast();
  for (std::size_t i = 0; i < step.node.inputs.size(); ++i) {
    if (step.wants(i)) give(step, broadcast, i, step.gradient());
  }
  return {};
}

Result<void> difference(BackwardStep& step) {
  Broadcast broadcast = step.broadcast();
  if (step.wants(0)) give(step, broadcast, 0, step.gradient());
  if (step.wants(1)) give(step, broadcast, 1, step.nodes.add("Neg", {step.gradient()}));
  return {};
}

Result<void> product(BackwardStep& step) {
  Broadcast broadcast = step.broadcast();
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (step.wants(i)) give(step, broadcast, i, step.nodes.add("Mul", {step.gradient(), step.input(1 - i)}));
  }
  return {};
}

Result<void> quotient(BackwardStep& step) {
  Broadcast broadcast = step.broadcast();
  const std::string share = step.nodes.add("Div", {step.gradient(), step.input(1)});
  if (step.wants(0)) give(step, broadcast, 0, share);
  if (step.wants(1)) {
    const std::string slope = step.nodes.add("Neg", {step.nodes.add("Mul", {share, step.output()})});
    give(step, broadcast, 1, slope);
  }
  return {};
}

// n xⁿ⁻¹ for a constant n; of a list of exponents nothing is made beyond their own number.
Result<void> power(BackwardStep& step) {
  if (step.wants(1)) return step.unsupported("a quantizer changes its exponent");
  const std::optional<std::vector<float>> exponent = step.constant_floats(1);
  if (!exponent) return step.unsupported("its exponent is no float32 constant");
  Broadcast broadcast = step.broadcast();
  NodeWriter& nodes = step.nodes;
  if (exponent->size() == 1 && exponent->front() == 2.0F) {
    const std::string slope = nodes.times(step.input(0), 2.0F);
    give(step, broadcast, 0, nodes.add("Mul", {step.gradient(), slope}));
    return {};
  }
  const std::string less = nodes.add("Sub", {step.input(1), nodes.number(1.0F)});
  const std::string slope = nodes.add("Mul", {nodes.add("Pow", {step.input(0), less}), step.input(1)});
  give(step, broadcast, 0, nodes.add("Mul", {step.gradient(), slope}));
  return {};
}

Result<void> mean(BackwardStep& step) {
  Broadcast broadcast = step.broadcast();
  const std::string share =
      step.nodes.times(step.gradient(), 1.0F / static_cast<float>(step.node.inputs.size()));
  for (std::size_t i = 0; i < step.node.inputs.size(); ++i) {
    if (step.wants(i)) give(step, broadcast, i, share);
  }
  return {};
}

}  // namespace

Result<void> back_arithmetic(BackwardStep& step) {
  const std::string_view op = step.node.op_type;
  const bool any_number = op == "Sum" || op == "Mean";
  if (!any_number && (step.input(0).empty() || step.input(1).empty()))
    return step.unsupported("it lacks an operand");
  if (op == "Add" || op == "Sum") return sum(step);
  if (op == "Sub") return difference(step);
  if (op == "Mul") return product(step);
  if (op == "Div") return quotient(step);
  if (op == "Pow") return power(step);
  if (op == "Mean") return mean(step);
  return step.unsupported("it has no rule");
}

// Max and Min. Of operands that tie, a constant takes the gradient, else the first one does: so Max(x, 0) is
// Relu.
Result<void> back_extremum(BackwardStep& step) {
  NodeWriter& nodes = step.nodes;
  std::vector<std::size_t> variable;
  std::string left;  // 1 where nobody has the gradient yet, else 0; empty: 1
  for (std::size_t i = 0; i < step.node.inputs.size(); ++i) {
    const std::string operand = step.input(i);
    if (operand.empty()) return step.unsupported("it lacks an operand");
    if (!step.graph.tensor(step.node.inputs[i]).constant) {
      variable.push_back(i);
      continue;
    }
    if (step.wants(i)) return step.unsupported("a quantizer changes one of its constants");
    const bool largest = step.node.op_type == "Max";
    const std::string beyond = nodes.add("Sign", {largest ? nodes.add("Sub", {step.output(), operand})
                                                          : nodes.add("Sub", {operand, step.output()})});
    left = left.empty() ? beyond : nodes.add("Mul", {left, beyond});
  }
  Broadcast broadcast = step.broadcast();
  for (const std::size_t i : variable) {
    std::string mine = left;
    if (i != variable.back()) {
      mine = nodes.add("Cast", {nodes.add("Equal", {step.input(i), step.output()})},
                       {{"to", static_cast<std::int64_t>(DataType::kFloat)}});
      if (!left.empty()) mine = nodes.add("Mul", {left, mine});
      left = nodes.add("Sub", {left.empty() ? nodes.number(1.0F) : left, mine});
    }
    if (!step.wants(i)) continue;
    give(step, broadcast, i, mine.empty() ? step.gradient() : nodes.add("Mul", {step.gradient(), mine}));
  }
  return {};
}

Result<void> back_where(BackwardStep& step) {
  if (step.node.inputs.size() != 3) return step.unsupported("it lacks an operand");
  Broadcast broadcast = step.broadcast();
  const std::string zero = step.nodes.number(0.0F);
  if (step.wants(1))
    give(step, broadcast, 1, step.nodes.add("Where", {step.input(0), step.gradient(), zero}));
  if (step.wants(2))
    give(step, broadcast, 2, step.nodes.add("Where", {step.input(0), zero, step.gradient()}));
  return {};
}

// Its slopes are spread over the input, never the other way round.
Result<void> back_prelu(BackwardStep& step) {
  if (step.input(1).empty()) return step.unsupported("it lacks its slopes");
  NodeWriter& nodes = step.nodes;
  const std::string zero = nodes.number(0.0F);
  const std::string positive = nodes.add("Greater", {step.input(0), zero});
  if (step.wants(0)) {
    step.give_product(nodes.add("Where", {positive, nodes.number(1.0F), step.input(1)}));
  }
  if (step.wants(1)) {
    Broadcast broadcast = step.broadcast();
    const std::string below = nodes.add("Where", {positive, zero, step.input(0)});
    give(step, broadcast, 1, nodes.add("Mul", {step.gradient(), below}));
  }
  return {};
}

}  // namespace halftone::first_order_model
