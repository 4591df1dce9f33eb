#include <catch2/catch_all.hpp>

#include <set>

#include "halftone/number_format.h"

namespace halftone {
namespace {

TEST_CASE("Formats and their names are one to one", "[numeric]") {
  std::set<std::string_view> names;
  for (const NumberFormatInfo& info : number_formats()) {
    CHECK(number_format_info(info.format).name == info.name);
    CHECK(number_format_from_name(info.name) == info.format);
    CHECK(number_format_from_data_type(info.onnx_type) == info.format);
    CHECK(data_type_bits(info.onnx_type) == static_cast<std::size_t>(info.bits));
    CHECK(data_type_name(info.onnx_type) == info.name);
    names.insert(info.name);
  }
  CHECK(names.size() == number_formats().size());
  CHECK(number_format_from_name("Int8") == std::nullopt);
  CHECK(number_format_from_name("") == std::nullopt);
  CHECK(number_format_from_data_type(DataType::kInt64) == std::nullopt);
}

TEST_CASE("Code ranges and opsets are ONNX's", "[numeric]") {
  const NumberFormatInfo& int4 = number_format_info(NumberFormat::kInt4);
  CHECK(int4.lowest == -8);
  CHECK(int4.highest == 7);
  CHECK(int4.quantize_opset == 21);
  CHECK(number_format_info(NumberFormat::kUint8).highest == 255);
  CHECK(number_format_info(NumberFormat::kUint8).quantize_opset == 10);
  CHECK(number_format_info(NumberFormat::kUint16).highest == 65535);
  CHECK(number_format_info(NumberFormat::kInt32).lowest == INT32_MIN);
  CHECK_FALSE(is_quantize_format(NumberFormat::kInt32));
  CHECK_FALSE(is_quantize_format(NumberFormat::kFloat32));
  CHECK(is_quantize_format(NumberFormat::kInt16));
  const NumberFormatInfo& float8 = number_format_info(NumberFormat::kFloat8E4M3Fn);
  CHECK(float8.name == "float8e4m3fn");
  CHECK(static_cast<int>(float8.onnx_type) == 17);
  CHECK(float8.quantize_opset == 19);
  CHECK(float8.dequantize_opset == 19);
  CHECK(is_quantize_format(NumberFormat::kFloat8E4M3Fn));
  const NumberFormatInfo& int2 = number_format_info(NumberFormat::kInt2);
  CHECK(int2.lowest == -2);
  CHECK(int2.highest == 1);
  CHECK(int2.quantize_opset == 25);
  CHECK(static_cast<int>(int2.onnx_type) == 26);
  CHECK(number_format_info(NumberFormat::kUint2).highest == 3);
  CHECK(number_format_info(NumberFormat::kFloat8E5M2Fnuz).dequantize_opset == 19);
  CHECK(number_format_info(NumberFormat::kFloat4E2M1).quantize_opset == 23);
}

TEST_CASE("Formats whose codes are floats have their names and bits from there", "[numeric]") {
  std::size_t floats = 0;
  for (const NumberFormatInfo& info : number_formats()) {
    const std::optional<SmallFloat> type = small_float_of(info.format);
    CHECK(type.has_value() == (info.kind == FormatKind::kSmallFloat));
    if (!type) continue;
    ++floats;
    CHECK(small_float_info(*type).name == info.name);
    CHECK(small_float_info(*type).bits == info.bits);
  }
  CHECK(floats == 5);
}

TEST_CASE("Packed code bytes", "[numeric]") {
  CHECK(code_byte_count(NumberFormat::kInt2, 0) == 0);
  CHECK(code_byte_count(NumberFormat::kInt2, 4) == 1);
  CHECK(code_byte_count(NumberFormat::kUint2, 5) == 2);
  CHECK(code_byte_count(NumberFormat::kFloat4E2M1, 3) == 2);
  CHECK(code_byte_count(NumberFormat::kInt4, 0) == 0);
  CHECK(code_byte_count(NumberFormat::kInt4, 1) == 1);
  CHECK(code_byte_count(NumberFormat::kUint4, 8) == 4);
  CHECK(code_byte_count(NumberFormat::kUint4, 9) == 5);
  CHECK(code_byte_count(NumberFormat::kInt16, 9) == 18);
  CHECK(code_byte_count(NumberFormat::kFloat8E4M3Fn, 9) == 9);
  CHECK(code_byte_count(NumberFormat::kInt32, std::uint64_t{1} << 60U) == std::uint64_t{1} << 62U);
  CHECK(code_byte_count(NumberFormat::kInt8, (std::uint64_t{1} << 60U) + 1) == std::nullopt);
}

}  // namespace
}  // namespace halftone
