#include "sensitivity/first_order/backward_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plan/constant_values.h"
#include "plan/wording.h"

namespace halftone::first_order_model {
namespace {

constexpr std::size_t kMostInts = 1024;

std::optional<AttributeValue> value_of(const AttributeView& view) {
  if (view.i) return AttributeValue(*view.i);
  if (view.f) return AttributeValue(*view.f);
  if (view.s) return AttributeValue(std::string(*view.s));
  if (!view.ints.empty()) return AttributeValue(Ints(view.ints.begin(), view.ints.end()));
  return std::nullopt;
}

}  // namespace

BackwardStep::BackwardStep(const Model& of, NodeId node_id, NodeWriter& writer, Shapes& known_shapes)
    : model(of),
      graph(of.graph()),
      id(node_id),
      node(of.graph().node(node_id)),
      nodes(writer),
      shapes(known_shapes),
      gradients(node.outputs.size()),
      wanted(node.inputs.size(), false),
      changes(node.inputs.size()),
      given(node.inputs.size()),
      effects(node.inputs.size()) {}

bool BackwardStep::wants_any_behind(std::size_t input) const {
  const std::size_t first = std::min(input + 1, wanted.size());
  return std::find(wanted.begin() + static_cast<std::ptrdiff_t>(first), wanted.end(), true) != wanted.end();
}

TensorId BackwardStep::input_id(std::size_t input) const {
  return input < node.inputs.size() ? node.inputs[input] : kNone;
}

std::string BackwardStep::input(std::size_t input) const {
  const TensorId tensor = input_id(input);
  return tensor == kNone ? std::string() : graph.tensor(tensor).name;
}

std::string BackwardStep::output(std::size_t output) const {
  const TensorId tensor = output < node.outputs.size() ? node.outputs[output] : kNone;
  return tensor == kNone ? std::string() : graph.tensor(tensor).name;
}

void BackwardStep::give_product(const std::string& factor) {
  given[0] = nodes.add("Mul", {gradient(), factor});
}

void BackwardStep::give_linear_effect(std::size_t input, std::size_t inputs) {
  if (input >= changes.size() || changes[input].empty()) return;
  std::vector<std::string> read;
  for (std::size_t i = 0; i < std::min(inputs, node.inputs.size()); ++i)
    read.push_back(i == input ? changes[input] : this->input(i));
  const std::string changed =
      nodes.add(node.op_type, std::move(read),
                attributes({"alpha", "auto_pad", "axis", "dilations", "group", "kernel_shape",
                            "output_padding", "output_shape", "pads", "strides", "transA", "transB"}));
  effects[input] = nodes.dot(gradient(), changed);
}

Attributes BackwardStep::attributes(std::initializer_list<std::string_view> names) const {
  Attributes found;
  for (const std::string_view name : names) {
    const AttributeView* view = graph.attribute(id, name);
    if (view == nullptr) continue;
    if (std::optional<AttributeValue> value = value_of(*view)) found.emplace_back(name, *std::move(value));
  }
  return found;
}

std::optional<Ints> BackwardStep::constant_ints(std::size_t input) const {
  const TensorId tensor = input_id(input);
  if (tensor == kNone || !graph.tensor(tensor).constant) return std::nullopt;
  const Result<ConstantTensor> constant = model.constant(tensor);
  if (!constant.ok()) return std::nullopt;
  const auto& bytes = constant.value().bytes;
  Ints values;
  if (constant.value().type == DataType::kInt64 && bytes.size() <= kMostInts * sizeof(std::int64_t)) {
    values.resize(bytes.size() / sizeof(std::int64_t));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(std::int64_t));
    return values;
  }
  if (constant.value().type != DataType::kInt32 || bytes.size() > kMostInts * sizeof(std::int32_t))
    return std::nullopt;
  std::vector<std::int32_t> narrow(bytes.size() / sizeof(std::int32_t));
  if (!narrow.empty()) std::memcpy(narrow.data(), bytes.data(), narrow.size() * sizeof(std::int32_t));
  values.assign(narrow.begin(), narrow.end());
  return values;
}

std::optional<std::vector<float>> BackwardStep::constant_floats(std::size_t input) const {
  const TensorId tensor = input_id(input);
  if (tensor == kNone || !graph.tensor(tensor).constant) return std::nullopt;
  const Result<ConstantValues> values = constant_values(model, graph.tensor(tensor).name);
  if (!values.ok()) return std::nullopt;
  return copied(values.value().values);
}

Error BackwardStep::unsupported(std::string_view why) const {
  return Error{
      ErrorCode::kUnsupportedOp,
      "A first-order model can't go back through " + node_phrase(graph, id) + ": " + std::string(why) + ".",
      printable(graph.node_label(id)), "Measure every quantizer instead."};
}

}  // namespace halftone::first_order_model
