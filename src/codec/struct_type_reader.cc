#include <utility>

#include "codec/struct_reading.h"
#include "halftone/struct_type.h"

namespace halftone {
namespace codec {
namespace {

Result<void> read_dim(const Message& message, std::int64_t& dim) {
  bool known = false;
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number != 1) return damaged(message.noun, "has no number", field.whole.begin);
    known = true;
    dim = static_cast<std::int64_t>(field.value);
    return single.take(field, WireType::kVarint);
  });
  if (!walked.ok()) return walked;
  if (!known || dim < 0) return damaged(message.noun, "is no number from 0 on", message.range.begin);
  return {};
}

Result<void> read_shape(const Message& message, TensorType& tensor) {
  return for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number != 1 || field.type != WireType::kLength) return message.unknown(field);
    return read_dim(message.inner(field, "dimension"), tensor.dims.emplace_back());
  });
}

Result<TensorType> read_tensor_type(const Message& message) {
  TensorType tensor;
  tensor.has_shape = false;
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number == 1) {
      tensor.type = static_cast<DataType>(static_cast<std::int32_t>(field.value));
      return single.take(field, WireType::kVarint);
    }
    if (field.number != 2) return message.unknown(field);
    if (Result<void> taken = single.take(field, WireType::kLength); !taken.ok()) return taken;
    tensor.has_shape = true;
    return read_shape(message.inner(field, "shape"), tensor);
  });
  if (!walked.ok()) return walked.error();
  return tensor;
}

// A repeated integer field, packed or not.
Result<void> read_integers(const Message& message, const WireField& field, std::vector<std::int64_t>& out) {
  if (field.type == WireType::kVarint) {
    out.push_back(static_cast<std::int64_t>(field.value));
    return {};
  }
  if (field.type != WireType::kLength) return message.unknown(field);
  std::size_t at = field.payload.begin;
  while (at < field.payload.end) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    bool more = true;
    while (more) {
      if (at == field.payload.end || shift > 63) {
        return damaged(message.noun, "has a damaged list of numbers", field.whole.begin);
      }
      const std::uint8_t byte = message.file[at++];
      value |= std::uint64_t{byte & 0x7FU} << shift;
      shift += 7;
      more = (byte & 0x80U) != 0;
    }
    out.push_back(static_cast<std::int64_t>(value));
  }
  return {};
}

Result<StructConstant> read_constant(const Message& message) {
  StructConstant constant;
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number == 1) return read_integers(message, field, constant.dims);
    if (field.number == 7) return read_integers(message, field, constant.int64_data);
    if (field.number == 2) {
      constant.type = static_cast<DataType>(static_cast<std::int32_t>(field.value));
      return single.take(field, WireType::kVarint);
    }
    const auto whole = message.file.subspan(field.whole.begin, field.whole.size());
    constant.other_fields.append(whole.begin(), whole.end());
    return {};
  });
  if (!walked.ok()) return walked.error();
  return constant;
}

Result<StructField> read_field(const Message& message, std::size_t depth) {
  StructField result;
  bool filled = false;
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number == 0 || field.number > 4) return message.unknown(field);
    if (Result<void> taken = single.take(field, WireType::kLength); !taken.ok()) return taken;
    if (field.number == 1) result.name = field_text(message, field);
    if (field.number == 3) result.doc_string = field_text(message, field);
    if (field.number % 2 == 1) return {};
    if (std::exchange(filled, true)) {
      return damaged(message.noun, "has a type and a constant", field.whole.begin);
    }
    if (field.number == 2) {
      Result<ElementType> type = read_element_type(message.inner(field, "type"), depth);
      if (!type.ok()) return type.error();
      result.content = std::move(type).value();
      return {};
    }
    Result<StructConstant> constant = read_constant(message.inner(field, "constant"));
    if (!constant.ok()) return constant.error();
    result.content = std::move(constant).value();
    return {};
  });
  if (!walked.ok()) return walked.error();
  if (!filled || !result.name || result.name->empty()) {
    return damaged(message.noun, filled ? "has no name" : "has neither a type nor a constant",
                   message.range.begin);
  }
  return result;
}

Result<StructArray> read_array(const Message& message, std::size_t depth) {
  StructArray array;
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number == 2) {
      array.dimension = field.value;
      return single.take(field, WireType::kVarint);
    }
    if (field.number != 1) return message.unknown(field);
    if (Result<void> taken = single.take(field, WireType::kLength); !taken.ok()) return taken;
    Result<ElementType> element = read_element_type(message.inner(field, "type"), depth);
    if (!element.ok()) return element.error();
    array.element = std::move(element).value();
    return {};
  });
  if (!walked.ok()) return walked.error();
  return array;
}

Result<Structure> read_structure(const Message& message, std::size_t depth) {
  Structure structure;
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number != 1 || field.type != WireType::kLength) return message.unknown(field);
    Result<StructField> inner = read_field(message.inner(field, "field of a structure"), depth);
    if (!inner.ok()) return inner.error();
    structure.fields.push_back(std::move(inner).value());
    return {};
  });
  if (!walked.ok()) return walked.error();
  return structure;
}

