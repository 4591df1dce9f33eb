// Parameter sets that several values share.
#include "halftone/shared_parameters.h"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>

#include "codec/block_cases.h"

namespace halftone::test {
namespace {

// Tensors that own their bytes.
class Tensors {
 public:
  template <typename T>
  CodecTensor add(DataType type, std::vector<std::int64_t> dims, const std::vector<T>& values) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
    const auto& kept = bytes_.emplace_back(first, first + values.size() * sizeof(T));
    return {type, std::move(dims), kept};
  }
  CodecTensor floats(std::vector<std::int64_t> dims, const std::vector<float>& values) {
    return add(DataType::kFloat, std::move(dims), values);
  }
  CodecTensor text(const std::string& bytes) {
    const std::vector<std::uint8_t> values(bytes.begin(), bytes.end());
    return add(DataType::kUint8, {static_cast<std::int64_t>(values.size())}, values);
  }

 private:
  std::deque<std::vector<std::uint8_t>> bytes_;
};

// TypeProto of a float tensor of rank 1.
std::string float_type(char count) { return std::string("\x0a\x08\x08\x01\x12\x04\x0a\x02\x08", 9) + count; }

StructType descriptor_of(const CodecPlan& plan) {
  const Result<CodecSchema> schema = make_codec_schema(plan);
  REQUIRE(schema.ok());
  return codec_descriptor(schema.value());
}

StructType int4_of_4() { return descriptor_of(make_codec_plan(CodecProfile::kInt4, 4, 4).value()); }

std::vector<ParameterRole> int4_roles(Tensors& tensors) {
  return {{"storage_type", tensors.text(write_struct_type(int4_of_4()))},
          {"logical_type", tensors.text(float_type(4))},
          {"scales", tensors.floats({}, {0.5F})}};
}

std::vector<std::uint8_t> payload_of(const EncodedValue& value) {
  const std::span<const std::uint8_t> bytes = value.payload->bytes();
  return {bytes.begin(), bytes.end()};
}

std::vector<float> decoded_floats(const EncodedValue& value) {
  const bool matrix = is_matmul_nbits(std::get<StructType>(value.layout));
  const Result<std::vector<std::uint8_t>> bytes = matrix ? decode_matmul_nbits(value) : decode_tensor(value);
  REQUIRE(bytes.ok());
  std::vector<float> values(bytes.value().size() / sizeof(float));
  std::memcpy(values.data(), bytes.value().data(), bytes.value().size());
  return values;
}

template <typename T>
void check_refused(const Result<T>& result, ErrorCode code, std::string_view word) {
  REQUIRE_FALSE(result.ok());
  INFO(result.error().message);
  CHECK(result.error().code == code);
  CHECK(result.error().message.find(word) != std::string::npos);
}

TEST_CASE("Compact values of a shared set", "[codec]") {
  Tensors tensors;
  const Result<SharedParameterSet> set = SharedParameterSet::make("common", int4_roles(tensors));
  REQUIRE(set.ok());
  Result<EncodedValue> first = set.value().encode(tensors.floats({4}, {-4.0F, -0.5F, 0.5F, 3.5F}));
  REQUIRE(first.ok());
  CHECK(hex(payload_of(first.value())) == "00f871");
  first.value().name = "Q0";
  const std::vector<std::uint8_t> message = write_encoded_value(first.value()).flatten();
  CHECK(hex(message) ==
        "123a12150a130a056c6f63616c120a0a08080212040a0208033a216f6e6e785f6c696768742e7175616e74697a6174696f"
        "6e2e7368617265642e76311a0a0a08080112040a020804220300f8713a0251305206636f6d6d6f6e");
  Result<EncodedValue> second = set.value().encode(tensors.floats({4}, {-8.0F, -1.0F, 1.0F, 7.0F}));
  REQUIRE(second.ok());
  CHECK(hex(payload_of(second.value())) == "00e872");

  const Result<EncodedValue> read = read_encoded_value(message);
  REQUIRE(read.ok());
  const Result<EncodedValue> full = set.value().materialize(read.value());
  REQUIRE(full.ok());
  CHECK(full.value().name == "Q0");
  CHECK_FALSE(full.value().parameter_ref.has_value());
  CHECK(std::get<StructType>(full.value().layout) == int4_of_4());
  CHECK(decoded_floats(full.value()) == std::vector<float>{-4.0F, -0.5F, 0.5F, 3.5F});
  CHECK(decoded_floats(set.value().materialize(second.value()).value()) ==
        std::vector<float>{-4.0F, -1.0F, 1.0F, 3.5F});
  check_refused(decode_tensor(read.value()), ErrorCode::kInvalidState, "materialize");
}

TEST_CASE("A materialized value is the one that the same plan encodes", "[codec]") {
  Tensors tensors;
  CodecPlan plan = make_codec_plan(CodecProfile::kQuarot, 6, 4).value();
  plan.runs[0].scales = {0.5};
  plan.runs[1].scales = {0.25};
  plan.permutation = {2, 3, 0, 1, 5, 4};
  plan.transform_size = 2;
  plan.forward = {1.0, 1.0, 1.0, -1.0};
  plan.inverse = {0.5, 0.5, 0.5, -0.5};
  plan.outliers = {1, 4};
  const CodecTensor x = tensors.floats({6}, {1.0F, 1000.0F, 2.0F, 3.0F, -50.0F, 0.5F});
  const Result<EncodedValue> whole = encode_tensor(x, plan);
  REQUIRE(whole.ok());
  const DataType doubles = DataType::kDouble;
  const std::vector<ParameterRole> roles = {
      {"storage_type", tensors.text(write_struct_type(descriptor_of(plan)))},
      {"logical_type", tensors.text(float_type(6))},
      {"scales", tensors.floats({2}, {0.5F, 0.25F})},
      {"permutation", tensors.add(DataType::kInt64, {6}, plan.permutation)},
      {"forward", tensors.add(doubles, {2, 2}, plan.forward)},
      {"inverse", tensors.add(doubles, {2, 2}, plan.inverse)},
      {"outliers", tensors.add(DataType::kInt64, {2}, plan.outliers)}};
  const Result<SharedParameterSet> set = SharedParameterSet::make("s", roles);
  INFO((set.ok() ? std::string() : set.error().message));
  REQUIRE(set.ok());
  const Result<EncodedValue> compact = set.value().encode(x);
  REQUIRE(compact.ok());
  CHECK(payload_of(compact.value()).size() == 1 + 16 + 2 + 1);
  const Result<EncodedValue> full = set.value().materialize(compact.value());
  REQUIRE(full.ok());
  CHECK(payload_of(full.value()) == payload_of(whole.value()));
  CHECK(std::get<StructType>(full.value().layout) == std::get<StructType>(whole.value().layout));
}

TEST_CASE("A shared set of an onnxruntime profile", "[codec]") {
  Tensors tensors;
  CodecPlan plan = make_matmul_nbits_plan(CodecProfile::kOrtMatMulNBitsInt4, 3, 2, 16).value();
  plan.runs[0].scales = {-0.5, 0.5};
  plan.runs[0].zero_points = {3.25, 4.5};
  const CodecTensor x = tensors.floats({3, 2}, {1.625F, -2.25F, 0.125F, 0.25F, -1.875F, 2.75F});
  const Result<EncodedValue> whole = encode_matmul_nbits(x, plan);
  REQUIRE(whole.ok());
  const StructType storage = std::get<StructType>(whole.value().layout);
  const std::string matrix_type("\x0a\x0c\x08\x01\x12\x08\x0a\x02\x08\x03\x0a\x02\x08\x02", 14);
  std::vector<ParameterRole> roles = {{"storage_type", tensors.text(write_struct_type(storage))},
                                      {"logical_type", tensors.text(matrix_type)},
                                      {"scales", tensors.floats({2}, {-0.5F, 0.5F})},
                                      {"zero_points", tensors.floats({2}, {3.25F, 4.5F})}};
  const Result<SharedParameterSet> set = SharedParameterSet::make("w", roles);
  INFO((set.ok() ? std::string() : set.error().message));
  REQUIRE(set.ok());
  const Result<EncodedValue> compact = set.value().encode(x);
  REQUIRE(compact.ok());
  CHECK(hex(payload_of(compact.value())) == "003007000000000000500a000000000000");
  const Result<EncodedValue> full = set.value().materialize(compact.value());
  REQUIRE(full.ok());
  CHECK(payload_of(full.value()) == payload_of(whole.value()));
  CHECK(decoded_floats(full.value()) == decoded_floats(whole.value()));
  // Whole zero points would be stored in another form than the type says.
  roles[3].tensor = tensors.floats({}, {3.0F});
  check_refused(SharedParameterSet::make("w", roles), ErrorCode::kInvalidGraph, "incompatible");
}

TEST_CASE("A set may name its storage type by a number", "[codec]") {
  Tensors tensors;
  StructType declared = int4_of_4();
  declared.type_id = 7;
  const Result<StructCatalogue> catalogue = StructCatalogue::make({declared});
  REQUIRE(catalogue.ok());
  StructType reference;
  reference.kind = TypeReference{7};
  std::vector<ParameterRole> roles = int4_roles(tensors);
  roles[0].tensor = tensors.text(write_struct_type(reference));
  const Result<SharedParameterSet> set = SharedParameterSet::make("common", roles, catalogue.value());
  REQUIRE(set.ok());
  CHECK(set.value().storage_type() == reference);
  const Result<EncodedValue> compact = set.value().encode(tensors.floats({4}, {-4.0F, -0.5F, 0.5F, 3.5F}));
  REQUIRE(compact.ok());
  CHECK(std::get<StructType>(set.value().materialize(compact.value()).value().layout) == int4_of_4());
  CHECK_FALSE(SharedParameterSet::make("common", roles).ok());
}

TEST_CASE("Declarations and compact values that are refused", "[codec]") {
  Tensors tensors;
  const std::vector<ParameterRole> good = int4_roles(tensors);
  const auto refused = [&](auto edit, std::string_view word) {
    std::vector<ParameterRole> roles = good;
    edit(roles);
    check_refused(SharedParameterSet::make("common", roles), ErrorCode::kInvalidGraph, word);
  };
  refused([](auto& roles) { roles[2].role = "scale"; }, "role");
  refused([](auto& roles) { roles.push_back(roles[2]); }, "twice");
  refused([](auto& roles) { roles.pop_back(); }, "fixed scales");
  refused([](auto& roles) { roles.erase(roles.begin()); }, "storage_type");
  refused([](auto& roles) { roles[1].tensor.dims = {2, 5}; }, "rank 1");
  refused([&](auto& roles) { roles[1].tensor = tensors.text(float_type(5)); }, "incompatible");

  const Result<SharedParameterSet> set = SharedParameterSet::make("common", good);
  REQUIRE(set.ok());
  check_refused(set.value().encode(tensors.floats({2, 2}, {1, 2, 3, 4})), ErrorCode::kInvalidPolicy,
                "incompatible");
  const EncodedValue compact = set.value().encode(tensors.floats({4}, {1, 2, 3, 4})).value();
  const auto bad_value = [&](auto edit, ErrorCode code, std::string_view word) {
    EncodedValue value = compact;
    edit(value);
    check_refused(set.value().materialize(value), code, word);
  };
  const ErrorCode graph = ErrorCode::kInvalidGraph;
  bad_value([](EncodedValue& v) { v.parameter_ref = "other"; }, ErrorCode::kInvalidPolicy, "parameter_ref");
  bad_value([](EncodedValue& v) { v.parameter_ref.reset(); }, ErrorCode::kInvalidPolicy, "parameter_ref");
  bad_value([](EncodedValue& v) { v.logical_type->dims = {5}; }, graph, "incompatible");
  bad_value([](EncodedValue& v) { v.payload = PayloadBytes(std::vector<std::uint8_t>(4)); }, graph,
            "incompatible");
  bad_value(
      [](EncodedValue& v) {
        v.payload = PayloadBytes(std::vector<std::uint8_t>{1, 0, 0});
      },
      graph, "reserved");
  bad_value([](EncodedValue& v) { v.payload.reset(); }, ErrorCode::kInvalidState, "loaded");
  bad_value([](EncodedValue& v) { std::get<StructType>(v.layout).name = "x"; }, graph, "incompatible");
}

}  // namespace
}  // namespace halftone::test
