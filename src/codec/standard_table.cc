// Which standard type has the values that codes stand for.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "codec/standard_form.h"
#include "halftone/block_format.h"
#include "halftone/small_floats.h"

namespace halftone::codec {
namespace {

constexpr std::uint32_t kNibbleBits = 4;

Result<StandardTable> integer_codes(const BlockLayout& layout) {
  StandardTable made;
  const bool is_signed = layout.signed_codes;
  if (layout.bits <= 4) {
    made.type = is_signed ? DataType::kInt4 : DataType::kUint4;
  } else if (layout.bits <= 8) {
    made.type = is_signed ? DataType::kInt8 : DataType::kUint8;
  } else {
    made.type = is_signed ? DataType::kInt16 : DataType::kUint16;
  }
  const std::uint32_t mask = (1U << data_type_bits(made.type)) - 1;
  const std::uint32_t sign = is_signed ? 1U << (layout.bits - 1) : 0;
  for (std::uint32_t code = 0; code < 1U << layout.bits; ++code) {
    const std::uint32_t extended = (code & sign) != 0 ? code | ~((sign << 1U) - 1) : code;
    made.codes.push_back(static_cast<std::uint16_t>(extended & mask));
  }
  return made;
}

// By a function value -> code, nullopt where the type lacks a value.
template <typename CodeOf>
std::optional<StandardTable> codes_of(DataType type, std::span<const double> table, CodeOf code_of) {
  StandardTable made{type, {}};
  for (const double value : table) {
    const std::optional<std::uint16_t> code = code_of(value);
    if (!code) return std::nullopt;
    made.codes.push_back(*code);
  }
  return made;
}

auto integer_code(int bits) {
  return [bits](double value) -> std::optional<std::uint16_t> {
    const double half = std::ldexp(1.0, bits - 1);
    if (value != std::trunc(value) || value < -half || value >= half) return std::nullopt;
    return static_cast<std::uint16_t>(static_cast<unsigned>(static_cast<int>(value)) & ((1U << bits) - 1));
  };
}

// -0 becomes 0, as the codec decodes it.
auto float_code(SmallFloat type) {
  return [type](double value) -> std::optional<std::uint16_t> {
    const std::uint8_t code = small_float_code(type, value + 0.0);
    if (static_cast<double>(small_float_values(type)[code]) != value) return std::nullopt;
    return code;
  };
}

// What bitsandbytes makes of each code, at absmax 1.
std::array<float, 16> bnb4_table(BlockFormat format) {
  std::array<std::uint8_t, 8> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<std::uint8_t>(i << (kNibbleBits + 1) | (2 * i + 1));
  const std::array<std::uint8_t, 4> one{0, 0, 0x80, 0x3F};  // 1 as float32
  std::array<float, 16> values{};
  BlockCoding coding;
  coding.format = format;
  coding.block_size = 16;
  // Can't fail: the sizes are those of one block.
  static_cast<void>(decode_blocks(coding, codes, one, MutableFloatView(values)));
  return values;
}

}  // namespace

Result<StandardTable> standard_table(const BlockLayout& layout, std::span<const double> table, bool float4) {
  if (layout.method == CodecMethod::kAffine) return integer_codes(layout);
  if (layout.method == CodecMethod::kCast)
    return no_equivalent("It holds plain floats, which decoding makes a plain initializer of.");
  if (layout.books != 1 || layout.vector_size != 1)
    return no_equivalent("Its code book has vectors or several tables, and ONNX has no operator for such.");
  if (auto made = codes_of(DataType::kInt4, table, integer_code(4))) return *std::move(made);
  if (auto made = codes_of(DataType::kFloat4E2M1, table, float_code(SmallFloat::kFloat4E2M1)); made && float4)
    return *std::move(made);
  if (auto made = codes_of(DataType::kInt8, table, integer_code(8))) return *std::move(made);
  if (auto made = codes_of(DataType::kFloat8E4M3FN, table, float_code(SmallFloat::kFloat8E4M3Fn)))
    return *std::move(made);
  return no_equivalent("Its code book has values that no type of ONNX has.");
}

std::optional<std::int64_t> bnb4_type(const BlockLayout& layout, std::span<const double> table) {
  const bool scalar = layout.method == CodecMethod::kCodebook && layout.bits == kNibbleBits &&
                      layout.books == 1 && layout.vector_size == 1 && !layout.base3;
  if (!scalar || table.size() != 16) return std::nullopt;
  const auto equals = [table](BlockFormat format) {
    const std::array<float, 16> values = bnb4_table(format);
    return std::equal(values.begin(), values.end(), table.begin(),
                      [](float a, double b) { return static_cast<double>(a) == b; });
  };
  if (equals(BlockFormat::kBitsandbytesNf4)) return 1;
  if (equals(BlockFormat::kBitsandbytesFp4)) return 0;
  return std::nullopt;
}

}  // namespace halftone::codec
