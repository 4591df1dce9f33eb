#include "model/skeleton_reader.h"

#include <array>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/extension_fields.h"
#include "model/external_location.h"
#include "model/external_reference.h"
#include "model/foreign_format.h"
#include "model/message_schema.h"
#include "model/stored_tensor.h"
#include "model/tensor_facts.h"
#include "model/wire.h"
#include "model/wire_error.h"

namespace halftone {
namespace {

// What the parsed skeleton may take in memory, estimated while walking: a small file of a billion empty nodes
// would otherwise take all there is. Half a million ordinary nodes fit. The sizes are those of the messages
// on 64-bit machines, so that every build refuses the same files.
constexpr std::uint64_t kSkeletonBudget = std::uint64_t{1} << 30U;
constexpr std::uint64_t kStringFootprint = 40;  // with the pointer to it
constexpr std::uint64_t kSmallMessageFootprint = 112;
constexpr std::uint64_t kNodeFootprint = 168;
constexpr std::uint64_t kLargeMessageFootprint = 264;
constexpr std::size_t kLengthBytes =
    5;  // of a nested message: a varint padded to the width of any length below 2^35

std::uint64_t message_footprint(MessageKind kind) {
  switch (kind) {
    case MessageKind::kNode:
      return kNodeFootprint;
    case MessageKind::kModel:
    case MessageKind::kGraph:
    case MessageKind::kAttribute:
    case MessageKind::kTensor:
    case MessageKind::kFunction:
      return kLargeMessageFootprint;
    default:
      return kSmallMessageFootprint;
  }
}

std::uint64_t field_footprint(const FieldRule& rule, const WireField& field) {
  const std::uint64_t bytes = field.payload.size();
  switch (rule.form) {
    case FieldForm::kMessage:
      return message_footprint(rule.child);
    case FieldForm::kText:
      return kStringFootprint + bytes;
    case FieldForm::kVarints:
      return sizeof(std::int64_t) * (field.type == WireType::kLength ? bytes : 1);
    default:
      return field.whole.size();
  }
}

class SkeletonReader {
 public:
  SkeletonReader(std::span<const std::uint8_t> file, std::string_view store_path)
      : file_(file), store_path_(store_path) {}

  Result<Skeleton> read();

 private:
  enum class Emit : bool { kNo, kYes };

  bool visit(MessageKind kind, ByteRange range, int depth, Emit emit);
  bool visit_field(MessageKind kind, const FieldRule& rule, const WireField& field, int depth, Emit emit);
  bool visit_tensor(ByteRange range, int depth);
  bool refer_to(MessageKind kind, const WireField& field);
  bool check_field(MessageKind kind, const FieldRule& rule, const WireField& field);
  bool check_packed(MessageKind kind, const FieldRule& rule, const WireField& field);
  bool charge(std::uint64_t bytes, std::size_t offset);
  std::optional<StoredTensor> locate(const TensorFacts& facts, std::string_view name);
  StoredTensor register_external(StoredTensor where);
  void emit_stored_tensor(ByteRange range, const StoredTensor& where);
  void keep(ByteRange range);
  Error top_level_error(const WireReader& reader) const;
  Result<Skeleton> parse_skeleton();
  bool fail(Error error);

