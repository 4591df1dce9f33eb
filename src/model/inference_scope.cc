#include "model/inference_scope.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/value_types.h"

namespace halftone {
namespace {

// Sequences of sequences of …: real models have at most two levels.
constexpr int kMaxTypeDepth = 6;
constexpr std::int64_t kMaxDimension = std::int64_t{1} << 48;
// Shapes, axes, pads, repeats: nothing that inference reads is longer.
constexpr std::uint64_t kMaxConstantElements = 1024;

// False if the rank is beyond reason.
bool clean_shape(onnx::TensorShapeProto& shape) {
  if (shape.dim_size() > kMaxRank) return false;
  for (auto& dim : *shape.mutable_dim()) {
    if (dim.has_dim_value() && (dim.dim_value() < 0 || dim.dim_value() > kMaxDimension))
      dim.clear_dim_value();
    if (dim.has_dim_param() && dim.dim_param().size() > kMaxSymbolBytes) dim.clear_dim_param();
  }
  return true;
}

bool clean_nested(onnx::TypeProto& type, int depth) {
  if (depth > kMaxTypeDepth) return false;
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType: {
      auto& tensor = *type.mutable_tensor_type();
      if (tensor.has_shape() && !clean_shape(*tensor.mutable_shape())) tensor.clear_shape();
      return tensor.elem_type() != onnx::TensorProto::UNDEFINED || tensor.has_shape();
    }
    case onnx::TypeProto::kSparseTensorType: {
      auto& tensor = *type.mutable_sparse_tensor_type();
      if (tensor.has_shape() && !clean_shape(*tensor.mutable_shape())) tensor.clear_shape();
      return tensor.elem_type() != onnx::TensorProto::UNDEFINED;
    }
    case onnx::TypeProto::kSequenceType:
      return clean_nested(*type.mutable_sequence_type()->mutable_elem_type(), depth + 1);
    case onnx::TypeProto::kOptionalType:
      return clean_nested(*type.mutable_optional_type()->mutable_elem_type(), depth + 1);
    case onnx::TypeProto::kMapType:
      return clean_nested(*type.mutable_map_type()->mutable_value_type(), depth + 1);
    default:
      return false;
  }
}

// Values of a typed field that holds `elements` values of the tensor's type; nullopt for types that no
// inference reads.
std::optional<std::uint64_t> typed_values(const onnx::TensorProto& tensor) {
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return static_cast<std::uint64_t>(tensor.float_data_size());
    case onnx::TensorProto::DOUBLE:
      return static_cast<std::uint64_t>(tensor.double_data_size());
    case onnx::TensorProto::INT64:
      return static_cast<std::uint64_t>(tensor.int64_data_size());
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::INT8:
      return static_cast<std::uint64_t>(tensor.int32_data_size());
    default:
      return std::nullopt;
  }
}

// The library copies raw data by its length into room for a whole number of values, and takes the first value
// of what should be a scalar without looking.
bool is_readable(const onnx::TensorProto& tensor) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) return false;
  const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  const auto elements = element_count(dims);
  if (!elements || *elements == 0 || *elements > kMaxConstantElements) return false;
  const auto typed = typed_values(tensor);
  if (!typed) return false;
  if (!tensor.has_raw_data()) return *typed == *elements;
  return raw_byte_count(static_cast<DataType>(tensor.data_type()), dims) ==
         std::uint64_t{tensor.raw_data().size()};
}

}  // namespace

bool clean_type(onnx::TypeProto& type) { return clean_nested(type, 0); }

const onnx::TypeProto* InferenceScope::type(std::string_view name) const {
  for (const InferenceScope* scope = this; scope != nullptr; scope = scope->outer_) {
    const auto place = scope->types_.find(name);
    if (place != scope->types_.end()) return &place->second;
  }
  return nullptr;
}

const onnx::TensorProto* InferenceScope::constant(std::string_view name) const {
  for (const InferenceScope* scope = this; scope != nullptr; scope = scope->outer_) {
    const auto place = scope->constants_.find(name);
    if (place != scope->constants_.end()) return place->second;
    if (scope->types_.contains(name)) return nullptr;  // a local name hides an outer one
  }
  return nullptr;
}

bool InferenceScope::add_type(std::string_view name, const onnx::TypeProto& type) {
  onnx::TypeProto cleaned = type;
  if (!clean_type(cleaned)) return true;
  const auto [place, is_new] = types_.try_emplace(name, cleaned);
  if (is_new) return true;
  onnx::TypeProto& known = place->second;
  if (!known.has_tensor_type() || !cleaned.has_tensor_type())
    return known.value_case() == cleaned.value_case();
  ValueType merged = value_type(known);
  if (!merge_value_type(merged, value_type(cleaned))) return false;
  known = type_proto(merged.type, merged.shape);
  return true;
}

void InferenceScope::set_constant(std::string_view name, const onnx::TensorProto& tensor) {
  if (is_readable(tensor)) constants_[name] = &tensor;
}

void InferenceScope::set_constant(std::string_view name, onnx::TensorProto&& tensor) {
  if (!is_readable(tensor)) return;
  made_.push_back(std::move(tensor));
  constants_[name] = &made_.back();
}

}  // namespace halftone
