// Operators that work element by element: the derivative is a factor. Where it can be told from the output it
// is, so that a runtime may still join the operator with the one in front.
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {
namespace {

std::string as_float(BackwardStep& step, const std::string& condition) {
  return step.nodes.add("Cast", {condition}, {{"to", static_cast<std::int64_t>(DataType::kFloat)}});
}

std::string compared(BackwardStep& step, const char* op, const std::string& tensor, float bound) {
  return step.nodes.add(op, {tensor, step.nodes.number(bound)});
}

// 1 - tensor
std::string complement(BackwardStep& step, const std::string& tensor) {
  return step.nodes.add("Sub", {step.nodes.number(1.0F), tensor});
}

// Of an output that is never negative.
std::string relu(BackwardStep& step) { return step.nodes.add("Sign", {step.output()}); }

// Runtimes take a sign and a maximum in a fraction of the time of a comparison and a choice.
std::string leaky_relu(BackwardStep& step) {
  const float slope = step.graph.float_attribute(step.id, "alpha", 0.01F);
  if (slope >= 0.0F && slope <= 1.0F)
    return step.nodes.add("Max", {step.nodes.add("Sign", {step.input(0)}), step.nodes.number(slope)});
  const std::string positive = compared(step, "Greater", step.input(0), 0.0F);
  return step.nodes.add("Where", {positive, step.nodes.number(1.0F), step.nodes.number(slope)});
}

std::string thresholded_relu(BackwardStep& step) {
  const float bound = step.graph.float_attribute(step.id, "alpha", 1.0F);
  return as_float(step, compared(step, "Greater", step.input(0), bound));
}

std::string elu(BackwardStep& step) {
  const float alpha = step.graph.float_attribute(step.id, "alpha", 1.0F);
  const std::string below = step.nodes.add("Add", {step.output(), step.nodes.number(alpha)});
  const std::string positive = compared(step, "Greater", step.input(0), 0.0F);
  return step.nodes.add("Where", {positive, step.nodes.number(1.0F), below});
}

// Outputs at a bound have no gradient: the sign of their distance from it is 0.
std::string clip(BackwardStep& step) {
  NodeWriter& nodes = step.nodes;
  std::string inside;
  if (!step.input(1).empty()) {
    const std::optional<std::vector<float>> lowest = step.constant_floats(1);
    const bool zero = lowest && lowest->size() == 1 && lowest->front() == 0.0F;
    inside = nodes.add("Sign", {zero ? step.output() : nodes.add("Sub", {step.output(), step.input(1)})});
  }
  if (!step.input(2).empty()) {
    const std::string below = nodes.add("Sign", {nodes.add("Sub", {step.input(2), step.output()})});
    inside = inside.empty() ? below : nodes.add("Mul", {inside, below});
  }
  return inside;
}

std::string sigmoid(BackwardStep& step) {
  return step.nodes.add("Mul", {step.output(), complement(step, step.output())});
}

std::string tanh(BackwardStep& step) {
  return complement(step, step.nodes.add("Mul", {step.output(), step.output()}));
}

std::string hard_sigmoid(BackwardStep& step) {
  const float slope = step.graph.float_attribute(step.id, "alpha", 0.2F);
  const std::string inside = step.nodes.add(
      "And", {compared(step, "Greater", step.output(), 0.0F), compared(step, "Less", step.output(), 1.0F)});
  return step.nodes.times(as_float(step, inside), slope);
}

// x · clip(x/6 + 1/2, 0, 1): (2x + 3)/6 between -3 and 3.
std::string hard_swish(BackwardStep& step) {
  const std::string x = step.input(0);
  const std::string inside = compared(step, "Less", step.nodes.add("Abs", {x}), 3.0F);
  const std::string slope =
      step.nodes.add("Add", {step.nodes.times(x, 1.0F / 3.0F), step.nodes.number(0.5F)});
  return step.nodes.add("Where", {inside, slope, as_float(step, compared(step, "Greater", x, 0.0F))});
}

std::string softplus(BackwardStep& step) { return step.nodes.add("Sigmoid", {step.input(0)}); }

// 1 / (1 + |x|)²
std::string softsign(BackwardStep& step) {
  const std::string root = step.nodes.add(
      "Reciprocal",
      {step.nodes.add("Add", {step.nodes.add("Abs", {step.input(0)}), step.nodes.number(1.0F)})});
  return step.nodes.add("Mul", {root, root});
}

// exp(-x² · scale) · height
std::string bell(BackwardStep& step, float scale, float height) {
  const std::string square = step.nodes.add("Mul", {step.input(0), step.input(0)});
  return step.nodes.times(step.nodes.add("Exp", {step.nodes.times(square, -scale)}), height);
}

std::string erf(BackwardStep& step) { return bell(step, 1.0F, 2.0F * std::numbers::inv_sqrtpi_v<float>); }

// Φ(x) + x φ(x)
std::string exact_gelu(BackwardStep& step) {
  const std::string x = step.input(0);
  const std::string error = step.nodes.add("Erf", {step.nodes.times(x, 1.0F / std::numbers::sqrt2_v<float>)});
  const std::string share = step.nodes.times(step.nodes.add("Add", {error, step.nodes.number(1.0F)}), 0.5F);
  const float height = std::numbers::inv_sqrtpi_v<float> / std::numbers::sqrt2_v<float>;
  return step.nodes.add("Add", {share, step.nodes.add("Mul", {x, bell(step, 0.5F, height)})});
}

// With t = tanh(u), u = √(2/π) (x + 0.044715 x³): (1 + t)/2 + x/2 · (1 - t²) · u'.
std::string tanh_gelu(BackwardStep& step) {
  constexpr float kCubic = 0.044715F;
  const float scale = std::numbers::sqrt2_v<float> * std::numbers::inv_sqrtpi_v<float>;
  NodeWriter& nodes = step.nodes;
  const std::string x = step.input(0);
  const std::string square = nodes.add("Mul", {x, x});
  const std::string inner = nodes.add("Add", {nodes.times(square, kCubic), nodes.number(1.0F)});
  const std::string t = nodes.add("Tanh", {nodes.times(nodes.add("Mul", {x, inner}), scale)});
  const std::string rise =
      nodes.times(nodes.add("Add", {nodes.times(square, 3.0F * kCubic), nodes.number(1.0F)}), 0.5F * scale);
  const std::string slope = nodes.add("Mul", {complement(step, nodes.add("Mul", {t, t})), rise});
  const std::string share = nodes.times(nodes.add("Add", {t, nodes.number(1.0F)}), 0.5F);
  return nodes.add("Add", {share, nodes.add("Mul", {x, slope})});
}

std::string gelu(BackwardStep& step) {
  const AttributeView* form = step.graph.attribute(step.id, "approximate");
  return form != nullptr && form->s && *form->s == "tanh" ? tanh_gelu(step) : exact_gelu(step);
}

// With s = softplus(x): tanh(s) + x · sigmoid(x) · (1 - tanh(s)²).
std::string mish(BackwardStep& step) {
  NodeWriter& nodes = step.nodes;
  const std::string x = step.input(0);
  const std::string t = nodes.add("Tanh", {nodes.add("Softplus", {x})});
  const std::string slope =
      nodes.add("Mul", {nodes.add("Sigmoid", {x}), complement(step, nodes.add("Mul", {t, t}))});
  return nodes.add("Add", {t, nodes.add("Mul", {x, slope})});
}

std::string exponential(BackwardStep& step) { return step.output(); }

std::string logarithm(BackwardStep& step) { return step.nodes.add("Reciprocal", {step.input(0)}); }

std::string square_root(BackwardStep& step) {
  return step.nodes.times(step.nodes.add("Reciprocal", {step.output()}), 0.5F);
}

std::string reciprocal(BackwardStep& step) {
  return step.nodes.add("Neg", {step.nodes.add("Mul", {step.output(), step.output()})});
}

std::string negative(BackwardStep& step) { return step.nodes.number(-1.0F); }

std::string absolute(BackwardStep& step) { return step.nodes.add("Sign", {step.input(0)}); }

std::string sine(BackwardStep& step) { return step.nodes.add("Cos", {step.input(0)}); }

std::string cosine(BackwardStep& step) {
  return step.nodes.add("Neg", {step.nodes.add("Sin", {step.input(0)})});
}

// The same values, or the same but for what an inference doesn't do.
std::string same(BackwardStep&) { return {}; }

struct Factor {
  std::string_view op;
  std::string (*of)(BackwardStep&);  // empty: 1
};

constexpr std::array<Factor, 25> kFactors = {{
    {"Abs", absolute},
    {"Cast", same},
    {"Clip", clip},
    {"Cos", cosine},
    {"Dropout", same},
    {"Elu", elu},
    {"Erf", erf},
    {"Exp", exponential},
    {"Gelu", gelu},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", hard_swish},
    {"Identity", same},
    {"LeakyRelu", leaky_relu},
    {"Log", logarithm},
    {"Mish", mish},
    {"Neg", negative},
    {"Reciprocal", reciprocal},
    {"Relu", relu},
    {"Sigmoid", sigmoid},
    {"Sin", sine},
    {"Softplus", softplus},
    {"Softsign", softsign},
    {"Sqrt", square_root},
    {"Tanh", tanh},
    {"ThresholdedRelu", thresholded_relu},
}};

bool may_train(const BackwardStep& step) {
  if (step.node.op_type != "Dropout" || step.input(2).empty()) return false;
  const TensorId mode = step.input_id(2);
  const Result<ConstantTensor> value = step.graph.tensor(mode).constant
                                           ? step.model.constant(mode)
                                           : Result<ConstantTensor>(step.unsupported("its mode is computed"));
  return !value.ok() || value.value().bytes.empty() || value.value().bytes[0] != 0;
}

}  // namespace

Result<void> back_activation(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes its bounds");
  if (may_train(step)) return step.unsupported("it may be in training mode");
  for (const Factor& factor : kFactors) {
    if (factor.op != step.node.op_type) continue;
    const std::string derivative = factor.of(step);
    if (derivative.empty())
      step.given[0] = step.gradient();
    else
      step.give_product(derivative);
    return {};
  }
  return step.unsupported("it has no rule");
}

}  // namespace halftone::first_order_model
