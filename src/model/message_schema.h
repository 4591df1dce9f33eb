// The shape of the ONNX messages (onnx-ml.proto) as far as a walk over their wire bytes needs it: which field
// numbers exist, how their values are encoded, and which ones are messages that may hold tensors. Fields that
// are not listed are unknown and kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/wire.h"

namespace halftone {

enum class MessageKind : std::uint8_t {
  kNotMessage,
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kTrainingInfo,
  kFunction,
  kValueInfo,
  kType,
  kTensorType,   // also the type of a sparse tensor
  kElementType,  // of a sequence or an optional
  kMapType,
  kOpaqueType,
  kShape,
  kDimension,
  kSegment,
  kOperatorSet,
  kAnnotation,
  kEntry,  // a key and a value, both strings
};

enum class FieldForm : std::uint8_t {
  kUnknown,   // any wire type
  kMessage,   // length-delimited
  kText,      // string or bytes, length-delimited
  kVarint,    // one number
  kVarints,   // repeated numbers, packed or not
  kFixed32,   // one float
  kFixed32s,  // repeated floats, packed or not
  kFixed64s,  // repeated doubles, packed or not
};

struct FieldRule {
  std::uint32_t number = 0;
  FieldForm form = FieldForm::kUnknown;
  MessageKind child = MessageKind::kNotMessage;
  // A message field that protobuf would merge if it came twice, with tensors inside: merged data can't stay
  // where it lies, so a second one is refused. No writer makes one.
  bool once = false;
};

// A rule with form kUnknown where the message has no such field.
FieldRule field_rule(MessageKind kind, std::uint32_t number);
// Whether a value of this wire type can be a value of a field of this form.
bool fits_form(FieldForm form, WireType type);
// True for messages in which a tensor can sit, at any depth.
bool may_hold_tensors(MessageKind kind);
// For messages to people: "graph", "node", "tensor".
std::string_view message_name(MessageKind kind);

// Field numbers that the reader and the writer name.
namespace tensor_field {
inline constexpr std::uint32_t kDims = 1;
inline constexpr std::uint32_t kDataType = 2;
inline constexpr std::uint32_t kSegment = 3;
inline constexpr std::uint32_t kFloatData = 4;
inline constexpr std::uint32_t kInt32Data = 5;
inline constexpr std::uint32_t kStringData = 6;
inline constexpr std::uint32_t kInt64Data = 7;
inline constexpr std::uint32_t kName = 8;
inline constexpr std::uint32_t kRawData = 9;
inline constexpr std::uint32_t kDoubleData = 10;
inline constexpr std::uint32_t kUint64Data = 11;
inline constexpr std::uint32_t kExternalData = 13;
inline constexpr std::uint32_t kDataLocation = 14;
}  // namespace tensor_field
inline constexpr std::uint32_t kEntryKey = 1;
inline constexpr std::uint32_t kEntryValue = 2;
inline constexpr std::uint32_t kModelIrVersion = 1;
inline constexpr std::uint64_t kExternalLocation = 1;  // TensorProto.DataLocation.EXTERNAL

}  // namespace halftone
