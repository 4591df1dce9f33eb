#include "halftone/encoded_value.h"

#include <utility>

#include "codec/message_fields.h"
#include "codec/struct_reading.h"
#include "codec/struct_writing.h"
#include "model/wire.h"

namespace halftone {
namespace codec {
namespace {

enum Field : std::uint32_t {
  kAffine = 1,
  kStructType = 2,
  kLogicalType = 3,
  kRawData = 4,
  kExternalData = 5,
  kDataLocation = 6,
  kName = 7,
  kDocString = 8,
  kParameterRef = 10,
};

Result<void> read_layout(const Message& message, const WireField& field, EncodedValue& value) {
  if (value.layout.index() != 0) return damaged(message.noun, "has two layouts", field.whole.begin);
  if (field.number == kAffine) {
    value.layout = AffineLayout{field_text(message, field)};
    return {};
  }
  if (field.payload.size() > kMaxStructBytes) {
    return damaged(message.noun, "has a struct type of more than 16 MiB", field.whole.begin);
  }
  Result<StructType> type = read_struct(message.inner(field, "struct type"), 0);
  if (!type.ok()) return type.error();
  value.layout = std::move(type).value();
  return {};
}

Result<void> read_logical_type(const Message& message, const WireField& field, EncodedValue& value) {
  Result<ElementType> type = read_element_type(message.inner(field, "logical type"), 0);
  if (!type.ok()) return type.error();
  auto* tensor = std::get_if<TensorType>(&type.value().value);
  if (tensor == nullptr || !tensor->has_shape) {
    return damaged(message.noun, "stands for something else than a tensor of known shape", field.whole.begin);
  }
  value.logical_type = std::move(*tensor);
  return {};
}

Result<void> read_external_entry(const Message& message, EncodedValue& value) {
  std::pair<std::string, std::string>& entry = value.external_data.emplace_back();
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number != 1 && field.number != 2) return message.unknown(field);
    (field.number == 1 ? entry.first : entry.second) = field_text(message, field);
    return single.take(field, WireType::kLength);
  });
  if (!walked.ok()) return walked;
  for (std::size_t i = 0; i + 1 < value.external_data.size(); ++i) {
    if (value.external_data[i].first == entry.first)
      return damaged(message.noun, "has a key twice", message.range.begin);
  }
  return {};
}

Result<void> read_rest(const Message& message, const WireField& field, EncodedValue& value) {
  switch (field.number) {
    case kRawData:
      value.payload = PayloadBytes(message.file.subspan(field.payload.begin, field.payload.size()));
      return {};
    case kDataLocation:
      value.data_location = static_cast<std::int32_t>(field.value);
      return {};
    case kName:
      value.name = field_text(message, field);
      return {};
    case kDocString:
      value.doc_string = field_text(message, field);
      return {};
    case kParameterRef:
      value.parameter_ref = field_text(message, field);
      return {};
    default:
      return message.unknown(field);
  }
}

Result<void> read_field(const Message& message, const WireField& field, SingleFields& single,
                        EncodedValue& value) {
  constexpr std::size_t kExternalKeys = 16;
  if (field.number == kExternalData) {
    if (Result<void> typed = single.check_type(field, WireType::kLength); !typed.ok()) return typed;
    if (value.external_data.size() == kExternalKeys) {
      return damaged(message.noun, "has more than 16 keys of external data", field.whole.begin);
    }
    return read_external_entry(message.inner(field, "entry of external data"), value);
  }
  if (field.number > kParameterRef || field.number == 9) return message.unknown(field);
  const WireType wire = field.number == kDataLocation ? WireType::kVarint : WireType::kLength;
  if (Result<void> taken = single.take(field, wire); !taken.ok()) return taken;
  if (field.number <= kStructType) return read_layout(message, field, value);
  if (field.number == kLogicalType) return read_logical_type(message, field, value);
  return read_rest(message, field, value);
}

void append_external_data(std::string& out, const EncodedValue& value) {
  for (const auto& [key, text] : value.external_data) {
    std::string entry;
    append_text_field(entry, 1, key);
    append_text_field(entry, 2, text);
    append_text_field(out, kExternalData, entry);
  }
}

}  // namespace
}  // namespace codec

Result<EncodedValue> read_encoded_value(std::span<const std::uint8_t> bytes) {
  EncodedValue value;
  const codec::Message message{bytes, {0, bytes.size()}, "encoded value"};
  codec::SingleFields single(message);
  const Result<void> walked = codec::for_each_field(
      message, [&](const WireField& field) { return codec::read_field(message, field, single, value); });
  if (!walked.ok()) return walked.error();
  return value;
}

EncodedValueFrame encoded_value_frame(const EncodedValue& value, std::optional<std::uint64_t> payload_bytes) {
  EncodedValueFrame frame;
  if (const auto* affine = std::get_if<AffineLayout>(&value.layout)) {
    append_text_field(frame.head, codec::kAffine, affine->message);
  }
  if (const auto* type = std::get_if<StructType>(&value.layout)) {
    append_text_field(frame.head, codec::kStructType, write_struct_type(*type));
  }
  if (value.logical_type) {
    append_text_field(frame.head, codec::kLogicalType, codec::write_tensor_type(*value.logical_type));
  }
  if (payload_bytes) {
    append_tag(frame.head, codec::kRawData, WireType::kLength);
    append_varint(frame.head, *payload_bytes);
  }
  codec::append_external_data(frame.tail, value);
  if (value.data_location) {
    append_tag(frame.tail, codec::kDataLocation, WireType::kVarint);
    append_varint(frame.tail, static_cast<std::uint64_t>(std::int64_t{*value.data_location}));
  }
  if (value.name) append_text_field(frame.tail, codec::kName, *value.name);
  if (value.doc_string) append_text_field(frame.tail, codec::kDocString, *value.doc_string);
  if (value.parameter_ref) append_text_field(frame.tail, codec::kParameterRef, *value.parameter_ref);
  return frame;
}

ByteRope write_encoded_value(const EncodedValue& value) {
  const auto size = value.payload ? std::optional(value.payload->size()) : std::nullopt;
  const EncodedValueFrame frame = encoded_value_frame(value, size);
  ByteRope rope;
  rope.append_owned({frame.head.begin(), frame.head.end()});
  if (value.payload) rope.append_view(value.payload->bytes());
  rope.append_owned({frame.tail.begin(), frame.tail.end()});
  return rope;
}

}  // namespace halftone
