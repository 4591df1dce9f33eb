// The operator classes that ModelOpt's placement speaks of. Members are exact: an operator that "belongs" to
// a class by nature but isn't listed (Unsqueeze, Pad, Relu, Clip …) is outside on purpose, since the peer's
// lists decide the graph. Only operators of the default domain are in any class.
#pragma once

#include <cstdint>
#include <string_view>

#include "halftone/graph.h"

namespace halftone::tensorrt {

enum class OpClass : std::uint8_t {
  kLinear = 1,     // Conv ConvTranspose Gemm MatMul
  kCopy = 2,       // moves values without computing: Reshape, Transpose, Concat, Gather …
  kPointwise = 4,  // unary and binary elementwise operators, Softmax, InstanceNormalization, CumSum
  kPooling = 8,    // pooling and window operators
};

// The sum of the classes that the operator is in.
[[nodiscard]] std::uint8_t op_classes(const GraphNode& node);

// Operators whose inputs this target may quantize by default. int8: 16 operators, float8: Gemm MatMul Conv
// Add.
[[nodiscard]] bool is_quantizable_int8(std::string_view op_type);
[[nodiscard]] bool is_quantizable_float8(std::string_view op_type);

// An operator type of the default domain.
[[nodiscard]] inline bool is_op(const GraphNode& node, std::string_view op_type) {
  return node.domain.empty() && node.op_type == op_type;
}

}  // namespace halftone::tensorrt