  std::span<const std::uint8_t> file_;
  std::string_view store_path_;
  std::string out_;  // the skeleton's wire bytes
  std::uint64_t budget_ = kSkeletonBudget;
  bool saw_model_field_ = false;  // an IR version or a graph: this is ONNX, if perhaps a damaged one
  std::optional<Error> error_;
  std::vector<ExternalFile> external_files_;
  std::unordered_map<std::string, std::size_t> external_index_;
};

bool SkeletonReader::fail(Error error) {
  error_ = std::move(error);
  return false;
}

void SkeletonReader::keep(ByteRange range) {
  const std::span<const std::uint8_t> bytes = file_.subspan(range.begin, range.size());
  out_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

bool SkeletonReader::charge(std::uint64_t bytes, std::size_t offset) {
  if (bytes > budget_) {
    return fail({ErrorCode::kTooLarge,
                 "The model's structure, without its weights, would need more than 1 GiB of memory.",
                 byte_offset(offset), "Models of this size are not supported."});
  }
  budget_ -= bytes;
  return true;
}

// Packed numbers: protobuf would refuse the whole model without saying where.
bool SkeletonReader::check_packed(MessageKind kind, const FieldRule& rule, const WireField& field) {
  const std::size_t size = field.payload.size();
  if (rule.form == FieldForm::kFixed32s && size % sizeof(float) != 0) {
    return fail(
        damaged(message_name(kind), "has a list of floats with a broken one at its end", field.whole.begin));
  }
  if (rule.form == FieldForm::kFixed64s && size % sizeof(double) != 0) {
    return fail(
        damaged(message_name(kind), "has a list of doubles with a broken one at its end", field.whole.begin));
  }
  if (rule.form != FieldForm::kVarints || size == 0) return true;
  if ((file_[field.payload.end - 1] & 0x80U) != 0) {
    return fail(damaged(message_name(kind), "has a list of integers with a broken one at its end",
                        field.whole.begin));
  }
  if (kind == MessageKind::kTensor && size > kInlineLimitBytes)
    return true;  // bulk: checked when it is decoded
  std::size_t length = 0;
  for (const std::uint8_t byte : file_.subspan(field.payload.begin, size)) {
    length = (byte & 0x80U) != 0 ? length + 1 : 0;
    if (length >= 10)
      return fail(damaged(message_name(kind), "contains a number that is too long", field.whole.begin));
  }
  return true;
}

bool SkeletonReader::check_field(MessageKind kind, const FieldRule& rule, const WireField& field) {
  if (!fits_form(rule.form, field.type)) {
    return fail(damaged(message_name(kind),
                        "has field " + std::to_string(field.number) + " with a value of the wrong kind",
                        field.whole.begin));
  }
  return field.type != WireType::kLength || check_packed(kind, rule, field);
}

bool SkeletonReader::visit(MessageKind kind, ByteRange range, int depth, Emit emit) {
  if (depth > kMaxMessageDepth) {
    return fail({ErrorCode::kTooLarge,
                 "The model nests subgraphs or types too deeply: more than " +
                     std::to_string(kMaxMessageDepth) + " levels of messages, at byte " +
                     std::to_string(range.begin) + ".",
                 byte_offset(range.begin), "Models like this are not supported."});
  }
  std::uint32_t seen_once = 0;  // field numbers below 32 that may come once
  WireReader reader(file_, range);
  WireField field;
  while (reader.next(field)) {
    const FieldRule rule = field_rule(kind, field.number);
    if (!check_field(kind, rule, field)) {
      if (kind == MessageKind::kModel && !saw_model_field_) error_ = top_level_error(reader);
      return false;
    }
    if (rule.once && ((seen_once >> field.number) & 1U) != 0) {
      return fail(damaged(message_name(kind),
                          "has two " + std::string(message_name(rule.child)) + "s where one is allowed",
                          field.whole.begin));
    }
    if (rule.once) seen_once |= 1U << field.number;
    if (!visit_field(kind, rule, field, depth, emit)) return false;
  }
  if (reader.fault() == WireFault::kSound) return true;
  return fail(kind == MessageKind::kModel ? top_level_error(reader)
                                          : wire_fault_error(reader, message_name(kind), file_.size()));
}

bool SkeletonReader::visit_field(MessageKind kind, const FieldRule& rule, const WireField& field, int depth,
                                 Emit emit) {
  if (kind == MessageKind::kModel && field.number == kModelIrVersion) saw_model_field_ = true;
  if (rule.form == FieldForm::kUnknown && emit == Emit::kYes && is_kept_in_store(kind, field))
    return refer_to(kind, field);
  if (rule.form != FieldForm::kMessage) {
    // Bulk data is charged only if it turns out to stay inside: see visit_tensor.
    const bool bulk = kind == MessageKind::kTensor && field.payload.size() > kInlineLimitBytes;
    if (!bulk && !charge(field_footprint(rule, field), field.whole.begin)) return false;
    if (emit == Emit::kYes) keep(field.whole);
    return true;
  }
  if (!charge(field_footprint(rule, field), field.whole.begin)) return false;
  if (kind == MessageKind::kModel && rule.child == MessageKind::kGraph) saw_model_field_ = true;
  if (!may_hold_tensors(rule.child) || emit == Emit::kNo) {
    if (!visit(rule.child, field.payload, depth + 1, Emit::kNo)) return false;
    if (emit == Emit::kYes) keep(field.whole);
    return true;
  }
  append_tag(out_, field.number, WireType::kLength);
  const std::size_t length_at = out_.size();
  out_.append(kLengthBytes, '\0');
  const bool visited = rule.child == MessageKind::kTensor
                           ? visit_tensor(field.payload, depth + 1)
                           : visit(rule.child, field.payload, depth + 1, Emit::kYes);
  std::uint64_t length = out_.size() - length_at - kLengthBytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i, length >>= 7U) {
    out_[length_at + i] = static_cast<char>((length & 0x7FU) | (i + 1 < kLengthBytes ? 0x80U : 0U));
  }
  return visited;
}

bool SkeletonReader::refer_to(MessageKind kind, const WireField& field) {
  FieldReference reference{field.number, store_path_, field.payload.begin, field.payload.size(), {}, {}};
  // One that can't be walked stays as it is, without a name: whoever looks at its content says what is wrong.
  if (kind == MessageKind::kGraph && field.number == kEncodedInitializerField)
    static_cast<void>(describe_encoded_initializer(file_, field.payload, reference));
  const std::size_t before = out_.size();
  append_field_reference(out_, reference);
  return charge(kStringFootprint + out_.size() - before, field.whole.begin);
}

bool SkeletonReader::visit_tensor(ByteRange range, int depth) {
  if (!visit(MessageKind::kTensor, range, depth, Emit::kNo)) return false;
  const TensorFacts facts = tensor_facts(file_, range);
  const std::span<const std::uint8_t> name_bytes = file_.subspan(facts.name.begin, facts.name.size());
  const std::string name = printable({reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size()});
  if (const Result<void> sound = check_tensor(file_, facts, name); !sound) return fail(sound.error());
  const std::optional<StoredTensor> where = locate(facts, name);
  if (error_) return false;
  if (where) {
    emit_stored_tensor(range, *where);
    return true;
  }
  // What stays inside: numbers take up to eight bytes each once they are parsed.
  std::uint64_t inside = 0;
  for (const DataField& data : facts.data) {
    const bool varints = data.number == tensor_field::kInt32Data || data.number == tensor_field::kInt64Data ||
                         data.number == tensor_field::kUint64Data;
    inside += data.bytes > kInlineLimitBytes ? data.bytes * (varints ? sizeof(std::int64_t) : 1) : 0;
  }
  if (!charge(inside, range.begin)) return false;
  keep(range);
  return true;
}

std::optional<StoredTensor> SkeletonReader::locate(const TensorFacts& facts, std::string_view name) {
  if (facts.external) {
    Result<StoredTensor> reference = external_reference(facts, name);
    if (reference) return register_external(std::move(reference).value());
    error_ = std::move(reference).error();
    return std::nullopt;
  }
  const DataField* data = facts.only_data_field();
  if (data == nullptr || data->number == tensor_field::kStringData || !data->one_piece()) return std::nullopt;
  if (data->bytes <= kInlineLimitBytes) return std::nullopt;
  return StoredTensor{std::string(store_path_), data->last.begin, data->last.size(),
                      stored_field(data->number)};
}

StoredTensor SkeletonReader::register_external(StoredTensor where) {
  const auto [place, added] = external_index_.emplace(where.path, external_files_.size());
  if (added) external_files_.push_back({where.path, 0});
  ExternalFile& file = external_files_[place->second];
  if (where.offset + where.length > file.min_bytes) file.min_bytes = where.offset + where.length;
  where.path = external_store_path(where.path);
  return where;
}

void SkeletonReader::emit_stored_tensor(ByteRange range, const StoredTensor& where) {
  WireReader reader(file_, range);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case tensor_field::kFloatData:
      case tensor_field::kInt32Data:
      case tensor_field::kStringData:
      case tensor_field::kInt64Data:
      case tensor_field::kRawData:
      case tensor_field::kDoubleData:
      case tensor_field::kUint64Data:
      case tensor_field::kExternalData:
      case tensor_field::kDataLocation:
        break;
      default:
        keep(field.whole);
    }
  }
  append_stored_tensor_fields(out_, where);
}

