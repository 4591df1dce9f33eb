// Values of constant tensors: see Model::constant.
#pragma once

#include <vector>

#include "halftone/graph.h"
#include "halftone/result.h"
#include "model/constant_index.h"
#include "model/tensor_bytes.h"

namespace halftone {

// What Cast can be folded: from float16, bfloat16, float32, double, bool and integers of 8 to 64 bits, to
// float32 and integers of 8 to 64 bits. Sub-byte integers, float8 and strings are left to the runtime.
bool can_cast(DataType from, DataType to);

// Little-endian values of `from` as values of `to`. Precondition: can_cast(from, to).
// Integers are cut to the target's width, as C++ and onnxruntime do. A float that doesn't fit the integer
// saturates and NaN becomes 0: ONNX leaves both undefined.
std::vector<std::uint8_t> cast_values(std::span<const std::uint8_t> values, DataType from, DataType to);

// `values` of `element_bytes` (1, 2, 4, 8, 16) each with dims `dims`, permuted: result axis i is axis
// permutation[i].
std::vector<std::uint8_t> transpose_values(std::span<const std::uint8_t> values, std::size_t element_bytes,
                                           std::span<const std::int64_t> dims,
                                           std::span<const std::int64_t> permutation);

// The value of a tensor from its source. Its `view` is valid as long as store and skeleton, or is of its own
// `owned`. Errors: kInvalidState if the tensor isn't constant, and those of tensor_bytes().
Result<TensorBytes> fold_constant(const std::vector<ConstantSource>& sources, TensorId id,
                                  const WeightStore& store);

}  // namespace halftone
