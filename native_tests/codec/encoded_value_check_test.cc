// Rules of encoded values in models: types, payloads, external data, affine layouts.
#include "halftone/encoded_value_check.h"

#include <onnx/onnx_pb.h>

#include <catch2/catch_test_macros.hpp>

#include "codec/block_cases.h"

namespace halftone::test {
namespace {

template <typename T>
void check_refused(const Result<T>& result, ErrorCode code, std::string_view word) {
  REQUIRE_FALSE(result.ok());
  INFO(result.error().message);
  CHECK(result.error().code == code);
  CHECK(result.error().message.find(word) != std::string::npos);
}

StructField bytes_field(std::string name, std::int64_t count) {
  return {std::move(name), ElementType{TensorType{DataType::kUint8, {count}, true}}, std::nullopt};
}

StructField struct_field(std::string name, StructType type) {
  return {std::move(name), ElementType{std::vector<StructType>{std::move(type)}}, std::nullopt};
}

StructType structure(std::vector<StructField> fields) {
  StructType type;
  type.kind = Structure{std::move(fields)};
  return type;
}

StructType reference(std::uint64_t id) {
  StructType type;
  type.kind = TypeReference{id};
  return type;
}

StructType declared(std::uint64_t id, StructType type) {
  type.type_id = id;
  return type;
}

StructType packed(std::vector<BitComponent> components, std::uint64_t dimension) {
  StructType type;
  type.kind = BitPacking{std::move(components), dimension};
  return type;
}

EncodedValue value_of(StructType type, std::size_t bytes) {
  EncodedValue value;
  value.name = "w";
  value.logical_type = TensorType{DataType::kFloat, {4}, true};
  value.layout = std::move(type);
  value.payload = PayloadBytes(std::vector<std::uint8_t>(bytes));
  return value;
}

TEST_CASE("Catalogues of struct types", "[codec]") {
  const StructType leaf = structure({bytes_field("x", 3)});
  check_refused(StructCatalogue::make({leaf}), ErrorCode::kInvalidGraph, "no number");
  check_refused(StructCatalogue::make({declared(1, leaf), declared(1, leaf)}), ErrorCode::kInvalidGraph,
                "duplicate");
  check_refused(StructCatalogue::make({declared(1, structure({struct_field("y", reference(2))}))}),
                ErrorCode::kInvalidGraph, "doesn't declare");
  check_refused(StructCatalogue::make({declared(1, structure({struct_field("y", reference(2))})),
                                       declared(2, structure({struct_field("y", reference(1))}))}),
                ErrorCode::kTooLarge, "contain themselves");
  std::vector<StructType> chain;
  for (std::uint64_t id = 1; id <= 40; ++id) {
    chain.push_back(declared(id, id == 40 ? leaf : structure({struct_field("y", reference(id + 1))})));
  }
  check_refused(StructCatalogue::make(chain), ErrorCode::kTooLarge, "64");
  chain.erase(chain.begin(), chain.begin() + 20);
  CHECK(StructCatalogue::make(chain).ok());
}

TEST_CASE("A type that refers to others often is measured in no time", "[codec]") {
  // Each holds the next twice: 2^20 leaves, but 21 types.
  std::vector<StructType> types = {declared(31, structure({bytes_field("x", 1)}))};
  for (std::uint64_t id = 11; id <= 30; ++id) {
    types.push_back(declared(
        id, structure({struct_field("a", reference(id + 1)), struct_field("b", reference(id + 1))})));
  }
  const Result<StructCatalogue> fewer = StructCatalogue::make(types);
  REQUIRE(fewer.ok());
  CHECK(check_struct_type(reference(11), fewer.value()).value() == 8U << 20U);
}

TEST_CASE("Struct types where they are used", "[codec]") {
  const StructCatalogue none;
  CHECK(check_struct_type(packed({{"a", 3}, {"b", 5}}, 7), none).value() == 56);
  const ErrorCode graph = ErrorCode::kInvalidGraph;
  check_refused(check_struct_type(packed({}, 7), none), graph, "components");
  check_refused(check_struct_type(packed({{"a", 3}}, 0), none), graph, "dimension");
  check_refused(check_struct_type(structure({}), none), graph, "no fields");
  check_refused(check_struct_type(structure({bytes_field("x", 1), bytes_field("x", 1)}), none), graph,
                "two fields");
  check_refused(check_struct_type(structure({bytes_field("", 1)}), none), graph, "name");
  check_refused(check_struct_type(StructType{}, none), graph, "layout");
  check_refused(check_struct_type(reference(7), none), graph, "type 7");
  check_refused(check_struct_type(declared(7, structure({bytes_field("x", 1)})), none), graph, "number");
  CHECK(check_struct_type(declared(7, structure({bytes_field("x", 1)})), none, true).ok());
  check_refused(
      check_struct_type(structure({struct_field("y", declared(7, structure({bytes_field("x", 1)})))}), none,
                        true),
      graph, "number");
  StructType named = reference(7);
  named.name = "n";
  check_refused(check_struct_type(structure({struct_field("y", named)}), none), graph, "more than");
  const auto constant = [](std::vector<std::int64_t> dims, std::vector<std::int64_t> numbers) {
    StructConstant content;
    content.type = DataType::kInt64;
    content.dims = std::move(dims);
    content.int64_data = std::move(numbers);
    return structure({{"c", content, std::nullopt}, bytes_field("x", 1)});
  };
  CHECK(check_struct_type(constant({2}, {5, 6}), none).value() == 8);
  check_refused(check_struct_type(constant({3}, {5, 6}), none), graph, "elements");
  check_refused(check_struct_type(constant({2}, {}), none), graph, "elements");
  check_refused(check_struct_type(structure({bytes_field("x", std::int64_t{1} << 61U)}), none),
                ErrorCode::kTooLarge, "2^62");
}

TEST_CASE("Payloads are whole records", "[codec]") {
  const StructType three = structure({bytes_field("x", 3)});
  CHECK(check_encoded_value(value_of(three, 3)).ok());
  CHECK(check_encoded_value(value_of(three, 6)).ok());
  check_refused(check_encoded_value(value_of(three, 4)), ErrorCode::kTruncated, "truncated");
  check_refused(check_encoded_value(value_of(three, 0)), ErrorCode::kTruncated, "truncated");
  check_refused(check_encoded_value(value_of(packed({{"a", 3}}, 1), 1)), ErrorCode::kInvalidGraph, "bytes");
  check_refused(check_encoded_value(value_of(structure({bytes_field("x", 0)}), 0)), ErrorCode::kInvalidGraph,
                "bytes");
  EncodedValue value = value_of(three, 3);
  value.logical_type.reset();
  check_refused(check_encoded_value(value), ErrorCode::kInvalidGraph, "stands for");
  value = value_of(three, 3);
  value.layout = std::monostate{};
  check_refused(check_encoded_value(value), ErrorCode::kInvalidGraph, "layout");
  value = value_of(reference(5), 3);
  check_refused(check_encoded_value(value), ErrorCode::kInvalidGraph, "type 5");
  const Result<StructCatalogue> catalogue = StructCatalogue::make({declared(5, three)});
  REQUIRE(catalogue.ok());
  CHECK(check_encoded_value(value, catalogue.value()).ok());
}

TEST_CASE("External payloads", "[codec]") {
  EncodedValue good = value_of(structure({bytes_field("x", 3)}), 0);
  good.payload.reset();
  good.data_location = 1;
  good.external_data = {{"location", "weights.bin"}, {"offset", "64"}, {"length", "6"}};
  CHECK(check_encoded_value(good).ok());
  CHECK(check_encoded_value(good, {}, 6).ok());
  check_refused(check_encoded_value(good, {}, 5), ErrorCode::kTruncated, "truncated");
  const auto refused = [&](auto edit, ErrorCode code, std::string_view word) {
    EncodedValue value = good;
    edit(value);
    check_refused(check_encoded_value(value), code, word);
  };
  const ErrorCode graph = ErrorCode::kInvalidGraph;
  refused([](EncodedValue& v) { v.payload = PayloadBytes(std::vector<std::uint8_t>(6)); }, graph, "raw_data");
  refused([](EncodedValue& v) { v.data_location = 0; }, graph, "EXTERNAL");
  refused([](EncodedValue& v) { v.data_location.reset(); }, graph, "EXTERNAL");
  refused([](EncodedValue& v) { v.data_location = 2; }, graph, "location");
  refused([](EncodedValue& v) { v.external_data[2].second = "7"; }, ErrorCode::kTruncated, "truncated");
  refused([](EncodedValue& v) { v.external_data[2].second = "0x6"; }, graph, "length");
  refused([](EncodedValue& v) { v.external_data[2].second = "99999999999999999999"; }, graph, "length");
  refused([](EncodedValue& v) { v.external_data.pop_back(); }, graph, "length");
  refused([](EncodedValue& v) { v.external_data[1].second = "-1"; }, graph, "offset");
  refused([](EncodedValue& v) { v.external_data[0].second = "../weights.bin"; },
          ErrorCode::kExternalDataMissing, "");
  refused([](EncodedValue& v) { v.external_data[0].second = "/etc/passwd"; }, ErrorCode::kExternalDataMissing,
          "");
  refused([](EncodedValue& v) { v.external_data.erase(v.external_data.begin()); },
          ErrorCode::kExternalDataMissing, "");
}

// ---- affine

void add_varint_field(std::string& to, char tag, std::uint64_t value) {
  to += tag;
  while (value > 127) {
    to += static_cast<char>(value | 128U);
    value >>= 7U;
  }
  to += static_cast<char>(value);
}

struct AffineCase {
  DataType storage = DataType::kInt4;
  std::vector<std::int64_t> scale_dims;
  std::optional<std::vector<std::int64_t>> zero_point_dims;
  std::optional<DataType> zero_point_type;
  std::optional<std::int64_t> axis;
  std::uint64_t block_size = 0;

