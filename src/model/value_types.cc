#include "model/value_types.h"

#include <utility>

namespace halftone {
namespace {

Dimension dimension(const onnx::TensorShapeProto::Dimension& dim) {
  Dimension made;
  if (dim.has_dim_value() && dim.dim_value() >= 0) {
    made.value = dim.dim_value();
  } else if (dim.has_dim_param() && dim.dim_param().size() <= kMaxSymbolBytes) {
    made.symbol = dim.dim_param();
  }
  return made;
}

bool compatible(const ValueType& a, const ValueType& b) {
  if (a.type != DataType::kUndefined && b.type != DataType::kUndefined && a.type != b.type) return false;
  if (!a.shape || !b.shape) return true;
  if (a.shape->size() != b.shape->size()) return false;
  for (std::size_t i = 0; i < a.shape->size(); ++i) {
    const std::int64_t left = (*a.shape)[i].value;
    const std::int64_t right = (*b.shape)[i].value;
    if (left >= 0 && right >= 0 && left != right) return false;
  }
  return true;
}

}  // namespace

ValueType value_type(const onnx::TypeProto& type) {
  ValueType made;
  if (!type.has_tensor_type()) return made;
  const onnx::TypeProto::Tensor& tensor = type.tensor_type();
  made.type = static_cast<DataType>(tensor.elem_type());
  if (!tensor.has_shape() || tensor.shape().dim_size() > kMaxRank) return made;
  made.shape.emplace();
  made.shape->reserve(static_cast<std::size_t>(tensor.shape().dim_size()));
  for (const auto& dim : tensor.shape().dim()) made.shape->push_back(dimension(dim));
  return made;
}

ValueType value_type(const onnx::TensorProto& tensor) {
  ValueType made;
  made.type = static_cast<DataType>(tensor.data_type());
  if (tensor.dims_size() > kMaxRank) return made;
  made.shape.emplace();
  for (const std::int64_t dim : tensor.dims()) made.shape->push_back({dim >= 0 ? dim : -1, {}});
  return made;
}

onnx::TypeProto type_proto(DataType type, const std::optional<std::vector<Dimension>>& shape) {
  onnx::TypeProto made;
  onnx::TypeProto::Tensor* tensor = made.mutable_tensor_type();
  tensor->set_elem_type(static_cast<std::int32_t>(type));
  if (!shape) return made;
  onnx::TensorShapeProto* dims = tensor->mutable_shape();
  for (const Dimension& dim : *shape) {
    auto* added = dims->add_dim();
    if (dim.value >= 0) {
      added->set_dim_value(dim.value);
    } else if (!dim.symbol.empty()) {
      added->set_dim_param(dim.symbol);
    }
  }
  return made;
}

bool merge_value_type(ValueType& known, const ValueType& other) {
  if (!compatible(known, other)) return false;
  if (known.type == DataType::kUndefined) known.type = other.type;
  if (!known.shape) {
    known.shape = other.shape;
  } else if (other.shape) {
    for (std::size_t i = 0; i < known.shape->size(); ++i) {
      Dimension& mine = (*known.shape)[i];
      const Dimension& theirs = (*other.shape)[i];
      if (mine.value < 0 && (theirs.value >= 0 || mine.symbol.empty())) mine = theirs;
    }
  }
  return true;
}

}  // namespace halftone
