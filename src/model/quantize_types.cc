#include "model/quantize_types.h"

#include <string>
#include <string_view>

#include "model/graph_scopes.h"
#include "model/value_types.h"

namespace halftone {
namespace {

std::int32_t input_element_type(const onnx::NodeProto& node, int index, const InferenceScope& scope) {
  if (index >= node.input_size() || node.input(index).empty()) return onnx::TensorProto::UNDEFINED;
  const onnx::TypeProto* type = scope.type(node.input(index));
  return type != nullptr && type->has_tensor_type() ? type->tensor_type().elem_type()
                                                    : onnx::TensorProto::UNDEFINED;
}

std::int32_t output_dtype(const onnx::NodeProto& node) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "output_dtype") return static_cast<std::int32_t>(attribute.i());
  }
  return onnx::TensorProto::UNDEFINED;
}

}  // namespace

bool makes_encoded_value(const onnx::NodeProto& node) {
  return node.domain() == "ai.rt" && node.op_type() == "Quantize";
}

bool reads_encoded_value(const onnx::NodeProto& node) {
  return node.domain() == "ai.rt" && node.op_type() == "Dequantize" && node.input_size() == 1 &&
         node.output_size() == 1;
}

std::optional<onnx::TypeProto> decoded_type(const onnx::NodeProto& node, std::string_view logical_type) {
  DataType type = DataType::kUndefined;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "dtype") type = static_cast<DataType>(attribute.i());
  }
  const bool possible = type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
                        type == DataType::kBfloat16;
  if (!possible) return std::nullopt;
  onnx::TypeProto logical;
  const bool known = !logical_type.empty() &&
                     logical.ParseFromArray(logical_type.data(), static_cast<int>(logical_type.size()));
  return type_proto(type, known ? value_type(logical).shape : std::nullopt);
}

std::optional<onnx::TypeProto> quantize_output_type(const onnx::NodeProto& node,
                                                    const InferenceScope& scope) {
  const std::string_view domain = canonical_domain(node.domain());
  const bool quantizes = node.op_type() == "QuantizeLinear";
  if (!quantizes && node.op_type() != "DequantizeLinear") return std::nullopt;
  if ((!domain.empty() && domain != "com.microsoft") || node.output_size() != 1 || node.input_size() < 2)
    return std::nullopt;
  std::int32_t element = output_dtype(node);
  if (element == onnx::TensorProto::UNDEFINED) element = input_element_type(node, quantizes ? 2 : 1, scope);
  const bool has_zero_point = node.input_size() > 2 && !node.input(2).empty();
  if (element == onnx::TensorProto::UNDEFINED && quantizes && !has_zero_point)
    element = onnx::TensorProto::UINT8;
  if (element == onnx::TensorProto::UNDEFINED) return std::nullopt;
  onnx::TypeProto made;
  made.mutable_tensor_type()->set_elem_type(element);
  const onnx::TypeProto* input = scope.type(node.input(0));
  if (input != nullptr && input->has_tensor_type() && input->tensor_type().has_shape()) {
    *made.mutable_tensor_type()->mutable_shape() = input->tensor_type().shape();
  }
  return made;
}

}  // namespace halftone
