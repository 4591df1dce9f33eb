#include "model/tensor_bytes.h"

#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "model/stored_tensor.h"
#include "model/varint_data.h"

namespace halftone {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor data is used in place");

Error data_misfit(const onnx::TensorProto& tensor, const std::string& what) {
  return {ErrorCode::kInvalidGraph, "The tensor \"" + printable(tensor.name()) + "\" " + what + ".",
          printable(tensor.name()), "Export the model again; the tensor's data is damaged."};
}

template <typename Values>
std::span<const std::uint8_t> view_of(const Values& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()),
          static_cast<std::size_t>(values.size()) * sizeof(*values.data())};
}

// The low `Narrow` part of each value: how ONNX keeps small types in int32_data and uint64_data.
template <typename Narrow, typename Values>
std::vector<std::uint8_t> narrowed(const Values& values) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(values.size()) * sizeof(Narrow));
  std::size_t at = 0;
  for (const auto value : values) {
    const auto narrow = static_cast<Narrow>(value);
    std::memcpy(bytes.data() + at, &narrow, sizeof(narrow));
    at += sizeof(narrow);
  }
  return bytes;
}

void take(TensorBytes& made, std::vector<std::uint8_t> bytes) {
  made.owned = std::move(bytes);
  made.view = made.owned;
}

void read_int32_data(const onnx::TensorProto& tensor, TensorBytes& made) {
  const std::size_t bits = data_type_bits(made.type);
  if (bits == 32) {
    made.view = view_of(tensor.int32_data());
  } else if (bits == 16) {
    take(made, narrowed<std::uint16_t>(tensor.int32_data()));
  } else {
    take(made, narrowed<std::uint8_t>(tensor.int32_data()));  // sub-byte types: one packed byte a value
  }
}

void read_inline(const onnx::TensorProto& tensor, TensorBytes& made) {
  if (tensor.has_raw_data()) {
    made.view = view_of(tensor.raw_data());
    return;
  }
  switch (made.type) {
    case DataType::kFloat:
    case DataType::kComplex64:
      made.view = view_of(tensor.float_data());
      return;
    case DataType::kDouble:
    case DataType::kComplex128:
      made.view = view_of(tensor.double_data());
      return;
    case DataType::kInt64:
      made.view = view_of(tensor.int64_data());
      return;
    case DataType::kUint64:
      made.view = view_of(tensor.uint64_data());
      return;
    case DataType::kUint32:
      take(made, narrowed<std::uint32_t>(tensor.uint64_data()));
      return;
    default:
      read_int32_data(tensor, made);
      return;
  }
}

std::optional<Error> read_stored(const StoredTensor& stored, const WeightStore& store, TensorBytes& made) {
  const std::span<const std::uint8_t> bytes = stored_bytes(store, stored);
  if (is_plain(stored.field)) {
    made.view = bytes;
    return std::nullopt;
  }
  Result<std::vector<std::uint8_t>> decoded = decode_varint_data(stored.field, made.type, made.dims, bytes);
  if (!decoded.ok()) return std::move(decoded).error();
  take(made, std::move(decoded).value());
  return std::nullopt;
}

}  // namespace

Result<TensorBytes> tensor_bytes(const onnx::TensorProto& tensor, const WeightStore& store) {
  TensorBytes made;
  made.type = static_cast<DataType>(tensor.data_type());
  made.dims.assign(tensor.dims().begin(), tensor.dims().end());
  if (data_type_bits(made.type) == 0) {
    return Error{ErrorCode::kUnsupportedType,
                 "The tensor \"" + printable(tensor.name()) + "\" holds values of type " +
                     data_type_name(made.type) + ", which can't be read as numbers.",
                 printable(tensor.name()), ""};
  }
  const std::optional<std::uint64_t> expected = raw_byte_count(made.type, made.dims);
  if (!expected) return data_misfit(tensor, "has dimensions that are negative or too large");
  if (const auto stored = stored_tensor(tensor)) {
    if (auto error = read_stored(*stored, store, made)) return *std::move(error);
  } else if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    return data_misfit(tensor, "lies in a file that was not given");
  } else {
    read_inline(tensor, made);
  }
  if (made.view.size() != *expected) {
    return data_misfit(tensor, "has " + std::to_string(made.view.size()) +
                                   " bytes of data where its dimensions need " + std::to_string(*expected));
  }
  return made;
}

}  // namespace halftone
