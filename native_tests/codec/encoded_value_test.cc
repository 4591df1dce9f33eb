// Messages of encoded values and struct types: the canonical bytes, other writers' orders, and damage.
#include "halftone/encoded_value.h"

#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "codec/encoded_cases.h"
#include "model/wire.h"

namespace halftone {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using P = CodecProfile;

EncodedValue small_value() { return encoded(floats({1, -2, 3, 4, 5}), plan_of(P::kInt4, 5, 2)); }

// The fields of a message in reverse order.
Bytes reversed(const Bytes& message_bytes) {
  WireReader reader(message_bytes, {0, message_bytes.size()});
  WireField field;
  Bytes out;
  while (reader.next(field)) {
    out.insert(out.begin(), message_bytes.begin() + static_cast<std::ptrdiff_t>(field.whole.begin),
               message_bytes.begin() + static_cast<std::ptrdiff_t>(field.whole.end));
  }
  return out;
}

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

StructType read_type(const Bytes& bytes) {
  Result<StructType> type = read_struct_type(bytes);
  REQUIRE(type.ok());
  return std::move(type).value();
}

StructType tensor_structure(std::initializer_list<const char*> names) {
  Structure structure;
  for (const char* name : names) {
    structure.fields.push_back({name, ElementType{TensorType{DataType::kUint8, {3}, true}}, std::nullopt});
  }
  StructType type;
  type.kind = std::move(structure);
  return type;
}

StructType reference(std::uint64_t id) {
  StructType type;
  type.kind = TypeReference{id};
  return type;
}

StructType array_of(StructType element, std::uint64_t dimension) {
  ElementType nested;
  nested.value.emplace<std::vector<StructType>>().push_back(std::move(element));
  StructType type;
  type.kind = StructArray{std::move(nested), dimension};
  return type;
}

StructType numbered(StructType type, std::uint64_t id) {
  type.type_id = id;
  return type;
}

}  // namespace

TEST_CASE("Fields that are there are written, empty or not; others aren't", "[codec]") {
  EncodedValue value;
  CHECK(write_encoded_value(value).size() == 0);
  value.name = "";
  value.doc_string = "";
  value.logical_type = TensorType{DataType::kFloat, {}, true};
  value.payload = PayloadBytes();
  const Bytes bytes = write_encoded_value(value).flatten();
  CHECK(to_hex(bytes) ==
        "1a060a0408011200"
        "2200"
        "3a00"
        "4200");
  const Result<EncodedValue> read = read_encoded_value(bytes);
  REQUIRE(read.ok());
  CHECK(read.value().name == "");
  CHECK(read.value().doc_string == "");
  CHECK(read.value().logical_type == value.logical_type);
  CHECK(read.value().payload->size() == 0);
  CHECK_FALSE(read.value().parameter_ref);
}

TEST_CASE("All fields come back", "[codec]") {
  EncodedValue value;
  value.layout = AffineLayout{std::string("\x08\x03", 2)};
  value.logical_type = TensorType{DataType::kFloat16, {2, 0, 300}, true};
  value.external_data = {{"location", "w.bin"}, {"offset", "0"}};
  value.data_location = 1;
  value.name = "W";
  value.doc_string = "weights";
  value.parameter_ref = "common";
  const Bytes bytes = write_encoded_value(value).flatten();
  const Result<EncodedValue> read = read_encoded_value(bytes);
  REQUIRE(read.ok());
  CHECK(std::get<AffineLayout>(read.value().layout).message == std::string("\x08\x03", 2));
  CHECK(read.value().external_data == value.external_data);
  CHECK(read.value().data_location == 1);
  CHECK(read.value().parameter_ref == "common");
  CHECK(read.value().logical_type == value.logical_type);
  CHECK(write_encoded_value(read.value()).flatten() == bytes);
}

TEST_CASE("Another writer's order of fields is read; the payload isn't copied", "[codec]") {
  const Bytes bytes = message(small_value(), "Q");
  const Bytes other = reversed(bytes);
  REQUIRE(other != bytes);
  const Result<EncodedValue> read = read_encoded_value(other);
  REQUIRE(read.ok());
  CHECK(write_encoded_value(read.value()).flatten() == bytes);
  CHECK(decoded(read.value()) == decoded(small_value()));
  const std::uint8_t* payload = read.value().payload->bytes().data();
  CHECK(payload >= other.data());
  CHECK(payload < other.data() + other.size());
}

