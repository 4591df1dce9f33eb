// Fields that the ONNX library doesn't know, where they may be large: they stay in the weight store, and the
// skeleton has a reference in their place.
//
// References are fields themselves, under a number that protobuf keeps for implementations, so the library
// carries them along, and copies of a skeleton stay small. The reader makes them of unknown length-delimited
// fields above kInlineLimitBytes and of the extensions below at any size; the writer puts the bytes back,
// equal to the last one. A file's own field of that number becomes a reference, too, so that none can be
// forged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/result.h"
#include "model/message_schema.h"
#include "model/onnx_messages.h"
#include "model/weight_store.h"
#include "model/wire.h"

namespace halftone {

inline constexpr std::uint32_t kReferenceField = 19500;
// onnx-light's extensions.
inline constexpr std::uint32_t kStructTypeField = 1000;          // of a model
inline constexpr std::uint32_t kEncodedInitializerField = 1000;  // of a graph

struct FieldReference {
  std::uint32_t number = 0;  // the field's own
  std::string_view path;     // in the store
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  // Of an encoded initializer; views into the skeleton or the message.
  std::string_view name;
  std::string_view logical_type;  // a TypeProto; empty if there is none, or a large one
};

// Whether the reader puts a reference in the place of this field.
bool is_kept_in_store(MessageKind kind, const WireField& field);
// Fills name and logical type from the message in `range` of `file`.
// Errors: kTruncated, kInvalidGraph for a message whose fields can't be walked; then it has neither.
Result<void> describe_encoded_initializer(std::span<const std::uint8_t> file, ByteRange range,
                                          FieldReference& reference);
void append_field_reference(std::string& wire, const FieldReference& reference);
// nullopt for any other field.
std::optional<FieldReference> field_reference(std::span<const std::uint8_t> wire, const WireField& field);
// The bytes; nullopt if the store hasn't got them.
std::optional<std::span<const std::uint8_t>> referenced_bytes(const WeightStore& store,
                                                              const FieldReference& reference);

// References with this number among a message's unknown fields, in the order of the file.
std::vector<FieldReference> field_references(const std::string& unknown_fields, std::uint32_t number);
inline std::vector<FieldReference> encoded_initializers(const onnx::GraphProto& graph) {
  return field_references(graph.unknown_fields(), kEncodedInitializerField);
}
// Takes the encoded initializers away whose names `keep` doesn't want.
void keep_encoded_initializers(onnx::GraphProto& graph, const std::function<bool(std::string_view)>& keep);

}  // namespace halftone
