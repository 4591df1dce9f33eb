// The number formats that Halftone stores codes in: one closed list, one table of facts.
//
// A format is what a *code* is; how codes map to real numbers (scales, zero points, axis) is an Encoding, see
// encoding.h. Adding a format is one enumerator and one row of the table in number_format.cc. A code that is
// no integer (a small float, an index into a codebook) gets a FormatKind of its own, so that every function
// that needs integers refuses it by kind.
// Threading: constant data. Nothing here fails except by returning nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halftone/data_type.h"
#include "halftone/small_floats.h"

namespace halftone {

enum class NumberFormat : std::uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt4,
  kUint4,
  kInt2,
  kUint2,
  kInt32,
  kFloat8E4M3Fn,
  kFloat8E4M3Fnuz,
  kFloat8E5M2,
  kFloat8E5M2Fnuz,
  kFloat4E2M1,
  kFloat32,
};

enum class FormatKind : std::uint8_t {
  kInteger,     // real = (code - zero_point) * scale
  kSmallFloat,  // real = (what the code means as a float of 8 or 4 bits) * scale; no zero point but 0
  kFloat32,     // the real number itself: the format of a tensor that is not quantized
};

struct NumberFormatInfo {
  NumberFormat format;
  std::string_view name;  // as in options and files: "int8"
  FormatKind kind;
  DataType onnx_type;   // TensorProto.DataType of stored codes
  int bits;             // per code; below 8, codes are packed low bits first
  std::int32_t lowest;  // smallest and largest code, both included; 0 and 0 where kind is not kInteger
  std::int32_t highest;
  int quantize_opset;    // first version of ai.onnx whose QuantizeLinear makes this format; 0: none does
  int dequantize_opset;  // the same for DequantizeLinear. Per-axis scales need 13 at least, blocked scales 21
};

// Facts about one format. O(1).
const NumberFormatInfo& number_format_info(NumberFormat format);

// All formats in the order of the enum.
std::span<const NumberFormatInfo> number_formats();

// "int8" -> kInt8. Exact, lower case; nullopt for an unknown name.
std::optional<NumberFormat> number_format_from_name(std::string_view name);

// nullopt for element types that are no number format here (int64, bool, float16, …).
std::optional<NumberFormat> number_format_from_data_type(DataType type);

// True for the formats that QuantizeLinear can produce: all of them but int32, which is for biases only, and
// float32, which is no quantized format. Their kind is kInteger or kSmallFloat.
bool is_quantize_format(NumberFormat format);

// The float that a format's codes are; nullopt unless its kind is kSmallFloat.
std::optional<SmallFloat> small_float_of(NumberFormat format);

// Bytes that `count` codes take when packed; a last byte may be used in part. 0 for count 0. nullopt if count
// exceeds 2^60, so that no caller has to think about overflow.
std::optional<std::uint64_t> code_byte_count(NumberFormat format, std::uint64_t count);

}  // namespace halftone