TEST_CASE("A descriptor in another order, or with lists in the other form, is the same type", "[codec]") {
  const EncodedValue value = small_value();
  const Bytes canonical = descriptor(value);
  EncodedValue foreign = value;
  foreign.layout = read_type(reversed(canonical));
  CHECK(decoded(foreign) == decoded(value));
  // count: int64_data = [3] unpacked (38 03) instead of packed (3a 01 03), one byte less on four levels.
  std::string hex = to_hex(canonical);
  const std::string packed =
      "0a0e0a05636f756e742205100"
      "73a0103";
  const std::size_t at = hex.find(packed);
  REQUIRE(at != std::string::npos);
  const StructType type = read_type(from_hex("120f0a0d0a05636f756e74220410073803"));
  const StructType same = read_type(from_hex("12100a0e0a05636f756e74220510073a0103"));
  CHECK(type == same);
  CHECK(to_hex(bytes_of(write_struct_type(type))) == "12100a0e0a05636f756e74220510073a0103");
}

TEST_CASE("Whatever else a descriptor has, it is another schema", "[codec]") {
  const EncodedValue value = small_value();
  const auto refused = [&](const std::function<void(StructType&)>& edit) {
    EncodedValue changed = value;
    edit(std::get<StructType>(changed.layout));
    const auto result = decode_tensor(changed);
    REQUIRE(!result.ok());
    return result.error().message;
  };
  const auto fields = [](StructType& type) -> std::vector<StructField>& {
    return std::get<Structure>(type.kind).fields;
  };
  const char* schema = "does not match its versioned schema";
  CHECK(refused([](StructType& t) { t.doc_string = ""; }).find(schema) != std::string::npos);
  CHECK(refused([](StructType& t) { t.decoder = ""; }).find(schema) != std::string::npos);
  CHECK(refused([](StructType& t) { t.metadata_props.emplace_back(); }).find(schema) != std::string::npos);
  CHECK(refused([&](StructType& t) { fields(t)[0].name = "other"; }).find(schema) != std::string::npos);
  CHECK(refused([&](StructType& t) { fields(t)[0].doc_string = ""; }).find(schema) != std::string::npos);
  CHECK(refused([&](StructType& t) { fields(t).pop_back(); }).find(schema) != std::string::npos);
  CHECK(refused([](StructType& t) {
          t.name = "onnx_light.quantization.v1/int5";
        }).find("Unknown quantization format") != std::string::npos);
  CHECK(refused([](StructType& t) {
          t.name = "onnx_light.quantization.v2/int4";
        }).find("doesn't start with") != std::string::npos);
  // The name is only a label: the header says how the codes are.
  EncodedValue renamed = value;
  std::get<StructType>(renamed.layout).name = "onnx_light.quantization.v1/int8";
  CHECK(decoded(renamed) == decoded(value));
}

TEST_CASE("A message that ends early is refused at every byte", "[codec]") {
  const Bytes bytes = message(small_value(), "Q");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const Result<EncodedValue> read = read_encoded_value(std::span(bytes).first(size));
    // Where a field ends, what is left is a message; but none that can be decoded without what it lacks.
    if (!read.ok()) continue;
    if (size + 3 == bytes.size()) {
      CHECK_FALSE(read.value().name);
      continue;
    }
    CHECK_FALSE(decode_tensor(read.value()).ok());
  }
}

TEST_CASE("Any flipped bit is decoded or refused", "[codec]") {
  for (const P profile : {P::kInt4, P::kTernary, P::kNf4}) {
    const Bytes bytes = message(encoded(floats({1, 0, 1, -1, 1}), plan_of(profile, 5, 2)), "Q");
    std::size_t readable = 0;
    for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
      Bytes changed = bytes;
      changed[i / 8] = static_cast<std::uint8_t>(changed[i / 8] ^ 1U << i % 8);
      const Result<EncodedValue> read = read_encoded_value(changed);
      if (!read.ok()) continue;
      const auto values = decode_tensor(read.value());
      if (!values.ok()) continue;
      ++readable;
      CHECK(values.value().size() == 5 * data_type_bits(read.value().logical_type->type) / 8);
    }
    CHECK(readable > 0);
    CHECK(readable < bytes.size() * 8);
  }
}

TEST_CASE("Bytes behind a message, fields that come twice and unknown fields are refused", "[codec]") {
  const Bytes bytes = message(small_value(), "Q");
  const auto refused = [&](const char* hex) {
    Bytes longer = bytes;
    for (const std::uint8_t byte : from_hex(hex)) longer.push_back(byte);
    return !read_encoded_value(longer).ok();
  };
  CHECK(refused("00"));      // no field has the number 0
  CHECK(refused("3a0151"));  // the name again
  CHECK(refused("2200"));    // the payload again
  CHECK(refused("1200"));    // another layout
  CHECK(refused("0a00"));    // the other layout
  CHECK(refused("5a00"));    // field 11
  CHECK(refused("4a00"));    // field 9
  CHECK(refused("5001"));    // parameter_ref as a number
  CHECK(refused("42ff"));    // a length beyond the end
}

