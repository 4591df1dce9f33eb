#include "model/skeleton_writer.h"

#include <limits>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/extension_fields.h"
#include "model/message_schema.h"
#include "model/skeleton_reader.h"
#include "model/stored_tensor.h"
#include "model/varint_data.h"
#include "model/wire.h"

namespace halftone {
namespace {

constexpr std::uint64_t kMaxModelBytes = std::numeric_limits<std::int32_t>::max();  // protobuf's
constexpr std::size_t kExternalAlignment = 64;
constexpr std::size_t kCopyLimitBytes = 256;  // shorter views are copied: a piece costs more than that

// What takes the place of a reference: some bytes of ours, then a view. Of a stored tensor in front of the
// first field with a higher number, of an unknown field where its reference is.
struct Replacement {
  std::uint32_t number = 0;
  std::string head;
  std::span<const std::uint8_t> payload;
};

std::uint32_t field_number(TensorField field) {
  switch (field) {
    case TensorField::kFloatData:
      return tensor_field::kFloatData;
    case TensorField::kDoubleData:
      return tensor_field::kDoubleData;
    case TensorField::kInt32Data:
      return tensor_field::kInt32Data;
    case TensorField::kInt64Data:
      return tensor_field::kInt64Data;
    case TensorField::kUint64Data:
      return tensor_field::kUint64Data;
    case TensorField::kRawData:
    case TensorField::kExternal:
      break;
  }
  return tensor_field::kRawData;
}

std::uint64_t field_size(std::uint32_t number, std::uint64_t payload) {
  const std::uint64_t tag = (std::uint64_t{number} << 3U) | static_cast<std::uint64_t>(WireType::kLength);
  return varint_size(tag) + varint_size(payload) + payload;
}

Error internal_fault() {
  return {ErrorCode::kInternal, "The model's own messages can't be written.", "", "Please report this."};
}

void append_entry(std::string& wire, std::string_view key, std::string_view value) {
  std::string entry;
  append_text_field(entry, kEntryKey, key);
  append_text_field(entry, kEntryValue, value);
  append_text_field(wire, tensor_field::kExternalData, entry);
}

Replacement external_reference(std::string_view location, std::uint64_t offset, std::uint64_t length) {
  Replacement reference{tensor_field::kExternalData, {}, {}};
  append_entry(reference.head, "location", location);
  append_entry(reference.head, "offset", std::to_string(offset));
  append_entry(reference.head, "length", std::to_string(length));
  append_tag(reference.head, tensor_field::kDataLocation, WireType::kVarint);
  append_varint(reference.head, kExternalLocation);
  return reference;
}

// Lengths come before contents, so the messages are measured first and written then, in the same order.
class SkeletonWriter {
 public:
  SkeletonWriter(const std::string& wire, const WeightStore& store, const WriteOptions& options)
      : wire_(reinterpret_cast<const std::uint8_t*>(wire.data()), wire.size()),
        store_(store),
        options_(options) {}

  Result<WrittenModel> write();

 private:
  std::optional<std::uint64_t> measure(MessageKind kind, ByteRange range, int depth);
  std::optional<std::uint64_t> measure_field(MessageKind kind, const WireField& field, int depth);
  std::optional<std::uint64_t> measure_tensor(ByteRange range);
  std::optional<std::uint64_t> measure_reference(const FieldReference& reference);
  void emit(MessageKind kind, ByteRange range);
  void emit_tensor(ByteRange range);
  void emit_replacement(const Replacement& replacement);
  std::optional<Replacement> replacement(const onnx::TensorProto& tensor, const StoredTensor& where);
  std::optional<Replacement> place_outside(const onnx::TensorProto& tensor, const StoredTensor& where,
                                           std::span<const std::uint8_t> bytes);
  std::uint64_t append_external(std::span<const std::uint8_t> bytes);
  void align_external();
  void copy(ByteRange range);
  void flush();

