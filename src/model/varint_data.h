// Tensor data that came as a list of varints (int32_data, int64_data, uint64_data), as plain bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/result.h"
#include "model/stored_tensor.h"

namespace halftone {

// Whether data in this field is plain little-endian bytes already.
bool is_plain(TensorField field);

// Row-major little-endian bytes of a tensor of `type` and `dims` from its packed varints; sub-byte types come
// as one packed byte a value. Values are cut to the type's width, as ONNX does. Precondition:
// !is_plain(field). Errors: kInvalidGraph if the list isn't sound or has another count than dims ask for;
// kUnsupportedType if the type has no plain bytes (its size isn't known).
Result<std::vector<std::uint8_t>> decode_varint_data(TensorField field, DataType type,
                                                     std::span<const std::int64_t> dims,
                                                     std::span<const std::uint8_t> encoded);

}  // namespace halftone
