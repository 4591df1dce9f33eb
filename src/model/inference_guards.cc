#include "model/inference_guards.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

namespace halftone {
namespace {

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;
constexpr std::int64_t kMaxAxis = 64;
constexpr std::int64_t kMaxBlockSize = std::int64_t{1} << 15;
// The library finds a remainder by repeated subtraction.
constexpr std::int64_t kMaxSteps = std::int64_t{1} << 22;
constexpr std::int64_t kMaxProduct = std::int64_t{1} << 62;

using Problem = std::optional<std::string>;

Problem check_extents(const onnx::NodeProto& node) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const bool positive = attribute.name() == "strides" || attribute.name() == "dilations" ||
                          attribute.name() == "kernel_shape";
    const bool bounded = attribute.name() == "pads" || attribute.name() == "output_padding" ||
                         attribute.name() == "output_shape";
    if (!positive && !bounded) continue;
    for (const std::int64_t value : attribute.ints()) {
      if (value < (positive ? 1 : -kMaxExtent) || value > kMaxExtent)
        return "has an impossible value in " + attribute.name();
    }
  }
  return std::nullopt;
}

Problem check_axes(const onnx::NodeProto& node) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const std::string_view name = attribute.name();
    if (name == "axis" || name == "batch_axis" || name == "time_axis") {
      if (attribute.i() < -kMaxAxis || attribute.i() > kMaxAxis)
        return "has an impossible " + attribute.name();
    }
    if (name == "axes" || name == "perm" || name == "scan_input_axes" || name == "scan_output_axes") {
      for (const std::int64_t value : attribute.ints()) {
        if (value < -kMaxAxis || value > kMaxAxis) return "has an impossible value in " + attribute.name();
      }
    }
    if (name == "batch_dims" && (attribute.i() < 0 || attribute.i() > kMaxAxis))
      return "has an impossible batch_dims";
    if (name == "pooled_shape" && attribute.ints_size() != 2) return "has an impossible pooled_shape";
    if (name == "num_scan_inputs" && (attribute.i() < 1 || attribute.i() > node.input_size())) {
      return "has an impossible number of scanned inputs";
    }
    if (name == "blocksize" && (attribute.i() < 1 || attribute.i() > kMaxBlockSize))
      return "has an impossible blocksize";
    if (name == "num_outputs" && attribute.i() != node.output_size())
      return "has another number of outputs than it says";
  }
  return std::nullopt;
}

const onnx::TensorShapeProto* input_shape(const onnx::InferenceContext& context, std::size_t index) {
  if (index >= context.getNumInputs()) return nullptr;
  const onnx::TypeProto* type = context.getInputType(index);
  if (type == nullptr || !type->has_tensor_type() || !type->tensor_type().has_shape()) return nullptr;
  return &type->tensor_type().shape();
}

// Convolutions take their kernel's shape from the weight and walk over it by the input's rank.
Problem check_convolution(const onnx::NodeProto& node, const onnx::InferenceContext& context) {
  const std::string_view op = node.op_type();
  const bool integer = op == "QLinearConv";
  if (op.find("Conv") == std::string_view::npos) return std::nullopt;
  const auto* input = input_shape(context, 0);
  const auto* weight = input_shape(context, integer ? 3 : 1);
  if (input != nullptr && weight != nullptr && input->dim_size() != weight->dim_size()) {
    return "has an input and a weight of different ranks";
  }
  return std::nullopt;
}

// For SAME_UPPER and SAME_LOWER.
Problem check_auto_pad(const onnx::NodeProto& node, const onnx::InferenceContext& context) {
  std::int64_t least_stride = 1;
  bool automatic = false;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "auto_pad") automatic = true;
    if (attribute.name() != "strides") continue;
    for (const std::int64_t stride : attribute.ints())
      least_stride = least_stride == 1 ? stride : std::min(least_stride, stride);
  }
  const auto* input = input_shape(context, 0);
  if (!automatic || input == nullptr) return std::nullopt;
  for (const auto& dim : input->dim()) {
    if (dim.dim_value() / least_stride > kMaxSteps) return "pads an input of an absurd size automatically";
  }
  return std::nullopt;
}

std::vector<std::int64_t> constant_integers(const onnx::InferenceContext& context, std::size_t index) {
  std::vector<std::int64_t> values;
  const onnx::TensorProto* tensor = index < context.getNumInputs() ? context.getInputData(index) : nullptr;
  if (tensor == nullptr) return values;
  if (tensor->data_type() == onnx::TensorProto::INT64 && tensor->has_raw_data()) {
    values.resize(tensor->raw_data().size() / sizeof(std::int64_t));
    if (!values.empty())
      std::memcpy(values.data(), tensor->raw_data().data(), values.size() * sizeof(std::int64_t));
  } else if (tensor->data_type() == onnx::TensorProto::INT64) {
    values.assign(tensor->int64_data().begin(), tensor->int64_data().end());
  } else if (tensor->data_type() == onnx::TensorProto::INT32 && tensor->has_raw_data()) {
    std::vector<std::int32_t> narrow(tensor->raw_data().size() / sizeof(std::int32_t));
    if (!narrow.empty())
      std::memcpy(narrow.data(), tensor->raw_data().data(), narrow.size() * sizeof(std::int32_t));
    values.assign(narrow.begin(), narrow.end());
  } else if (tensor->data_type() == onnx::TensorProto::INT32) {
    values.assign(tensor->int32_data().begin(), tensor->int32_data().end());
  }
  return values;
}

bool multiply(std::int64_t& product, std::int64_t factor) {
  if (factor > 1 && product > kMaxProduct / factor) return false;
  if (factor > 1) product *= factor;
  return true;
}

