// A tensor whose data lies in the weight store: how the skeleton says so. See model_data.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/onnx_messages.h"
#include "model/weight_store.h"

namespace halftone {

struct StoredTensor {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // bytes in the store (of varints: their encoded length)
  TensorField field = TensorField::kRawData;
};

// nullopt if the tensor's data isn't in the store (it is inline, or the entries aren't ours).
std::optional<StoredTensor> stored_tensor(const onnx::TensorProto& tensor);
// The external_data entries that say so on the wire, and data_location; for the reader, which has no
// TensorProto at hand.
void append_stored_tensor_fields(std::string& wire, const StoredTensor& where);
// Replaces whatever data the tensor has by a reference to the store.
void set_stored_tensor(onnx::TensorProto& tensor, const StoredTensor& where);
// The bytes; empty if the path isn't there or the range leaves the buffer (checked at loading, so only for
// length 0).
std::span<const std::uint8_t> stored_bytes(const WeightStore& store, const StoredTensor& where);

}  // namespace halftone