TEST_CASE("Struct types: sizes", "[codec]") {
  const StructCatalogue none;
  CHECK(struct_bits(tensor_structure({"a", "b"}), none).value() == 48);
  CHECK(struct_bits(array_of(tensor_structure({"a"}), 5), none).value() == 120);
  CHECK_FALSE(struct_bits(tensor_structure({}), none).ok());
  CHECK_FALSE(struct_bits(tensor_structure({"a", "a"}), none).ok());
  CHECK_FALSE(struct_bits(array_of(tensor_structure({"a"}), 0), none).ok());
  CHECK_FALSE(struct_bits(array_of(tensor_structure({"a"}), UINT64_MAX), none).ok());
  CHECK_FALSE(struct_bits(reference(7), none).ok());
  StructType packed;
  packed.kind = BitPacking{{{"lo", 3}, {"hi", 5}}, 4};
  CHECK(struct_bits(packed, none).value() == 32);
  CHECK(read_type(bytes_of(write_struct_type(packed))) == packed);
  // A value's payload is what its descriptor says.
  const EncodedValue value = small_value();
  CHECK(struct_bits(std::get<StructType>(value.layout), none).value() == value.payload->size() * 8);
}

TEST_CASE("Struct types: the catalogue of a model", "[codec]") {
  const auto catalogue = [](std::vector<StructType> types) {
    return StructCatalogue::make(std::move(types));
  };
  CHECK(catalogue({numbered(tensor_structure({"a"}), 1), numbered(array_of(reference(1), 2), 2)}).ok());
  CHECK_FALSE(catalogue({tensor_structure({"a"})}).ok());
  CHECK_FALSE(catalogue({numbered(tensor_structure({"a"}), 1), numbered(tensor_structure({"b"}), 1)}).ok());
  CHECK_FALSE(catalogue({numbered(array_of(reference(9), 2), 1)}).ok());
  CHECK_FALSE(catalogue({numbered(array_of(reference(1), 2), 1)}).ok());
  CHECK_FALSE(
      catalogue({numbered(array_of(reference(2), 2), 1), numbered(array_of(reference(1), 2), 2)}).ok());
  std::vector<StructType> chain{numbered(tensor_structure({"a"}), 1)};
  for (std::uint64_t id = 2; id <= 32; ++id) chain.push_back(numbered(array_of(reference(id - 1), 1), id));
  CHECK(catalogue(chain).ok());
  for (std::uint64_t id = 33; id <= 65; ++id) chain.push_back(numbered(array_of(reference(id - 1), 1), id));
  CHECK_FALSE(catalogue(chain).ok());
}

TEST_CASE("A value may refer to its struct type", "[codec]") {
  const OwnedTensor x = floats({1, -2, 3, 4, 5});
  const StructType type = type_of(plan_of(P::kInt4, 5, 2));
  const StructCatalogue catalogue = StructCatalogue::make({numbered(type, 5)}).value();
  const Result<EncodedValue> value = quantize_tensor(x, reference(5), {}, catalogue);
  REQUIRE(value.ok());
  CHECK(to_hex(message(value.value(), "Q")).substr(0, 8) == "12022005");
  const EncodedValue inline_value = quantized(x, P::kInt4, 2);
  CHECK(payload_hex(value.value()) == payload_hex(inline_value));
  const auto values = decode_tensor(value.value(), DataType::kDouble, catalogue);
  REQUIRE(values.ok());
  CHECK(to_doubles(values.value(), DataType::kDouble) == decoded(inline_value));
  CHECK_FALSE(decode_tensor(value.value()).ok());
  EncodedValue named = value.value();
  std::get<StructType>(named.layout).name = "";
  CHECK_FALSE(decode_tensor(named, DataType::kDouble, catalogue).ok());
}

TEST_CASE("Struct types that nest too deeply are refused, not followed", "[codec]") {
  StructType type = tensor_structure({"a"});
  for (int i = 1; i < 64; ++i) type = array_of(std::move(type), 1);
  CHECK(read_struct_type(bytes_of(write_struct_type(type))).ok());
  CHECK_FALSE(read_struct_type(bytes_of(write_struct_type(array_of(std::move(type), 1)))).ok());
  std::string bytes;
  for (int i = 0; i < 10000; ++i) {
    std::string element;
    std::string array;
    append_text_field(element, 1000, bytes);
    append_text_field(array, 1, element);
    bytes.clear();
    append_text_field(bytes, 1, array);
  }
  CHECK_FALSE(read_struct_type(bytes_of(bytes)).ok());
}

}  // namespace halftone
