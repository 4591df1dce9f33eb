#include "halftone/number_format.h"

#include <array>
#include <cstddef>

namespace halftone {
namespace {

// In the order of the enum. Opsets: ONNX operator changelog (QuantizeLinear and DequantizeLinear 10, 13, 19,
// 21, 23, 25).
constexpr std::array<NumberFormatInfo, 15> kFormats = {{
    {NumberFormat::kInt8, "int8", FormatKind::kInteger, DataType::kInt8, 8, -128, 127, 10, 10},
    {NumberFormat::kUint8, "uint8", FormatKind::kInteger, DataType::kUint8, 8, 0, 255, 10, 10},
    {NumberFormat::kInt16, "int16", FormatKind::kInteger, DataType::kInt16, 16, -32768, 32767, 21, 21},
    {NumberFormat::kUint16, "uint16", FormatKind::kInteger, DataType::kUint16, 16, 0, 65535, 21, 21},
    {NumberFormat::kInt4, "int4", FormatKind::kInteger, DataType::kInt4, 4, -8, 7, 21, 21},
    {NumberFormat::kUint4, "uint4", FormatKind::kInteger, DataType::kUint4, 4, 0, 15, 21, 21},
    {NumberFormat::kInt2, "int2", FormatKind::kInteger, DataType::kInt2, 2, -2, 1, 25, 25},
    {NumberFormat::kUint2, "uint2", FormatKind::kInteger, DataType::kUint2, 2, 0, 3, 25, 25},
    {NumberFormat::kInt32, "int32", FormatKind::kInteger, DataType::kInt32, 32, INT32_MIN, INT32_MAX, 0, 10},
    {NumberFormat::kFloat8E4M3Fn, "float8e4m3fn", FormatKind::kSmallFloat, DataType::kFloat8E4M3FN, 8, 0, 0,
     19, 19},
    {NumberFormat::kFloat8E4M3Fnuz, "float8e4m3fnuz", FormatKind::kSmallFloat, DataType::kFloat8E4M3FNUZ, 8,
     0, 0, 19, 19},
    {NumberFormat::kFloat8E5M2, "float8e5m2", FormatKind::kSmallFloat, DataType::kFloat8E5M2, 8, 0, 0, 19,
     19},
    {NumberFormat::kFloat8E5M2Fnuz, "float8e5m2fnuz", FormatKind::kSmallFloat, DataType::kFloat8E5M2FNUZ, 8,
     0, 0, 19, 19},
    {NumberFormat::kFloat4E2M1, "float4e2m1", FormatKind::kSmallFloat, DataType::kFloat4E2M1, 4, 0, 0, 23,
     23},
    {NumberFormat::kFloat32, "float32", FormatKind::kFloat32, DataType::kFloat, 32, 0, 0, 0, 0},
}};

constexpr bool table_follows_enum() {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (static_cast<std::size_t>(kFormats[i].format) != i) return false;
  }
  return true;
}
static_assert(table_follows_enum());

constexpr std::uint64_t kMaxCodes = std::uint64_t{1} << 60U;

}  // namespace

const NumberFormatInfo& number_format_info(NumberFormat format) {
  return kFormats[static_cast<std::size_t>(format)];
}

std::span<const NumberFormatInfo> number_formats() { return kFormats; }

std::optional<NumberFormat> number_format_from_name(std::string_view name) {
  for (const NumberFormatInfo& info : kFormats) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

std::optional<NumberFormat> number_format_from_data_type(DataType type) {
  for (const NumberFormatInfo& info : kFormats) {
    if (info.onnx_type == type) return info.format;
  }
  return std::nullopt;
}

bool is_quantize_format(NumberFormat format) {
  const NumberFormatInfo& info = number_format_info(format);
  return info.quantize_opset != 0;
}

std::optional<SmallFloat> small_float_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFloat8E4M3Fn:
      return SmallFloat::kFloat8E4M3Fn;
    case NumberFormat::kFloat8E4M3Fnuz:
      return SmallFloat::kFloat8E4M3Fnuz;
    case NumberFormat::kFloat8E5M2:
      return SmallFloat::kFloat8E5M2;
    case NumberFormat::kFloat8E5M2Fnuz:
      return SmallFloat::kFloat8E5M2Fnuz;
    case NumberFormat::kFloat4E2M1:
      return SmallFloat::kFloat4E2M1;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> code_byte_count(NumberFormat format, std::uint64_t count) {
  if (count > kMaxCodes) return std::nullopt;
  const auto bits = static_cast<std::uint64_t>(number_format_info(format).bits);
  if (bits >= 8) return count * (bits / 8);
  const std::uint64_t per_byte = 8 / bits;
  return count / per_byte + (count % per_byte != 0 ? 1 : 0);
}

}  // namespace halftone
