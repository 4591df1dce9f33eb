#include "codec/struct_writing.h"
#include "halftone/struct_type.h"
#include "model/wire.h"

namespace halftone {
namespace codec {
namespace {

void append_number(std::string& out, std::uint32_t number, std::uint64_t value) {
  append_tag(out, number, WireType::kVarint);
  append_varint(out, value);
}

// A negative int32 is written as its 64 bits.
std::uint64_t type_number(DataType type) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(type)});
}

std::string write_element_type(const ElementType& type) {
  if (const auto* tensor = std::get_if<TensorType>(&type.value)) return write_tensor_type(*tensor);
  std::string out;
  if (const auto* inner = std::get_if<std::vector<StructType>>(&type.value);
      inner != nullptr && !inner->empty()) {
    append_text_field(out, 1000, write_struct_type(inner->front()));
  }
  return out;
}

std::string write_constant(const StructConstant& constant) {
  std::string out;
  for (const std::int64_t dim : constant.dims) append_number(out, 1, static_cast<std::uint64_t>(dim));
  append_number(out, 2, type_number(constant.type));
  if (!constant.int64_data.empty()) {
    std::string packed;
    for (const std::int64_t value : constant.int64_data)
      append_varint(packed, static_cast<std::uint64_t>(value));
    append_text_field(out, 7, packed);
  }
  return out + constant.other_fields;
}

std::string write_field(const StructField& field) {
  std::string out;
  if (field.name) append_text_field(out, 1, *field.name);
  const auto* type = std::get_if<ElementType>(&field.content);
  if (type != nullptr) append_text_field(out, 2, write_element_type(*type));
  if (field.doc_string) append_text_field(out, 3, *field.doc_string);
  if (const auto* constant = std::get_if<StructConstant>(&field.content)) {
    append_text_field(out, 4, write_constant(*constant));
  }
  return out;
}

std::string write_array(const StructArray& array) {
  std::string out;
  append_text_field(out, 1, write_element_type(array.element));
  append_number(out, 2, array.dimension);
  return out;
}

std::string write_structure(const Structure& structure) {
  std::string out;
  for (const StructField& field : structure.fields) append_text_field(out, 1, write_field(field));
  return out;
}

std::string write_bit_packing(const BitPacking& packing) {
  std::string out;
  for (const BitComponent& component : packing.components) {
    std::string inner;
    append_text_field(inner, 1, component.name);
    append_number(inner, 2, component.bit_width);
    append_text_field(out, 1, inner);
  }
  append_number(out, 2, packing.dimension);
  return out;
}

void append_kind(std::string& out, const StructType& type) {
  if (const auto* array = std::get_if<StructArray>(&type.kind))
    append_text_field(out, 1, write_array(*array));
  if (const auto* structure = std::get_if<Structure>(&type.kind)) {
    append_text_field(out, 2, write_structure(*structure));
  }
  if (const auto* packing = std::get_if<BitPacking>(&type.kind)) {
    append_text_field(out, 3, write_bit_packing(*packing));
  }
  if (const auto* reference = std::get_if<TypeReference>(&type.kind)) append_number(out, 4, reference->id);
}

}  // namespace

std::string write_tensor_type(const TensorType& tensor) {
  std::string inner;
  append_number(inner, 1, type_number(tensor.type));
  if (tensor.has_shape) {
    std::string shape;
    for (const std::int64_t dim : tensor.dims) {
      std::string value;
      append_number(value, 1, static_cast<std::uint64_t>(dim));
      append_text_field(shape, 1, value);
    }
    append_text_field(inner, 2, shape);
  }
  std::string out;
  append_text_field(out, 1, inner);
  return out;
}

}  // namespace codec

std::string write_struct_type(const StructType& type) {
  std::string out;
  codec::append_kind(out, type);
  if (type.decoder) append_text_field(out, 5, *type.decoder);
  if (type.encoder) append_text_field(out, 6, *type.encoder);
  if (type.name) append_text_field(out, 7, *type.name);
  if (type.doc_string) append_text_field(out, 8, *type.doc_string);
  for (const std::string& entry : type.metadata_props) append_text_field(out, 9, entry);
  if (type.type_id) codec::append_number(out, 10, *type.type_id);
  return out;
}

}  // namespace halftone