Problem check_reshape(const onnx::NodeProto& node, const onnx::InferenceContext& context) {
  std::vector<std::int64_t> target = constant_integers(context, 1);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "shape") target.assign(attribute.ints().begin(), attribute.ints().end());
  }
  std::int64_t product = 1;
  for (const std::int64_t value : target) {
    if (!multiply(product, value)) return "asks for more elements than there can be";
  }
  product = 1;
  const auto* input = input_shape(context, 0);
  for (int i = 0; input != nullptr && i < input->dim_size(); ++i) {
    if (!multiply(product, input->dim(i).dim_value()))
      return "has an input of more elements than there can be";
  }
  return std::nullopt;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// One operand of an Einsum equation: letters, blanks and at most one "...".
struct EinsumTerm {
  int letters = 0;
  bool ellipsis = false;
  bool sound = true;
};

EinsumTerm einsum_term(std::string_view text) {
  EinsumTerm term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      ++term.letters;
    } else if (!term.ellipsis && text.substr(i, 3) == "...") {
      term.ellipsis = true;
      i += 2;
    } else if (text[i] != ' ') {
      term.sound = false;
    }
  }
  return term;
}

// The library subtracts ranks and letters without looking which is more, and trusts all ellipses to mean the
// same rank.
Problem check_einsum(const onnx::NodeProto& node, const onnx::InferenceContext& context) {
  const onnx::AttributeProto* equation = context.getAttribute("equation");
  const Problem problem = "has an equation that doesn't fit its inputs";
  if (equation == nullptr) return problem;
  std::string_view left = equation->s();
  const std::size_t arrow = left.find("->");
  const std::string_view right =
      arrow == std::string_view::npos ? std::string_view() : left.substr(arrow + 2);
  left = left.substr(0, arrow);
  int ellipsis_rank = -1;
  std::size_t operand = 0;
  for (bool more = true; more; ++operand) {
    const std::size_t comma = left.find(',');
    more = comma != std::string_view::npos;
    const EinsumTerm term = einsum_term(left.substr(0, comma));
    left = more ? left.substr(comma + 1) : std::string_view();
    const auto* shape = input_shape(context, operand);
    if (shape == nullptr) return operand < context.getNumInputs() ? std::nullopt : problem;
    const int rest = shape->dim_size() - term.letters;
    if (!term.sound || rest < 0 || (!term.ellipsis && rest != 0)) return problem;
    if (term.ellipsis && ellipsis_rank >= 0 && rest != ellipsis_rank) return problem;
    if (term.ellipsis) ellipsis_rank = rest;
  }
  const EinsumTerm result = einsum_term(right);
  const bool known = std::all_of(right.begin(), right.end(), [&](char c) {
    return !is_letter(c) ||
           std::string_view(equation->s()).substr(0, arrow).find(c) != std::string_view::npos;
  });
  const bool complete = operand == static_cast<std::size_t>(node.input_size());
  return complete && result.sound && known && (!result.ellipsis || ellipsis_rank >= 0) ? std::nullopt
                                                                                       : problem;
}

// Which input names axes; 0: none.
std::size_t axes_input(std::string_view op) {
  if (op == "Slice" || op == "Pad") return 3;
  return op == "Squeeze" || op == "Unsqueeze" || op == "CumSum" || op.starts_with("Reduce") ? 1 : 0;
}

// Lists of one number for each axis: the library makes as many axes as the list is long.
Problem check_list_lengths(std::string_view op, const onnx::InferenceContext& context) {
  constexpr std::string_view kOps[] = {
      "ConstantOfShape", "Expand", "Reshape",   "Tile",    "Upsample",   "Resize",        "Pad",
      "Slice",           "Col2Im", "Unsqueeze", "Squeeze", "AffineGrid", "CenterCropPad", "MaxUnpool"};
  if (std::find(std::begin(kOps), std::end(kOps), op) == std::end(kOps)) return std::nullopt;
  for (std::size_t i = op == "ConstantOfShape" ? 0 : 1; i < context.getNumInputs(); ++i) {
    const auto* list = input_shape(context, i);
    if (list != nullptr && list->dim_size() == 1 && list->dim(0).dim_value() > kMaxAxis)
      return "asks for an impossible rank";
  }
  return std::nullopt;
}

Problem check_constants(const onnx::NodeProto& node, const onnx::InferenceContext& context) {
  const std::string_view op = node.op_type();
  if (op == "Reshape") return check_reshape(node, context);
  if (op == "Einsum") return check_einsum(node, context);
  if (op == "GatherND") {
    const auto* indices = input_shape(context, 1);
    const int rank = indices != nullptr ? indices->dim_size() : 0;
    if (rank > 0 && indices->dim(rank - 1).dim_value() > kMaxAxis) return "has indices of impossible length";
  }
  if (op == "SplitToSequence") {
    for (const std::int64_t value : constant_integers(context, 1)) {
      if (value < 1) return "has an impossible split";
    }
  }
  if (Problem problem = check_list_lengths(op, context)) return problem;
  const std::size_t axes = axes_input(op);
  if (axes == 0) return std::nullopt;
  for (const std::int64_t value : constant_integers(context, axes)) {
    if (value < -kMaxAxis || value > kMaxAxis) return "has an impossible axis";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unsafe_to_infer(const onnx::NodeProto& node,
                                           const onnx::InferenceContext& context) {
  if (Problem problem = check_extents(node)) return problem;
  if (Problem problem = check_axes(node)) return problem;
  if (Problem problem = check_convolution(node, context)) return problem;
  if (Problem problem = check_auto_pad(node, context)) return problem;
  return check_constants(node, context);
}

}  // namespace halftone
