#include "model/model_info.h"

#include <limits>
#include <vector>

#include "model/graph_scopes.h"

namespace halftone {
namespace {

void add(std::uint64_t& sum, std::uint64_t more) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  sum = more > kMax - sum ? kMax : sum + more;
}

void add_list(ModelInfo& info, int count, std::size_t element_bytes) {
  add(info.parameter_count, static_cast<std::uint64_t>(count));
  add(info.parameter_bytes, static_cast<std::uint64_t>(count) * element_bytes);
}

void add_tensor(ModelInfo& info, const onnx::TensorProto& tensor) {
  const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  add(info.parameter_count, element_count(dims).value_or(0));
  add(info.parameter_bytes, raw_byte_count(static_cast<DataType>(tensor.data_type()), dims).value_or(0));
  for (const std::string& text : tensor.string_data()) add(info.parameter_bytes, text.size());
}

void add_sparse(ModelInfo& info, const onnx::SparseTensorProto& sparse) { add_tensor(info, sparse.values()); }

void add_constant_node(ModelInfo& info, const onnx::NodeProto& node) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_t()) add_tensor(info, attribute.t());
    if (attribute.has_sparse_tensor()) add_sparse(info, attribute.sparse_tensor());
    if (attribute.name() == "value_float") add_list(info, 1, sizeof(float));
    if (attribute.name() == "value_int") add_list(info, 1, sizeof(std::int64_t));
    add_list(info, attribute.floats_size(), sizeof(float));
    add_list(info, attribute.ints_size(), sizeof(std::int64_t));
  }
}

void add_graph(ModelInfo& info, const onnx::GraphProto& graph) {
  for (const onnx::TensorProto& tensor : graph.initializer()) add_tensor(info, tensor);
  for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer()) add_sparse(info, sparse);
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "DequantizeLinear") ++info.quantized_pairs;
    if (node.op_type() == "Constant" && canonical_domain(node.domain()).empty())
      add_constant_node(info, node);
    for (const onnx::GraphProto* body : bodies(node)) add_graph(info, *body);
  }
}

}  // namespace

ModelInfo model_info(const onnx::ModelProto& model) {
  ModelInfo info;
  info.graph_name = model.graph().name();
  info.ir_version = model.ir_version();
  info.producer_name = model.producer_name();
  info.producer_version = model.producer_version();
  for (const auto& set : model.opset_import())
    info.opsets.emplace_back(canonical_domain(set.domain()), set.version());
  for (const auto& entry : model.metadata_props()) info.metadata.emplace_back(entry.key(), entry.value());
  info.function_count = model.functions_size();
  add_graph(info, model.graph());
  return info;
}

}  // namespace halftone
