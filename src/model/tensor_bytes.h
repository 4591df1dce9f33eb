// The values of one dense tensor as plain row-major little-endian bytes, whatever field they came in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/result.h"
#include "model/onnx_messages.h"
#include "model/weight_store.h"

namespace halftone {

struct TensorBytes {
  DataType type = DataType::kUndefined;
  std::vector<std::int64_t> dims;
  std::span<const std::uint8_t> view;  // of the store or of the message, valid as long as they; or of `owned`
  std::vector<std::uint8_t> owned;     // empty unless the values had to be decoded
};

// Errors: kUnsupportedType for strings and types of unknown size; kInvalidGraph if the data doesn't fit the
// dims.
Result<TensorBytes> tensor_bytes(const onnx::TensorProto& tensor, const WeightStore& store);

}  // namespace halftone
