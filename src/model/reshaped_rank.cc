#include "model/reshaped_rank.h"

#include <vector>

#include "model/graph_scopes.h"
#include "model/value_types.h"

namespace halftone {

std::optional<onnx::TypeProto> reshaped_rank(const onnx::NodeProto& node, const InferenceScope& scope) {
  if (node.op_type() != "Reshape" || !canonical_domain(node.domain()).empty() || node.input_size() != 2)
    return std::nullopt;
  const onnx::TypeProto* data = scope.type(node.input(0));
  const onnx::TypeProto* target = scope.type(node.input(1));
  if (data == nullptr || target == nullptr) return std::nullopt;
  const ValueType from = value_type(*data);
  const ValueType list = value_type(*target);
  if (from.type == DataType::kUndefined || !list.shape || list.shape->size() != 1) return std::nullopt;
  const std::int64_t length = list.shape->front().value;
  if (length < 0 || length > kMaxRank) return std::nullopt;
  return type_proto(from.type, std::vector<Dimension>(static_cast<std::size_t>(length)));
}

}  // namespace halftone
