#include "model/message_schema.h"

#include <array>
#include <span>

namespace halftone {
namespace {

using enum FieldForm;
using enum MessageKind;

constexpr std::array kModelFields = {
    FieldRule{1, kVarint},
    FieldRule{2, kText},
    FieldRule{3, kText},
    FieldRule{4, kText},
    FieldRule{5, kVarint},
    FieldRule{6, kText},
    FieldRule{7, kMessage, kGraph, true},
    FieldRule{8, kMessage, kOperatorSet},
    FieldRule{14, kMessage, kEntry},
    FieldRule{20, kMessage, kTrainingInfo},
    FieldRule{25, kMessage, kFunction},
};
constexpr std::array kGraphFields = {
    FieldRule{1, kMessage, kNode},          FieldRule{2, kText},
    FieldRule{5, kMessage, kTensor},        FieldRule{10, kText},
    FieldRule{11, kMessage, kValueInfo},    FieldRule{12, kMessage, kValueInfo},
    FieldRule{13, kMessage, kValueInfo},    FieldRule{14, kMessage, kAnnotation},
    FieldRule{15, kMessage, kSparseTensor}, FieldRule{16, kMessage, kEntry},
};
constexpr std::array kNodeFields = {
    FieldRule{1, kText},
    FieldRule{2, kText},
    FieldRule{3, kText},
    FieldRule{4, kText},
    FieldRule{5, kMessage, kAttribute},
    FieldRule{6, kText},
    FieldRule{7, kText},
    FieldRule{8, kText},
    FieldRule{9, kMessage, kEntry},
};
constexpr std::array kAttributeFields = {
    FieldRule{1, kText},
    FieldRule{2, kFixed32},
    FieldRule{3, kVarint},
    FieldRule{4, kText},
    FieldRule{5, kMessage, kTensor, true},
    FieldRule{6, kMessage, kGraph, true},
    FieldRule{7, kFixed32s},
    FieldRule{8, kVarints},
    FieldRule{9, kText},
    FieldRule{10, kMessage, kTensor},
    FieldRule{11, kMessage, kGraph},
    FieldRule{13, kText},
    FieldRule{14, kMessage, kType},
    FieldRule{15, kMessage, kType},
    FieldRule{20, kVarint},
    FieldRule{21, kText},
    FieldRule{22, kMessage, kSparseTensor, true},
    FieldRule{23, kMessage, kSparseTensor},
};
constexpr std::array kTensorFields = {
    FieldRule{tensor_field::kDims, kVarints},
    FieldRule{tensor_field::kDataType, kVarint},
    FieldRule{tensor_field::kSegment, kMessage, MessageKind::kSegment},
    FieldRule{tensor_field::kFloatData, kFixed32s},
    FieldRule{tensor_field::kInt32Data, kVarints},
    FieldRule{tensor_field::kStringData, kText},
    FieldRule{tensor_field::kInt64Data, kVarints},
    FieldRule{tensor_field::kName, kText},
    FieldRule{tensor_field::kRawData, kText},
    FieldRule{tensor_field::kDoubleData, kFixed64s},
    FieldRule{tensor_field::kUint64Data, kVarints},
    FieldRule{12, kText},
    FieldRule{tensor_field::kExternalData, kMessage, kEntry},
    FieldRule{tensor_field::kDataLocation, kVarint},
    FieldRule{16, kMessage, kEntry},
};
constexpr std::array kSparseTensorFields = {
    FieldRule{1, kMessage, kTensor, true},
    FieldRule{2, kMessage, kTensor, true},
    FieldRule{3, kVarints},
};
constexpr std::array kTrainingInfoFields = {
    FieldRule{1, kMessage, kGraph, true},
    FieldRule{2, kMessage, kGraph, true},
    FieldRule{3, kMessage, kEntry},
    FieldRule{4, kMessage, kEntry},
};
constexpr std::array kFunctionFields = {
    FieldRule{1, kText},
    FieldRule{4, kText},
    FieldRule{5, kText},
    FieldRule{6, kText},
    FieldRule{7, kMessage, kNode},
    FieldRule{8, kText},
    FieldRule{9, kMessage, kOperatorSet},
    FieldRule{10, kText},
    FieldRule{11, kMessage, kAttribute},
    FieldRule{12, kMessage, kValueInfo},
    FieldRule{13, kText},
    FieldRule{14, kMessage, kEntry},
};
constexpr std::array kValueInfoFields = {FieldRule{1, kText}, FieldRule{2, kMessage, kType},
                                         FieldRule{3, kText}, FieldRule{4, kMessage, kEntry}};
constexpr std::array kTypeFields = {
    FieldRule{1, kMessage, kTensorType},  FieldRule{4, kMessage, kElementType},
    FieldRule{5, kMessage, kMapType},     FieldRule{6, kText},
    FieldRule{7, kMessage, kOpaqueType},  FieldRule{8, kMessage, kTensorType},
    FieldRule{9, kMessage, kElementType},
};
constexpr std::array kTensorTypeFields = {FieldRule{1, kVarint}, FieldRule{2, kMessage, kShape}};
constexpr std::array kElementTypeFields = {FieldRule{1, kMessage, kType}};
constexpr std::array kMapTypeFields = {FieldRule{1, kVarint}, FieldRule{2, kMessage, kType}};
constexpr std::array kOpaqueTypeFields = {FieldRule{1, kText}, FieldRule{2, kText}};
constexpr std::array kShapeFields = {FieldRule{1, kMessage, kDimension}};
constexpr std::array kDimensionFields = {FieldRule{1, kVarint}, FieldRule{2, kText}, FieldRule{3, kText}};
constexpr std::array kSegmentFields = {FieldRule{1, kVarint}, FieldRule{2, kVarint}};
constexpr std::array kOperatorSetFields = {FieldRule{1, kText}, FieldRule{2, kVarint}};
constexpr std::array kAnnotationFields = {FieldRule{1, kText}, FieldRule{2, kMessage, kEntry}};
constexpr std::array kEntryFields = {FieldRule{kEntryKey, kText}, FieldRule{kEntryValue, kText}};

struct MessageRule {
  MessageKind kind;
  std::string_view name;
  std::span<const FieldRule> fields;
  bool tensors;
};

// Indexed by MessageKind.
constexpr std::array<MessageRule, 21> kMessages = {{
    {kNotMessage, "value", {}, false},
    {kModel, "model", kModelFields, true},
    {kGraph, "graph", kGraphFields, true},
    {kNode, "node", kNodeFields, true},
    {kAttribute, "attribute", kAttributeFields, true},
    {kTensor, "tensor", kTensorFields, true},
    {kSparseTensor, "sparse tensor", kSparseTensorFields, true},
    {kTrainingInfo, "training info", kTrainingInfoFields, true},
    {kFunction, "function", kFunctionFields, true},
    {kValueInfo, "value info", kValueInfoFields, false},
    {kType, "type", kTypeFields, false},
    {kTensorType, "tensor type", kTensorTypeFields, false},
    {kElementType, "element type", kElementTypeFields, false},
    {kMapType, "map type", kMapTypeFields, false},
    {kOpaqueType, "opaque type", kOpaqueTypeFields, false},
    {kShape, "shape", kShapeFields, false},
    {kDimension, "dimension", kDimensionFields, false},
    {MessageKind::kSegment, "segment", kSegmentFields, false},
    {kOperatorSet, "operator set", kOperatorSetFields, false},
    {kAnnotation, "annotation", kAnnotationFields, false},
    {kEntry, "entry", kEntryFields, false},
}};

consteval bool indexed_by_kind() {
  for (std::size_t i = 0; i < kMessages.size(); ++i) {
    if (static_cast<std::size_t>(kMessages[i].kind) != i) return false;
  }
  return true;
}
static_assert(indexed_by_kind());

const MessageRule& message_rule(MessageKind kind) { return kMessages[static_cast<std::size_t>(kind)]; }

}  // namespace

FieldRule field_rule(MessageKind kind, std::uint32_t number) {
  for (const FieldRule& rule : message_rule(kind).fields) {
    if (rule.number == number) return rule;
  }
  return {};
}

bool fits_form(FieldForm form, WireType type) {
  switch (form) {
    case FieldForm::kUnknown:
      return true;
    case FieldForm::kMessage:
    case FieldForm::kText:
      return type == WireType::kLength;
    case FieldForm::kVarint:
      return type == WireType::kVarint;
    case FieldForm::kVarints:
      return type == WireType::kVarint || type == WireType::kLength;
    case FieldForm::kFixed32:
      return type == WireType::kFixed32;
    case FieldForm::kFixed32s:
      return type == WireType::kFixed32 || type == WireType::kLength;
    case FieldForm::kFixed64s:
      return type == WireType::kFixed64 || type == WireType::kLength;
  }
  return false;
}

bool may_hold_tensors(MessageKind kind) { return message_rule(kind).tensors; }

std::string_view message_name(MessageKind kind) { return message_rule(kind).name; }

}  // namespace halftone
