#include <cmath>
#include <new>
#include <string>
#include <utility>

#include "codec/checked_size.h"
#include "codec/element_order.h"
#include "codec/float_elements.h"
#include "codec/plan_checks.h"
#include "codec/record_runs.h"
#include "halftone/codec.h"
#include "halftone/ort_matmul_nbits.h"

namespace halftone {
namespace {

Error damaged_value(std::string what) {
  return {ErrorCode::kInvalidGraph, std::move(what), "",
          "Encode the tensor again; this value was changed or written wrongly."};
}

Error no_memory(const CodecSchema& schema) {
  return {ErrorCode::kOutOfMemory,
          "There is not enough memory for the " + std::to_string(schema.elements) + " values of a tensor.",
          "", "Decode by ranges of blocks."};
}

Result<void> check_payload(const EncodedValue& value, std::uint64_t expected) {
  if (!value.payload) return {};
  const std::uint64_t size = value.payload->size();
  if (size == expected) return {};
  const std::string numbers = std::to_string(size) + " bytes instead of " + std::to_string(expected) + ".";
  if (size > expected) return damaged_value("The payload of an encoded value has trailing bytes: " + numbers);
  return Error{ErrorCode::kTruncated, "The payload of an encoded value is truncated: " + numbers, "",
               "Download or export the file again; this copy is incomplete."};
}

Result<void> check_kind(const EncodedValue& value) {
  if (value.parameter_ref) {
    return Error{ErrorCode::kInvalidState,
                 "The encoded value keeps its numbers in the shared set " + printable(*value.parameter_ref) +
                     ": materialize it with the model's parameter_ref first.",
                 "", "Give the model that declares the set."};
  }
  if (!std::holds_alternative<StructType>(value.layout)) {
    return damaged_value("Decoding requires an EncodedValueProto with a struct type of quantization.");
  }
  if (value.payload && (value.data_location.value_or(0) == 1 || !value.external_data.empty())) {
    return damaged_value("An encoded value has both a payload and external data.");
  }
  return {};
}

Result<void> check_logical_type(const EncodedValue& value, const CodecSchema& schema) {
  const std::optional<TensorType>& type = value.logical_type;
  if (!type || !type->has_shape || !codec::is_codec_float(type->type)) {
    return damaged_value(
        "The logical type of an encoded value must be a FLOAT, DOUBLE, FLOAT16 or BFLOAT16 tensor.");
  }
  const std::optional<std::uint64_t> count = element_count(type->dims);
  if (count && *count == schema.elements) return {};
  return damaged_value("The blocks of an encoded value must cover exactly its logical shape; they have " +
                       std::to_string(schema.elements) + " elements.");
}

Result<std::vector<std::uint8_t>> decode_reordered(const CodecSchema& schema,
                                                   std::span<const std::uint8_t> payload, DataType type) {
  const Result<codec::PayloadPrefix> prefix = codec::read_prefix(schema, payload);
  if (!prefix.ok()) return prefix.error();
  std::vector<double> values(static_cast<std::size_t>(schema.elements));
  const codec::DecodeJob job{schema, DataType::kDouble, nullptr};
  Result<void> decoded = codec::decode_records(job, 0, schema.blocks, payload.data() + schema.prefix_bytes,
                                               reinterpret_cast<std::uint8_t*>(values.data()));
  if (!decoded.ok()) return decoded.error();
  values = codec::from_block_order(std::move(values), prefix.value());
  const std::size_t width = data_type_bits(type) / 8;
  std::vector<std::uint8_t> out(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = codec::rounded_float(type, values[i]);
    if (!std::isfinite(value)) {
      return Error{ErrorCode::kNonFinite,
                   "A decoded value is nonfinite: an output dtype overflow in " + data_type_name(type) + ".",
                   "element " + std::to_string(i), "Decode to a wider type."};
    }
    codec::store_float(type, value, out.data() + i * width);
  }
  return out;
}

Result<std::vector<std::uint8_t>> decode_payload(const CodecSchema& schema,
                                                 std::span<const std::uint8_t> payload, DataType type) try {
  if (!codec::fits_memory(schema.elements * sizeof(double))) return no_memory(schema);
  if (!codec::keeps_order(schema)) return decode_reordered(schema, payload, type);
  if (const Result<codec::PayloadPrefix> prefix = codec::read_prefix(schema, payload); !prefix.ok()) {
    return prefix.error();
  }
  std::vector<std::uint8_t> out(static_cast<std::size_t>(schema.elements * (data_type_bits(type) / 8)));
  const codec::DecodeJob job{schema, type, &codec::default_kernels()};
  Result<void> decoded =
      codec::decode_records(job, 0, schema.blocks, payload.data() + schema.prefix_bytes, out.data());
  if (!decoded.ok()) return decoded.error();
  return out;
} catch (const std::bad_alloc&) {
  return no_memory(schema);
}

bool is_ort(const EncodedValue& value, const StructCatalogue& catalogue) {
  const auto* type = std::get_if<StructType>(&value.layout);
  if (type == nullptr) return false;
  const Result<StructType> resolved = resolve_struct_type(*type, catalogue);
  return resolved.ok() && is_matmul_nbits(resolved.value());
}

}  // namespace

Result<CodecSchema> encoded_value_schema(const EncodedValue& value, const StructCatalogue& catalogue) {
  if (Result<void> checked = check_kind(value); !checked.ok()) return checked.error();
  const Result<StructType> type = resolve_struct_type(std::get<StructType>(value.layout), catalogue);
  if (!type.ok()) return type.error();
  Result<CodecSchema> schema = parse_codec_schema(type.value());
  if (!schema.ok()) return schema;
  const Result<void> transform =
      codec::check_needed_transform(schema.value().profile, schema.value().transform_size);
  if (!transform.ok()) return codec::as_damage(transform.error());
  if (Result<void> checked = check_logical_type(value, schema.value()); !checked.ok()) return checked.error();
  if (Result<void> checked = check_payload(value, schema.value().payload_bytes); !checked.ok()) {
    return checked.error();
  }
  return schema;
}

Result<std::vector<std::uint8_t>> decode_tensor(const EncodedValue& value, DataType type,
                                                const StructCatalogue& catalogue) {
  if (type != DataType::kUndefined && !codec::is_codec_float(type)) {
    return Error{
        ErrorCode::kUnsupportedType,
        "The output dtype must be FLOAT, DOUBLE, FLOAT16 or BFLOAT16, not " + data_type_name(type) + ".", "",
        "Choose one of these types."};
  }
  if (is_ort(value, catalogue)) return decode_matmul_nbits(value, type, catalogue);
  const Result<CodecSchema> schema = encoded_value_schema(value, catalogue);
  if (!schema.ok()) return schema.error();
  if (!value.payload) {
    return Error{ErrorCode::kInvalidState,
                 "Load external data of the encoded value first: its payload isn't here.", "",
                 "Read the file that it names."};
  }
  if (type == DataType::kUndefined) type = value.logical_type->type;
  return decode_payload(schema.value(), value.payload->bytes(), type);
}

}  // namespace halftone
