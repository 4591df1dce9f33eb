#include "plan/quantizable_model.h"

#include <string>

#include "plan/wording.h"

namespace halftone {
namespace {

bool is_other_float(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kBfloat16 || type == DataType::kDouble;
}

bool reads_weights(const GraphNode& node) {
  return node.domain.empty() && (node.op_type == "Conv" || node.op_type == "ConvTranspose" ||
                                 node.op_type == "Gemm" || node.op_type == "MatMul");
}

Error other_float_error(const GraphTensor& tensor) {
  const std::string type = data_type_name(tensor.type);
  return Error{ErrorCode::kUnsupportedType,
               "This model computes in " + type + ", and only float32 models can be quantized.",
               printable(tensor.name), "Export the model in float32, or convert it, and quantize that."};
}

}  // namespace

Result<void> check_not_quantized(const Model& model) {
  const std::int64_t pairs = model.info().quantized_pairs;
  if (pairs == 0) return {};
  return Error{ErrorCode::kInvalidState,
               "The model is quantized already: it has " + std::to_string(pairs) + " DequantizeLinear " +
                   (pairs == 1 ? "node." : "nodes."),
               "", "Start from the float model that it was made from."};
}

Result<void> check_float32(const Graph& graph) {
  for (const GraphNode& node : graph.nodes()) {
    if (!reads_weights(node)) continue;
    for (const TensorId id : node.inputs) {
      if (id != kNone && is_other_float(graph.tensor(id).type)) return other_float_error(graph.tensor(id));
    }
  }
  const GraphTensor* other = nullptr;
  for (const GraphTensor& tensor : graph.tensors()) {
    if (tensor.type == DataType::kFloat) return {};
    if (other == nullptr && is_other_float(tensor.type)) other = &tensor;
  }
  if (other != nullptr) return other_float_error(*other);
  return {};
}

}  // namespace halftone
