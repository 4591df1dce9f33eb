// What a model may say about an encoded value, beyond what can be read: rules of struct types, payloads and
// external data, and the affine layout, which this codec keeps but doesn't decode.
//
// Source: onnx-light, onnx_verify_encoded_value.cc (format v1). All errors are kInvalidGraph but where said;
// words in double quotes are parts of messages.
// Threading: pure functions. Cost: the types, not the payload.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "halftone/encoded_value.h"

namespace halftone {

// A type that stands in a model outside of its catalogue (or, `declared`, inside): references have only the
// number of a type that is there; only a declared root has a number of its own; bit packings have components;
// constants are written inline, with as many elements as their dims say; sizes are fixed. Returns the bits of
// one record.
// Errors: also those of struct_bits.
Result<std::uint64_t> check_struct_type(const StructType& type, const StructCatalogue& catalogue,
                                        bool declared = false);

// Everything about a value that doesn't need its model's names. `loaded_bytes` is the size of an external
// payload, if it is known.
// Errors: no layout; no logical type; a struct type's record that isn't a whole number of bytes, or empty;
// a payload that isn't a whole number of records ("truncated", code kTruncated); raw_data beside external
// data, external data without EXTERNAL, EXTERNAL without a safe relative location and a numeric length,
// offsets that aren't numbers; those of check_affine_layout.
Result<void> check_encoded_value(const EncodedValue& value, const StructCatalogue& catalogue = {},
                                 std::optional<std::uint64_t> loaded_bytes = std::nullopt);

// An AffineLayoutProto for a tensor of type `logical`: storage_type int8, uint8, int4, uint4, int2 or uint2;
// a floating scale that is a scalar, or has one value per index of `axis`, or one per block of block_size
// along it; a zero point of the storage type and the scale's shape, or none; a payload of exactly the packed
// codes. Unused bits of the last byte are 0 (looked at where `payload` is given).
Result<void> check_affine_layout(const AffineLayout& layout, const TensorType& logical,
                                 std::optional<std::span<const std::uint8_t>> payload,
                                 std::optional<std::uint64_t> payload_bytes);

}  // namespace halftone
