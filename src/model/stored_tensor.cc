#include "model/stored_tensor.h"

#include <charconv>
#include <string_view>

#include "model/message_schema.h"
#include "model/wire.h"

namespace halftone {
namespace {

constexpr std::string_view kPathKey = "halftone.path";
constexpr std::string_view kOffsetKey = "halftone.offset";
constexpr std::string_view kLengthKey = "halftone.length";
constexpr std::string_view kFieldKey = "halftone.field";
constexpr int kEntryCount = 4;

std::optional<std::uint64_t> parse_number(const onnx::StringStringEntryProto& entry, std::string_view key) {
  if (entry.key() != key) return std::nullopt;
  const std::string& text = entry.value();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void add_entry(onnx::TensorProto& tensor, std::string_view key, const std::string& value) {
  onnx::StringStringEntryProto* entry = tensor.add_external_data();
  entry->set_key(std::string(key));
  entry->set_value(value);
}

void append_entry(std::string& wire, std::string_view key, std::string_view value) {
  std::string entry;
  append_text_field(entry, kEntryKey, key);
  append_text_field(entry, kEntryValue, value);
  append_text_field(wire, tensor_field::kExternalData, entry);
}

std::string field_number(TensorField field) { return std::to_string(static_cast<unsigned>(field)); }

}  // namespace

std::optional<StoredTensor> stored_tensor(const onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL || tensor.external_data_size() != kEntryCount) {
    return std::nullopt;
  }
  const onnx::StringStringEntryProto& path = tensor.external_data(0);
  const auto offset = parse_number(tensor.external_data(1), kOffsetKey);
  const auto length = parse_number(tensor.external_data(2), kLengthKey);
  const auto field = parse_number(tensor.external_data(3), kFieldKey);
  if (path.key() != kPathKey || !offset || !length || !field) return std::nullopt;
  if (*field > static_cast<std::uint64_t>(TensorField::kExternal)) return std::nullopt;
  return StoredTensor{path.value(), *offset, *length, static_cast<TensorField>(*field)};
}

void append_stored_tensor_fields(std::string& wire, const StoredTensor& where) {
  append_entry(wire, kPathKey, where.path);
  append_entry(wire, kOffsetKey, std::to_string(where.offset));
  append_entry(wire, kLengthKey, std::to_string(where.length));
  append_entry(wire, kFieldKey, field_number(where.field));
  append_tag(wire, tensor_field::kDataLocation, WireType::kVarint);
  append_varint(wire, kExternalLocation);
}

void set_stored_tensor(onnx::TensorProto& tensor, const StoredTensor& where) {
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_string_data();
  tensor.clear_int64_data();
  tensor.clear_raw_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  add_entry(tensor, kPathKey, where.path);
  add_entry(tensor, kOffsetKey, std::to_string(where.offset));
  add_entry(tensor, kLengthKey, std::to_string(where.length));
  add_entry(tensor, kFieldKey, field_number(where.field));
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
}

std::span<const std::uint8_t> stored_bytes(const WeightStore& store, const StoredTensor& where) {
  const std::span<const std::uint8_t> buffer = store.find(where.path);
  if (where.offset > buffer.size() || where.length > buffer.size() - where.offset) return {};
  return buffer.subspan(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.length));
}

}  // namespace halftone
