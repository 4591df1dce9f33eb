// Struct types (StructTypeProto, an extension of ONNX by onnx-light): how bytes are laid out, as a tree of
// arrays, structures, packed bits and references to a model's catalogue.
//
// Reading keeps what equality of bytes depends on: an empty string that was set, an empty message that was
// touched, a dimension of 0. Writing is canonical: fields in ascending order, numbers packed where onnx-light
// packs them. A message that has more than this header knows is refused, so nothing is lost in silence.
//
// Ownership: trees own their parts, all are values. Threading: plain data. Hostile input: nesting is limited
// to kMaxStructDepth, every length is checked, messages of more than 16 MiB are refused (a tree takes up to
// about forty times its bytes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/result.h"

namespace halftone {

inline constexpr std::size_t kMaxStructDepth = 64;

// A tensor of known size. Rank 0 with `has_shape`; without it nothing is said about the shape.
struct TensorType {
  DataType type = DataType::kUndefined;
  std::vector<std::int64_t> dims;
  bool has_shape = true;

  bool operator==(const TensorType&) const = default;
};

// A small tensor that is part of a type. Integers are kept as numbers where they were written so
// (int64_data), everything else as the bytes of its message.
struct StructConstant {
  DataType type = DataType::kUndefined;
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> int64_data;
  std::string other_fields;  // further fields of the TensorProto, in the order of the input

  bool operator==(const StructConstant&) const = default;
};

struct StructType;
struct StructField;

// TypeProto: a tensor, a struct type (held by a list of one, because types nest), or neither.
struct ElementType {
  std::variant<std::monostate, TensorType, std::vector<StructType>> value;

  bool operator==(const ElementType&) const;
};

struct StructArray {
  ElementType element;
  std::uint64_t dimension = 0;

  bool operator==(const StructArray&) const = default;
};

struct Structure {
  std::vector<StructField> fields;

  bool operator==(const Structure&) const;
};

struct BitComponent {
  std::string name;
  std::uint32_t bit_width = 0;

  bool operator==(const BitComponent&) const = default;
};

struct BitPacking {
  std::vector<BitComponent> components;
  std::uint64_t dimension = 0;

  bool operator==(const BitPacking&) const = default;
};

// The number of a type of the model's catalogue.
struct TypeReference {
  std::uint64_t id = 0;

  bool operator==(const TypeReference&) const = default;
};

struct StructType {
  std::variant<std::monostate, StructArray, Structure, BitPacking, TypeReference> kind;
  std::optional<std::string> decoder;  // bytes of a FunctionProto
  std::optional<std::string> encoder;
  std::optional<std::string> name;
  std::optional<std::string> doc_string;
  std::vector<std::string> metadata_props;  // bytes of StringStringEntryProto
  std::optional<std::uint64_t> type_id;     // in a catalogue only

  bool operator==(const StructType&) const = default;
};

// A field has a type or is a constant, which takes no space.
struct StructField {
  std::optional<std::string> name;
  std::variant<ElementType, StructConstant> content;
  std::optional<std::string> doc_string;

  bool operator==(const StructField&) const = default;
};

// Parses one StructTypeProto.
// Errors: kTruncated or kInvalidGraph with the byte; kTooLarge for nesting beyond kMaxStructDepth.
Result<StructType> read_struct_type(std::span<const std::uint8_t> bytes);

// Canonical bytes. Precondition: nesting is at most kMaxStructDepth, as it is after reading.
std::string write_struct_type(const StructType& type);

// The types that a model declares (ModelProto field 1000), by type_id.
class StructCatalogue {
 public:
  StructCatalogue() = default;

  // Errors (kInvalidGraph): a type without an id or with 0, an id twice, a reference to a type that isn't
  // there, types that contain themselves, nesting beyond kMaxStructDepth with references followed.
  static Result<StructCatalogue> make(std::vector<StructType> types);

  // nullptr if there is none.
  [[nodiscard]] const StructType* find(std::uint64_t id) const;
  [[nodiscard]] std::size_t size() const { return types_.size(); }

 private:
  std::map<std::uint64_t, StructType> types_;
};

// `type` itself, or what it refers to, without a type_id.
// Errors: kInvalidGraph for a reference to an unknown type, or one that refers to another.
Result<StructType> resolve_struct_type(const StructType& type, const StructCatalogue& catalogue);

// Bits of one record: fields without padding, constants 0, references followed.
// Errors (kInvalidGraph): names missing or twice, dimensions of 0, types without a fixed size, unknown
// references; kTooLarge beyond 2^62 bits.
Result<std::uint64_t> struct_bits(const StructType& type, const StructCatalogue& catalogue);

}  // namespace halftone
