#include "halftone/encoded_value_check.h"

#include <algorithm>
#include <string>

#include "model/external_location.h"

namespace halftone {
namespace {

Error wrong(const std::string& what) {
  return {ErrorCode::kInvalidGraph, what, "", "Check what wrote the encoded value."};
}

// Of trees that were read, so no deeper than kMaxStructDepth.
class TypeWalk {
 public:
  Result<void> check(const StructType& type, bool may_have_id) {
    if (type.type_id && !may_have_id) {
      return wrong("A struct type outside of the model's catalogue has a number of its own.");
    }
    if (std::holds_alternative<TypeReference>(type.kind)) return check_reference(type);
    if (const auto* array = std::get_if<StructArray>(&type.kind)) return check(array->element);
    if (const auto* packing = std::get_if<BitPacking>(&type.kind)) return check(*packing);
    const auto* structure = std::get_if<Structure>(&type.kind);
    return structure == nullptr ? Result<void>() : check(*structure);
  }

 private:
  static Result<void> check_reference(const StructType& type) {
    const bool bare = !type.name && !type.doc_string && !type.decoder && !type.encoder && !type.type_id &&
                      type.metadata_props.empty();
    if (bare) return {};
    return wrong("A reference to a struct type has more than the type's number.");
  }

  Result<void> check(const ElementType& element) {
    const auto* inner = std::get_if<std::vector<StructType>>(&element.value);
    return inner == nullptr ? Result<void>() : check(inner->front(), false);
  }

  Result<void> check(const Structure& structure) {
    for (const StructField& field : structure.fields) {
      const auto* element = std::get_if<ElementType>(&field.content);
      const Result<void> sound =
          element != nullptr ? check(*element) : check(std::get<StructConstant>(field.content));
      if (!sound) return sound;
    }
    return {};
  }

  static Result<void> check(const StructConstant& constant) {
    const std::optional<std::uint64_t> count = element_count(constant.dims);
    // Data in other fields has types of its own; what matters is that codecs know only integers.
    const bool fits = count && (constant.int64_data.empty() ? *count == 0 || !constant.other_fields.empty()
                                                            : *count == constant.int64_data.size());
    if (fits) return {};
    return wrong("A constant of a struct type hasn't as many elements as its dims say.");
  }

  static Result<void> check(const BitPacking& packing) {
    if (!packing.components.empty()) return {};
    return wrong("A bit packing of a struct type has no components.");
  }
};

bool is_number(const std::string& text) {
  constexpr std::size_t kDigits = 19;
  return !text.empty() && text.size() <= kDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Precondition: is_number(text).
std::uint64_t decimal(const std::string& text) {
  std::uint64_t value = 0;
  for (const char c : text) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

const std::string* entry(const EncodedValue& value, std::string_view key) {
  const auto found = std::find_if(value.external_data.begin(), value.external_data.end(),
                                  [key](const auto& pair) { return pair.first == key; });
  return found == value.external_data.end() ? nullptr : &found->second;
}

// The payload's size, if it is known from here.
Result<std::optional<std::uint64_t>> payload_bytes(const EncodedValue& value,
                                                   std::optional<std::uint64_t> loaded_bytes) {
  constexpr std::int32_t kExternal = 1;
  const bool external = value.data_location == kExternal;
  if (value.data_location && *value.data_location != 0 && !external) {
    return wrong("An encoded value has a data location that doesn't exist.");
  }
  if (!external) {
    if (!value.external_data.empty()) return wrong("An encoded value has external data, but isn't EXTERNAL.");
    return std::optional<std::uint64_t>(value.payload ? value.payload->size() : 0);
  }
  if (value.payload) return wrong("An encoded value has raw_data beside its external data.");
  const std::string* location = entry(value, "location");
  const Result<std::string> safe = normal_location(location == nullptr ? std::string_view() : *location);
  if (!safe) return safe.error();
  const std::string* length = entry(value, "length");
  if (length == nullptr || !is_number(*length)) {
    return wrong("The external data of an encoded value has no numeric length.");
  }
  if (const std::string* offset = entry(value, "offset"); offset != nullptr && !is_number(*offset)) {
    return wrong("The external data of an encoded value has an offset that is no number.");
  }
  const std::uint64_t bytes = decimal(*length);
  if (loaded_bytes && *loaded_bytes != bytes) {
    return Error{ErrorCode::kTruncated,
                 "The external data of an encoded value is truncated: it isn't as long as it says.", "",
                 "Check the file beside the model."};
  }
  return std::optional<std::uint64_t>(bytes);
}

Result<void> check_records(std::uint64_t bits, std::uint64_t bytes) {
  if (bits == 0 || bits % 8 != 0) {
    return wrong("A record of an encoded value isn't a whole number of bytes.");
  }
  const std::uint64_t record = bits / 8;
  if (bytes != 0 && bytes % record == 0) return {};
  return Error{ErrorCode::kTruncated,
               "The payload of an encoded value is truncated: " + std::to_string(bytes) +
                   " bytes are no whole number of records of " + std::to_string(record) + ".",
               "", "Check what wrote the encoded value."};
}

}  // namespace

Result<std::uint64_t> check_struct_type(const StructType& type, const StructCatalogue& catalogue,
                                        bool declared) {
  const Result<void> sound = TypeWalk().check(type, declared);
  if (!sound) return sound.error();
  return struct_bits(type, catalogue);
}

Result<void> check_encoded_value(const EncodedValue& value, const StructCatalogue& catalogue,
                                 std::optional<std::uint64_t> loaded_bytes) {
  if (!value.logical_type) return wrong("An encoded value doesn't say what tensor it stands for.");
  const Result<std::optional<std::uint64_t>> bytes = payload_bytes(value, loaded_bytes);
  if (!bytes) return bytes.error();
  if (const auto* affine = std::get_if<AffineLayout>(&value.layout)) {
    const std::optional<std::span<const std::uint8_t>> payload =
        value.payload ? std::optional(value.payload->bytes()) : std::nullopt;
    return check_affine_layout(*affine, *value.logical_type, payload, bytes.value());
  }
  const auto* type = std::get_if<StructType>(&value.layout);
  if (type == nullptr) return wrong("An encoded value has no layout.");
  const Result<std::uint64_t> bits = check_struct_type(*type, catalogue);
  if (!bits) return bits.error();
  return check_records(bits.value(), bytes.value().value_or(0));
}

}  // namespace halftone