  [[nodiscard]] AffineLayout layout() const {
    AffineLayout made;
    add_varint_field(made.message, 0x08, static_cast<std::uint64_t>(storage));
    add_tensor(made.message, 0x12, onnx::TensorProto::FLOAT, scale_dims);
    if (zero_point_dims) {
      const DataType type = zero_point_type.value_or(storage);
      add_tensor(made.message, 0x1A, static_cast<int>(type), *zero_point_dims);
    }
    if (axis) add_varint_field(made.message, 0x20, static_cast<std::uint64_t>(*axis));
    if (block_size != 0) add_varint_field(made.message, 0x28, block_size);
    return made;
  }

  static void add_tensor(std::string& to, char tag, int type, const std::vector<std::int64_t>& dims) {
    onnx::TensorProto tensor;
    tensor.set_data_type(type);
    for (const std::int64_t dim : dims) tensor.add_dims(dim);
    const std::uint64_t count = *raw_byte_count(static_cast<DataType>(type), dims);
    tensor.set_raw_data(std::string(static_cast<std::size_t>(count), '\1'));
    const std::string bytes = tensor.SerializeAsString();
    add_varint_field(to, tag, bytes.size());
    to += bytes;
  }
};

Result<void> checked(const AffineCase& affine, const std::vector<std::int64_t>& dims, std::size_t bytes,
                     std::uint8_t last = 0) {
  EncodedValue value;
  value.logical_type = TensorType{DataType::kFloat, dims, true};
  value.layout = affine.layout();
  std::vector<std::uint8_t> payload(bytes);
  if (bytes != 0) payload.back() = last;
  value.payload = PayloadBytes(std::move(payload));
  return check_encoded_value(value);
}

TEST_CASE("Affine layouts", "[codec]") {
  const DataType int4 = DataType::kInt4;
  CHECK(checked({int4, {}, {}, {}, {}, 0}, {3, 5}, 8).ok());
  CHECK(checked({DataType::kUint8, {}, std::vector<std::int64_t>{}, {}, {}, 0}, {3, 5}, 15).ok());
  CHECK(checked({int4, {5}, std::vector<std::int64_t>{5}, {}, 1, 0}, {3, 5}, 8).ok());
  CHECK(checked({int4, {3}, {}, {}, -2, 0}, {3, 5}, 8).ok());
  CHECK(checked({int4, {3, 3}, {}, {}, 1, 2}, {3, 5}, 8).ok());
  CHECK(checked({DataType::kInt2, {}, {}, {}, {}, 0}, {3, 5}, 4).ok());
  CHECK(checked({int4, {}, {}, {}, {}, 0}, {0, 5}, 0).ok());

  const ErrorCode graph = ErrorCode::kInvalidGraph;
  check_refused(checked({DataType::kInt16, {}, {}, {}, {}, 0}, {3, 5}, 30), graph, "storage type");
  check_refused(checked({int4, {1}, {}, {}, {}, 0}, {3, 5}, 8), graph, "shape");
  check_refused(checked({int4, {3}, {}, {}, 1, 0}, {3, 5}, 8), graph, "shape");
  check_refused(checked({int4, {3, 2}, {}, {}, 1, 2}, {3, 5}, 8), graph, "shape");
  check_refused(checked({int4, {}, {}, {}, {}, 2}, {3, 5}, 8), graph, "without an axis");
  check_refused(checked({int4, {5}, {}, {}, 2, 0}, {3, 5}, 8), graph, "axis");
  check_refused(checked({int4, {5}, {}, {}, -3, 0}, {3, 5}, 8), graph, "axis");
  check_refused(checked({int4, {5}, std::vector<std::int64_t>{3}, {}, 1, 0}, {3, 5}, 8), graph, "zero point");
  check_refused(checked({int4, {}, std::vector<std::int64_t>{}, DataType::kUint4, {}, 0}, {3, 5}, 8), graph,
                "zero point");
  check_refused(checked({int4, {}, {}, {}, {}, 0}, {3, 5}, 7), ErrorCode::kTruncated, "truncated");
  check_refused(checked({int4, {}, {}, {}, {}, 0}, {3, 5}, 9), graph, "trailing");
  check_refused(checked({int4, {}, {}, {}, {}, 0}, {3, 5}, 8, 0x10), graph, "padding");
  CHECK(checked({int4, {}, {}, {}, {}, 0}, {3, 5}, 8, 0x0F).ok());

  EncodedValue value;
  value.logical_type = TensorType{DataType::kFloat, {2}, true};
  value.payload = PayloadBytes(std::vector<std::uint8_t>(1));
  value.layout = AffineLayout{std::string("\x08\x16", 2)};
  check_refused(check_encoded_value(value), graph, "scale");
  AffineLayout damaged = AffineCase{int4, {}, {}, {}, {}, 0}.layout();
  damaged.message.pop_back();
  value.layout = damaged;
  CHECK_FALSE(check_encoded_value(value).ok());
}

}  // namespace
}  // namespace halftone::test
