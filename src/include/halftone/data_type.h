// Element types of ONNX tensors. The numbers are TensorProto.DataType, so a cast to and from a file's number
// is safe for any value: types newer than this list keep their number and get the name "type_<n>".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace halftone {

enum class DataType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

// ONNX's own lower-case spelling as used in JSON ("float32", "uint8", "float8e4m3fn").
std::string data_type_name(DataType type);

// Bits per element; 0 for strings, undefined and unknown types.
std::size_t data_type_bits(DataType type);

// Elements in a tensor of `dims` (1 for rank 0). nullopt if a dimension is negative or the product exceeds
// 2^62.
std::optional<std::uint64_t> element_count(std::span<const std::int64_t> dims);

// Bytes of raw data for `dims` of `type`, sub-byte types packed (rounded up). nullopt where element_count is,
// or bits are 0.
std::optional<std::uint64_t> raw_byte_count(DataType type, std::span<const std::int64_t> dims);

}  // namespace halftone