  std::span<const std::uint8_t> wire_;
  const WeightStore& store_;
  const WriteOptions& options_;
  std::optional<Error> error_;
  // In the order in which the messages are visited.
  std::vector<std::uint64_t> sizes_;
  std::vector<std::optional<Replacement>> replacements_;
  std::size_t next_size_ = 0;
  std::size_t next_replacement_ = 0;
  std::vector<std::uint8_t> pending_;
  WrittenModel written_;
  std::map<std::pair<const std::uint8_t*, std::size_t>, std::uint64_t>
      external_offsets_;  // of views already placed
};

void SkeletonWriter::copy(ByteRange range) {
  const auto bytes = wire_.subspan(range.begin, range.size());
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
}

void SkeletonWriter::flush() {
  written_.model.append_owned(std::move(pending_));
  pending_ = {};
}

void SkeletonWriter::align_external() {
  const std::size_t past = static_cast<std::size_t>(written_.external_data.size() % kExternalAlignment);
  if (past != 0) written_.external_data.append_owned(std::vector<std::uint8_t>(kExternalAlignment - past));
}

// Tensors that share their bytes share them in the file, too.
std::uint64_t SkeletonWriter::append_external(std::span<const std::uint8_t> bytes) {
  const auto known = external_offsets_.find({bytes.data(), bytes.size()});
  if (known != external_offsets_.end()) return known->second;
  align_external();
  const std::uint64_t offset = written_.external_data.size();
  external_offsets_.emplace(std::pair{bytes.data(), bytes.size()}, offset);
  written_.external_data.append_view(bytes);
  return offset;
}

// nullopt if the tensor stays inside, or with error_ set.
std::optional<Replacement> SkeletonWriter::place_outside(const onnx::TensorProto& tensor,
                                                         const StoredTensor& where,
                                                         std::span<const std::uint8_t> bytes) {
  if (options_.placement == WeightPlacement::kInside || bytes.empty()) return std::nullopt;
  if (options_.placement == WeightPlacement::kStoreReferences) {
    if (!is_plain(where.field)) return std::nullopt;
    return external_reference(where.path, where.offset, where.length);
  }
  if (is_plain(where.field))
    return external_reference(options_.external_location, append_external(bytes), bytes.size());
  const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  Result<std::vector<std::uint8_t>> plain =
      decode_varint_data(where.field, static_cast<DataType>(tensor.data_type()), dims, bytes);
  if (!plain) {
    if (plain.error().code != ErrorCode::kUnsupportedType) error_ = std::move(plain).error();
    return std::nullopt;
  }
  align_external();
  const std::uint64_t offset = written_.external_data.size();
  Replacement reference = external_reference(options_.external_location, offset, plain.value().size());
  written_.external_data.append_owned(std::move(plain).value());
  return reference;
}

std::optional<Replacement> SkeletonWriter::replacement(const onnx::TensorProto& tensor,
                                                       const StoredTensor& where) {
  const std::span<const std::uint8_t> bytes = stored_bytes(store_, where);
  if (bytes.size() != where.length) {
    error_ = internal_fault();
    return std::nullopt;
  }
  std::optional<Replacement> outside = place_outside(tensor, where, bytes);
  if (outside || error_) return outside;
  Replacement inside{field_number(where.field), {}, bytes};
  append_tag(inside.head, inside.number, WireType::kLength);
  append_varint(inside.head, bytes.size());
  return inside;
}

std::optional<std::uint64_t> SkeletonWriter::measure_tensor(ByteRange range) {
  std::uint64_t kept = 0;
  bool external = false;
  WireReader reader(wire_, range);
  WireField field;
  while (reader.next(field)) {
    if (field.number == tensor_field::kDataLocation) external = field.value == kExternalLocation;
    if (field.number != tensor_field::kDataLocation && field.number != tensor_field::kExternalData) {
      kept += field.whole.size();
    }
  }
  std::optional<Replacement> replaced;
  if (external) {
    onnx::TensorProto tensor;
    if (!tensor.ParseFromArray(wire_.data() + range.begin, static_cast<int>(range.size())))
      return std::nullopt;
    if (const std::optional<StoredTensor> where = stored_tensor(tensor))
      replaced = replacement(tensor, *where);
    if (error_) return std::nullopt;
  }
  const std::uint64_t size =
      replaced ? kept + replaced->head.size() + replaced->payload.size() : range.size();
  replacements_.push_back(std::move(replaced));
  return size;
}

std::optional<std::uint64_t> SkeletonWriter::measure_reference(const FieldReference& reference) {
  const auto bytes = referenced_bytes(store_, reference);
  if (!bytes) return std::nullopt;
  Replacement whole{reference.number, {}, *bytes};
  append_tag(whole.head, reference.number, WireType::kLength);
  append_varint(whole.head, bytes->size());
  replacements_.push_back(std::move(whole));
  return field_size(reference.number, bytes->size());
}

std::optional<std::uint64_t> SkeletonWriter::measure_field(MessageKind kind, const WireField& field,
                                                           int depth) {
  if (const auto reference = field_reference(wire_, field)) return measure_reference(*reference);
  const FieldRule rule = field_rule(kind, field.number);
  if (!may_hold_tensors(rule.child)) return field.whole.size();
  const std::size_t slot = sizes_.size();
  sizes_.push_back(0);
  const std::optional<std::uint64_t> child = measure(rule.child, field.payload, depth + 1);
  if (!child) return std::nullopt;
  sizes_[slot] = *child;
  return field_size(field.number, *child);
}

std::optional<std::uint64_t> SkeletonWriter::measure(MessageKind kind, ByteRange range, int depth) {
  if (kind == MessageKind::kTensor) return measure_tensor(range);
  if (depth > kMaxMessageDepth) return std::nullopt;
  std::uint64_t size = 0;
  WireReader reader(wire_, range);
  WireField field;
  while (reader.next(field)) {
    const std::optional<std::uint64_t> bytes = measure_field(kind, field, depth);
    if (!bytes) return std::nullopt;
    size += *bytes;
  }
  return reader.fault() == WireFault::kSound ? std::optional(size) : std::nullopt;
}

void SkeletonWriter::emit_replacement(const Replacement& replacement) {
  pending_.insert(pending_.end(), replacement.head.begin(), replacement.head.end());
  if (replacement.payload.size() <= kCopyLimitBytes) {
    pending_.insert(pending_.end(), replacement.payload.begin(), replacement.payload.end());
    return;
  }
  flush();
  written_.model.append_view(replacement.payload);
}

void SkeletonWriter::emit_tensor(ByteRange range) {
  const std::optional<Replacement>& replaced = replacements_[next_replacement_++];
  if (!replaced) {
    copy(range);
    return;
  }
  bool placed = false;
  WireReader reader(wire_, range);
  WireField field;
  while (reader.next(field)) {
    if (!placed && field.number > replaced->number) {
      emit_replacement(*replaced);
      placed = true;
    }
    if (field.number != tensor_field::kDataLocation && field.number != tensor_field::kExternalData)
      copy(field.whole);
  }
  if (!placed) emit_replacement(*replaced);
}

void SkeletonWriter::emit(MessageKind kind, ByteRange range) {
  if (kind == MessageKind::kTensor) {
    emit_tensor(range);
    return;
  }
  WireReader reader(wire_, range);
  WireField field;
  while (reader.next(field)) {
    const FieldRule rule = field_rule(kind, field.number);
    if (field_reference(wire_, field)) {
      emit_replacement(*replacements_[next_replacement_++]);
      continue;
    }
    if (!may_hold_tensors(rule.child)) {
      copy(field.whole);
      continue;
    }
    std::string head;
    append_tag(head, field.number, WireType::kLength);
    append_varint(head, sizes_[next_size_++]);
    pending_.insert(pending_.end(), head.begin(), head.end());
    emit(rule.child, field.payload);
  }
}

Result<WrittenModel> SkeletonWriter::write() {
  const std::optional<std::uint64_t> size = measure(MessageKind::kModel, {0, wire_.size()}, 0);
  if (!size) return error_ ? std::move(*error_) : internal_fault();
  if (*size > kMaxModelBytes) {
    return Error{ErrorCode::kTooLarge,
                 "The model would have " + std::to_string(*size) + " bytes, and a .onnx file ends at 2 GiB.",
                 "", "Write it with its weights in a separate file."};
  }
  emit(MessageKind::kModel, {0, wire_.size()});
  flush();
  return std::move(written_);
}

}  // namespace

Result<WrittenModel> write_skeleton(const onnx::ModelProto& skeleton,
                                    const std::shared_ptr<const WeightStore>& store,
                                    const WriteOptions& options) try {
  std::string wire;
  if (!skeleton.SerializeToString(&wire)) return internal_fault();
  Result<WrittenModel> written = SkeletonWriter(wire, *store, options).write();
  if (!written) return written;
  written.value().model.keep_alive(store);
  written.value().external_data.keep_alive(store);
  return written;
} catch (const std::bad_alloc&) {
  return Error{ErrorCode::kOutOfMemory, "There is not enough memory to write the model.", "", ""};
}

}  // namespace halftone
