// Declared types (ONNX's TypeProto) as the graph index has them, and back.
#pragma once

#include <optional>
#include <vector>

#include "halftone/graph.h"
#include "model/onnx_messages.h"

namespace halftone {

// Shapes beyond this rank count as unknown; onnxruntime's own operators stop at 8.
inline constexpr int kMaxRank = 64;
// Longer symbols of dimensions are dropped: inference copies them along every node.
inline constexpr std::size_t kMaxSymbolBytes = 256;

struct ValueType {
  DataType type = DataType::kUndefined;
  std::optional<std::vector<Dimension>> shape;
};

// Anything but a dense tensor (sequence, map, optional, sparse) has no type and no shape here. A negative
// dimension counts as unknown.
ValueType value_type(const onnx::TypeProto& type);
ValueType value_type(const onnx::TensorProto& tensor);

// Precondition: type isn't kUndefined.
onnx::TypeProto type_proto(DataType type, const std::optional<std::vector<Dimension>>& shape);

// Fills what `known` leaves open from `other`: type, rank, single dimensions. Returns false (and changes
// nothing) if they contradict each other.
bool merge_value_type(ValueType& known, const ValueType& other);

}  // namespace halftone