// A fault between the model's own fields. Before anything of a model was seen, the file isn't one.
Error SkeletonReader::top_level_error(const WireReader& reader) const {
  if (saw_model_field_) return wire_fault_error(reader, message_name(MessageKind::kModel), file_.size());
  return {ErrorCode::kNotOnnx, "This is not an ONNX model: its bytes don't begin like one.", byte_offset(0),
          "Choose a .onnx file."};
}

Result<Skeleton> SkeletonReader::parse_skeleton() {
  if (out_.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return Error{ErrorCode::kTooLarge, "The model's structure, without its weights, is larger than 2 GiB.",
                 "", ""};
  }
  Skeleton skeleton;
  if (!skeleton.model.ParseFromArray(out_.data(), static_cast<int>(out_.size()))) {
    return Error{ErrorCode::kInvalidGraph, "The model's messages can't be parsed.", "",
                 "Export the model again."};
  }
  skeleton.external_files = std::move(external_files_);
  return skeleton;
}

// What protobuf accepts but no ONNX model lacks. A file that is cut between two fields ends up here.
Result<void> check_is_model(const onnx::ModelProto& model) {
  constexpr std::int64_t kFirstIrVersionWithOpsets = 3;
  if (!model.has_graph() && model.opset_import_size() == 0 && !model.has_producer_name()) {
    return Error{ErrorCode::kNotOnnx, "This is not an ONNX model: there is no graph in it.", "",
                 "Choose a .onnx file."};
  }
  if (!model.has_graph()) {
    return Error{ErrorCode::kInvalidGraph, "The model has no graph; the file may be cut off.", "",
                 "Download or export the model again."};
  }
  if (!model.has_ir_version()) {
    return Error{ErrorCode::kInvalidGraph, "The model doesn't say its IR version; the file may be damaged.",
                 "", "Download or export the model again."};
  }
  if (model.ir_version() >= kFirstIrVersionWithOpsets && model.opset_import_size() == 0) {
    return Error{ErrorCode::kInvalidGraph, "The model names no operator set; the file may be cut off.", "",
                 "Download or export the model again."};
  }
  return {};
}

Result<Skeleton> SkeletonReader::read() {
  if (file_.empty()) {
    return Error{ErrorCode::kNotOnnx, "The file is empty.", "", "Choose a .onnx file."};
  }
  if (const auto format = foreign_format(file_)) {
    return Error{ErrorCode::kNotOnnx,
                 "This is not an ONNX model: it looks like " + std::string(*format) + ".", byte_offset(0),
                 "Export the model to ONNX first, or choose a .onnx file."};
  }
  if (!visit(MessageKind::kModel, {0, file_.size()}, 0, Emit::kYes)) return std::move(*error_);
  Result<Skeleton> skeleton = parse_skeleton();
  if (!skeleton) return skeleton;
  if (const Result<void> is_model = check_is_model(skeleton.value().model); !is_model)
    return is_model.error();
  return skeleton;
}

}  // namespace

Result<Skeleton> read_skeleton(std::span<const std::uint8_t> file, std::string_view store_path) try {
  return SkeletonReader(file, store_path).read();
} catch (const std::bad_alloc&) {
  return Error{ErrorCode::kOutOfMemory, "There is not enough memory for the model's structure.", "", ""};
}

}  // namespace halftone
