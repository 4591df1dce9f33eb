#include "model/extension_fields.h"

#include "halftone/model.h"
#include "model/wire_error.h"

namespace halftone {
namespace {

enum ReferencePart : std::uint32_t {
  kNumber = 1,
  kPath = 2,
  kOffset = 3,
  kLength = 4,
  kName = 5,
  kLogicalType = 6,
};

// Of an EncodedValueProto.
constexpr std::uint32_t kEncodedLogicalType = 3;
constexpr std::uint32_t kEncodedName = 7;
// An extension of onnx-light, too, but kept without a look into it.
constexpr std::uint32_t kPagedCacheField = 1002;

std::span<const std::uint8_t> wire_bytes(const std::string& wire) {
  return {reinterpret_cast<const std::uint8_t*>(wire.data()), wire.size()};
}

std::string_view text_of(std::span<const std::uint8_t> wire, ByteRange range) {
  const auto bytes = wire.subspan(range.begin, range.size());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void append_number(std::string& wire, std::uint32_t field, std::uint64_t value) {
  append_tag(wire, field, WireType::kVarint);
  append_varint(wire, value);
}

void read_part(std::span<const std::uint8_t> wire, const WireField& part, FieldReference& reference) {
  switch (part.number) {
    case kNumber:
      reference.number = static_cast<std::uint32_t>(part.value);
      break;
    case kPath:
      reference.path = text_of(wire, part.payload);
      break;
    case kOffset:
      reference.offset = part.value;
      break;
    case kLength:
      reference.length = part.value;
      break;
    case kName:
      reference.name = text_of(wire, part.payload);
      break;
    case kLogicalType:
      reference.logical_type = text_of(wire, part.payload);
      break;
    default:
      break;
  }
}

}  // namespace

bool is_kept_in_store(MessageKind kind, const WireField& field) {
  if (field.type != WireType::kLength || !may_hold_tensors(kind)) return false;
  if (field.payload.size() > kInlineLimitBytes || field.number == kReferenceField) return true;
  if (kind == MessageKind::kModel) return field.number == kStructTypeField;
  return kind == MessageKind::kGraph &&
         (field.number == kEncodedInitializerField || field.number == kPagedCacheField);
}

Result<void> describe_encoded_initializer(std::span<const std::uint8_t> file, ByteRange range,
                                          FieldReference& reference) {
  WireReader reader(file, range);
  WireField field;
  while (reader.next(field)) {
    if (field.type != WireType::kLength) continue;
    if (field.number == kEncodedName) reference.name = text_of(file, field.payload);
    if (field.number == kEncodedLogicalType && field.payload.size() <= kInlineLimitBytes)
      reference.logical_type = text_of(file, field.payload);
  }
  if (reader.fault() == WireFault::kSound) return {};
  reference.name = {};
  reference.logical_type = {};
  return wire_fault_error(reader, "encoded initializer", file.size());
}

void append_field_reference(std::string& wire, const FieldReference& reference) {
  std::string parts;
  append_number(parts, kNumber, reference.number);
  append_text_field(parts, kPath, reference.path);
  append_number(parts, kOffset, reference.offset);
  append_number(parts, kLength, reference.length);
  append_text_field(parts, kName, reference.name);
  if (!reference.logical_type.empty()) append_text_field(parts, kLogicalType, reference.logical_type);
  append_text_field(wire, kReferenceField, parts);
}

std::optional<FieldReference> field_reference(std::span<const std::uint8_t> wire, const WireField& field) {
  if (field.number != kReferenceField || field.type != WireType::kLength) return std::nullopt;
  FieldReference reference;
  WireReader reader(wire, field.payload);
  WireField part;
  while (reader.next(part)) read_part(wire, part, reference);
  return reference;
}

std::optional<std::span<const std::uint8_t>> referenced_bytes(const WeightStore& store,
                                                              const FieldReference& reference) {
  const std::span<const std::uint8_t> buffer = store.find(reference.path);
  if (reference.offset > buffer.size() || reference.length > buffer.size() - reference.offset)
    return std::nullopt;
  return buffer.subspan(static_cast<std::size_t>(reference.offset),
                        static_cast<std::size_t>(reference.length));
}

std::vector<FieldReference> field_references(const std::string& unknown_fields, std::uint32_t number) {
  std::vector<FieldReference> found;
  const std::span<const std::uint8_t> wire = wire_bytes(unknown_fields);
  WireReader reader(wire, {0, wire.size()});
  WireField field;
  while (reader.next(field)) {
    const std::optional<FieldReference> reference = field_reference(wire, field);
    if (reference && reference->number == number) found.push_back(*reference);
  }
  return found;
}

void keep_encoded_initializers(onnx::GraphProto& graph, const std::function<bool(std::string_view)>& keep) {
  const std::span<const std::uint8_t> wire = wire_bytes(graph.unknown_fields());
  std::string kept;
  WireReader reader(wire, {0, wire.size()});
  WireField field;
  while (reader.next(field)) {
    const std::optional<FieldReference> reference = field_reference(wire, field);
    const bool gone = reference && reference->number == kEncodedInitializerField && !keep(reference->name);
    if (!gone) kept.append(text_of(wire, field.whole));
  }
  *graph.mutable_unknown_fields() = std::move(kept);
}

}  // namespace halftone
