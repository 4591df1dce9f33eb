#include "model/varint_data.h"

#include <optional>
#include <string>

#include "model/message_schema.h"
#include "model/tensor_facts.h"

namespace halftone {
namespace {

constexpr std::size_t kMaxVarintBytes = 10;

std::uint32_t field_number(TensorField field) {
  if (field == TensorField::kInt64Data) return tensor_field::kInt64Data;
  return field == TensorField::kUint64Data ? tensor_field::kUint64Data : tensor_field::kInt32Data;
}

// Reads one varint and moves `at` behind it; nullopt if it is cut or too long.
std::optional<std::uint64_t> read_value(std::span<const std::uint8_t> encoded, std::size_t& at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kMaxVarintBytes && at < encoded.size(); ++i) {
    const std::uint8_t byte = encoded[at++];
    value |= std::uint64_t{byte & 0x7FU} << (7U * static_cast<unsigned>(i));
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

Error wrong_count(std::uint64_t expected) {
  return {ErrorCode::kInvalidGraph,
          "A tensor's list of integers is damaged or hasn't the " + std::to_string(expected) +
              " values that its type and " + "dimensions ask for.",
          "", "Export the model again; the file seems to be damaged."};
}

}  // namespace

bool is_plain(TensorField field) {
  switch (field) {
    case TensorField::kRawData:
    case TensorField::kFloatData:
    case TensorField::kDoubleData:
    case TensorField::kExternal:
      return true;
    case TensorField::kInt32Data:
    case TensorField::kInt64Data:
    case TensorField::kUint64Data:
      return false;
  }
  return false;
}

Result<std::vector<std::uint8_t>> decode_varint_data(TensorField field, DataType type,
                                                     std::span<const std::int64_t> dims,
                                                     std::span<const std::uint8_t> encoded) {
  const std::size_t bits = data_type_bits(type);
  const std::optional<std::uint64_t> elements = element_count(dims);
  const auto values = elements ? expected_values(field_number(field), type, *elements) : std::nullopt;
  if (bits == 0 || !values) {
    return Error{ErrorCode::kUnsupportedType,
                 "Integers of type " + data_type_name(type) + " can't be turned into bytes.", "", ""};
  }
  if (*values > encoded.size()) return wrong_count(*values);
  const std::size_t width = bits < 8 ? 1 : bits / 8;
  std::vector<std::uint8_t> plain(static_cast<std::size_t>(*values) * width);
  std::size_t at = 0;
  for (std::size_t i = 0; i < plain.size(); i += width) {
    const std::optional<std::uint64_t> value = read_value(encoded, at);
    if (!value) return wrong_count(*values);
    for (std::size_t byte = 0; byte < width; ++byte)
      plain[i + byte] = static_cast<std::uint8_t>(*value >> (8 * byte));
  }
  if (at != encoded.size()) return wrong_count(*values);
  return plain;
}

}  // namespace halftone
