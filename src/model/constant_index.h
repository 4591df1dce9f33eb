// Which tensors of the main graph are constant, and how their values come about; found without touching bulk
// bytes.
//
// Constant are dense initializers, the outputs of Constant nodes (value, value_float, value_floats,
// value_int, value_ints), and what Identity, Cast, Transpose, Reshape, Squeeze and Unsqueeze make of a
// constant of a numeric type.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/graph.h"
#include "model/onnx_messages.h"
#include "model/weight_store.h"

namespace halftone {

struct ConstantSource {
  enum class Kind : std::uint8_t {
    kNotConstant,
    kTensor,     // `tensor`
    kAttribute,  // the numbers of `attribute` (value_float, …)
    kView,       // the bytes of `from` under other dims
    kTranspose,  // `from` permuted by `permutation`
    kCast,       // `from` converted to `type`
  };
  Kind kind = Kind::kNotConstant;
  std::uint8_t steps = 0;  // transposes and casts on the way to the stored data
  const onnx::TensorProto* tensor = nullptr;
  const onnx::AttributeProto* attribute = nullptr;
  TensorId from = kNone;
  DataType type = DataType::kUndefined;
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> permutation;
};

// More transposes and casts than this between stored data and a use are not folded: each costs a pass over
// the data.
inline constexpr std::uint8_t kMaxFoldSteps = 8;

// One source for each tensor of `parts`, whose flags `constant` are set. `store` is read only for small
// shapes and axes.
std::vector<ConstantSource> index_constants(const onnx::GraphProto& graph, const WeightStore& store,
                                            Graph::Parts& parts);

}  // namespace halftone