Result<BitComponent> read_component(const Message& message) {
  BitComponent component;
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number == 1) {
      component.name = field_text(message, field);
      return single.take(field, WireType::kLength);
    }
    if (field.number != 2) return message.unknown(field);
    component.bit_width = static_cast<std::uint32_t>(field.value < 65 ? field.value : 65);
    return single.take(field, WireType::kVarint);
  });
  if (!walked.ok()) return walked.error();
  if (component.bit_width == 0 || component.bit_width > 64) {
    return damaged(message.noun, "has no width from 1 to 64 bits", message.range.begin);
  }
  return component;
}

Result<BitPacking> read_bit_packing(const Message& message) {
  BitPacking packing;
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number == 2) {
      packing.dimension = field.value;
      return single.take(field, WireType::kVarint);
    }
    if (field.number != 1 || field.type != WireType::kLength) return message.unknown(field);
    Result<BitComponent> component = read_component(message.inner(field, "component of packed bits"));
    if (!component.ok()) return component.error();
    packing.components.push_back(std::move(component).value());
    return {};
  });
  if (!walked.ok()) return walked.error();
  return packing;
}

template <typename Part>
Result<void> take_kind(Result<Part> part, StructType& type) {
  if (!part.ok()) return part.error();
  type.kind = std::move(part).value();
  return {};
}

Result<void> read_kind(const Message& message, const WireField& field, std::size_t depth, StructType& type) {
  if (type.kind.index() != 0) return damaged(message.noun, "is of two kinds", field.whole.begin);
  switch (field.number) {
    case 1:
      return take_kind(read_array(message.inner(field, "array"), depth), type);
    case 2:
      return take_kind(read_structure(message.inner(field, "structure"), depth), type);
    case 3:
      return take_kind(read_bit_packing(message.inner(field, "bit packing")), type);
    default:
      type.kind = TypeReference{field.value};
      return {};
  }
}

// Decoder, encoder, name and documentation.
void read_text(const Message& message, const WireField& field, StructType& type) {
  std::optional<std::string>* const texts[] = {&type.decoder, &type.encoder, &type.name, &type.doc_string};
  *texts[field.number - 5] = field_text(message, field);
}

}  // namespace

Result<ElementType> read_element_type(const Message& message, std::size_t depth) {
  ElementType type;
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if ((field.number != 1 && field.number != 1000) || field.type != WireType::kLength) {
      return damaged(message.noun, "is neither a tensor nor a struct type", field.whole.begin);
    }
    if (type.value.index() != 0) return damaged(message.noun, "is of two kinds", field.whole.begin);
    if (field.number == 1) {
      Result<TensorType> tensor = read_tensor_type(message.inner(field, "tensor type"));
      if (!tensor.ok()) return tensor.error();
      type.value = std::move(tensor).value();
      return {};
    }
    Result<StructType> inner = read_struct(message.inner(field, "struct type"), depth);
    if (!inner.ok()) return inner.error();
    type.value.emplace<std::vector<StructType>>().push_back(std::move(inner).value());
    return {};
  });
  if (!walked.ok()) return walked.error();
  return type;
}

Result<StructType> read_struct(const Message& message, std::size_t depth) {
  if (depth >= kMaxStructDepth) {
    return Error{
        ErrorCode::kTooLarge, "Struct types nest deeper than " + std::to_string(kMaxStructDepth) + " levels.",
        byte_offset(message.range.begin), "Check where the file is from; no layout needs that many."};
  }
  StructType type;
  SingleFields single(message);
  Result<void> walked = for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number == 0 || field.number > 10) return message.unknown(field);
    const bool is_number = field.number == 4 || field.number == 10;
    const WireType wire = is_number ? WireType::kVarint : WireType::kLength;
    if (field.number == 9) {
      type.metadata_props.push_back(field_text(message, field));
      return single.check_type(field, wire);
    }
    if (Result<void> taken = single.take(field, wire); !taken.ok()) return taken;
    if (field.number <= 4) return read_kind(message, field, depth + 1, type);
    if (field.number == 10) type.type_id = field.value;
    if (field.number >= 5 && field.number <= 8) read_text(message, field, type);
    return {};
  });
  if (!walked.ok()) return walked.error();
  return type;
}

}  // namespace codec

Result<StructType> read_struct_type(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > codec::kMaxStructBytes) {
    return Error{ErrorCode::kTooLarge,
                 "A struct type has " + std::to_string(bytes.size()) + " bytes; " +
                     std::to_string(codec::kMaxStructBytes) + " is the most that is read.",
                 "", "Use fewer, longer runs of blocks."};
  }
  return codec::read_struct({bytes, {0, bytes.size()}, "struct type"}, 0);
}

}  // namespace halftone
