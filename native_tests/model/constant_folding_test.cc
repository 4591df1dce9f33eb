// Constants: how they are found, and that their values are the ones that the operators define.
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "model/constant_folding.h"
#include "model/text_models.h"

namespace halftone::test {
namespace {

template <typename T>
std::vector<T> values(std::span<const std::uint8_t> bytes) {
  std::vector<T> made(bytes.size() / sizeof(T));
  if (!made.empty()) std::memcpy(made.data(), bytes.data(), made.size() * sizeof(T));
  return made;
}

ConstantTensor constant(const Model& model, std::string_view name) {
  INFO(name);
  REQUIRE(tensor(model, name).constant);
  const Result<ConstantTensor> value = model.constant(model.graph().find_tensor(name));
  INFO((value.ok() ? std::string() : value.error().message));
  REQUIRE(value.ok());
  return value.value();
}

template <typename T>
std::vector<T> constant_values(const Model& model, std::string_view name) {
  return values<T>(constant(model, name).bytes);
}

template <typename From, typename To>
std::vector<To> cast(const std::vector<From>& from, DataType from_type, DataType to_type) {
  REQUIRE(can_cast(from_type, to_type));
  return values<To>(cast_values(bytes_of(from), from_type, to_type));
}

using Dims = std::vector<std::int64_t>;

TEST_CASE("initializers and Constant nodes of every kind are constant", "[model][constant]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) <float[2] w = {1.5, -2}, int8[3] q = {-1, 2, -3}> {
      v = Constant<value = float[1,2] {3, 4}>()
      f = Constant<value_float = 0.25>()
      fs = Constant<value_floats = [1.0, 2.0, 3.0]>()
      i = Constant<value_int = -7>()
      is = Constant<value_ints = [5, 6]>()
      s = Constant<value_string = "text">()
      y = Add(x, w)
    })");
  CHECK(constant_values<float>(*model, "w") == std::vector<float>{1.5F, -2.0F});
  CHECK(constant_values<std::int8_t>(*model, "q") == std::vector<std::int8_t>{-1, 2, -3});
  CHECK(constant(*model, "v").dims == Dims{1, 2});
  CHECK(constant_values<float>(*model, "v") == std::vector<float>{3.0F, 4.0F});
  CHECK(constant(*model, "f").dims.empty());
  CHECK(constant_values<float>(*model, "f") == std::vector<float>{0.25F});
  CHECK(constant(*model, "fs").dims == Dims{3});
  CHECK(constant_values<float>(*model, "fs") == std::vector<float>{1.0F, 2.0F, 3.0F});
  CHECK(constant(*model, "i").type == DataType::kInt64);
  CHECK(constant_values<std::int64_t>(*model, "i") == std::vector<std::int64_t>{-7});
  CHECK(constant_values<std::int64_t>(*model, "is") == std::vector<std::int64_t>{5, 6});
  CHECK_FALSE(tensor(*model, "s").constant);
  CHECK_FALSE(tensor(*model, "x").constant);
  const Result<ConstantTensor> none = model->constant(model->graph().find_tensor("y"));
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::kInvalidState);
}

TEST_CASE("chains over a constant are folded", "[model][constant]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[3,2] x) => (float[3,2] y) <int8[2,3] w = {1, 2, 3, 4, 5, 6}, int64[2] shape = {0, -1}> {
      a = Identity(shape)
      i = Identity(w)
      b = Cast<to = 1>(i)
      c = Transpose<perm = [1, 0]>(b)
      d = Reshape(c, shape)
      e = Transpose(d)
      y = Add(x, c)
    })");
  CHECK(constant(*model, "c").dims == Dims{3, 2});
  CHECK(constant(*model, "c").type == DataType::kFloat);
  CHECK(constant_values<float>(*model, "c") == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(constant_values<float>(*model, "d") == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(constant_values<float>(*model, "e") == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(type_text(*model, "e") == "float32[2,3]");
  // Folded once: the same bytes come back. A view is no copy at all.
  CHECK(constant(*model, "c").bytes.data() == constant(*model, "c").bytes.data());
  CHECK(constant(*model, "a").bytes.data() == constant(*model, "shape").bytes.data());
}

TEST_CASE("Reshape, Squeeze and Unsqueeze follow their rules", "[model][constant]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1] x) => (float[1] y)
    <float[2,1,3] w = {1, 2, 3, 4, 5, 6}, int64[3] open = {0, -1, 1}, int64[1] flat = {-1}, int64[2] bad = {4, -1},
     int64[2] twice = {-1, -1}, int64[1] second = {1}, int64[1] last = {-1}, int64[2] ends = {0, -1}, int64[1] first = {0}> {
      open_r = Reshape(w, open)
      flat_r = Reshape(w, flat)
      bad_r = Reshape(w, bad)
      twice_r = Reshape(w, twice)
      s_all = Squeeze(w)
      s_one = Squeeze(w, second)
      s_bad = Squeeze(w, first)
      u_last = Unsqueeze(w, last)
      u_ends = Unsqueeze(w, ends)
      y = Identity(x)
    })");
  CHECK(constant(*model, "open_r").dims == Dims{2, 3, 1});
  CHECK(constant(*model, "flat_r").dims == Dims{6});
  CHECK_FALSE(tensor(*model, "bad_r").constant);
  CHECK_FALSE(tensor(*model, "twice_r").constant);
  CHECK(constant(*model, "s_all").dims == Dims{2, 3});
  CHECK(constant(*model, "s_one").dims == Dims{2, 3});
  CHECK_FALSE(tensor(*model, "s_bad").constant);
  CHECK(constant(*model, "u_last").dims == Dims{2, 1, 3, 1});
  CHECK(constant(*model, "u_ends").dims == Dims{1, 2, 1, 3, 1});
}

TEST_CASE("allowzero takes a zero as a zero", "[model][constant]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1] x) => (float[1] y) <float[0,3] w = {}, int64[2] shape = {5, 0}> {
      zero = Reshape<allowzero = 1>(w, shape)
      copied = Reshape(w, shape)
      y = Identity(x)
    })");
  CHECK(constant(*model, "zero").dims == Dims{5, 0});
  CHECK(constant(*model, "zero").bytes.empty());
  CHECK_FALSE(tensor(*model, "copied").constant);  // [5, 3] has elements, [0, 3] has none
}

TEST_CASE("axes as attributes, as older operator sets have them", "[model][constant]") {
  const auto model = open_text(R"(<ir_version: 7, opset_import: ["" : 11]>
    g (float[1] x) => (float[1] y) <float[1,2] w = {1, 2}> {
      s = Squeeze<axes = [0]>(w)
      u = Unsqueeze<axes = [0, 2]>(s)
      y = Identity(x)
    })");
  CHECK(constant(*model, "s").dims == Dims{2});
  CHECK(constant(*model, "u").dims == Dims{1, 2, 1});
}

TEST_CASE("what isn't foldable isn't called constant", "[model][constant]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17, "other" : 1]>
    g (float[2] x, int64[1] shape) => (float[2] y) <float[2] w = {1, 2}, string[1] s = {"a"}> {
      relu = Relu(w)
      dynamic = Reshape(w, shape)
      half = Cast<to = 10>(w)
      text = Cast<to = 8>(w)
      perm = Transpose<perm = [1]>(w)
      foreign = other.Identity(w)
      string_copy = Identity(s)
      y = Add(x, w)
    })");
  for (const char* name : {"relu", "dynamic", "half", "text", "perm", "foreign", "string_copy"}) {
    INFO(name);
    CHECK_FALSE(tensor(*model, name).constant);
  }
  // A tensor of strings is constant, but has no bytes to give.
  REQUIRE(tensor(*model, "s").constant);
  const Result<ConstantTensor> strings = model->constant(model->graph().find_tensor("s"));
  REQUIRE_FALSE(strings.ok());
  CHECK(strings.error().code == ErrorCode::kUnsupportedType);
}

TEST_CASE("the flag says exactly what can be had", "[model][constant]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, int64[1] m = {-1}> {
      a = Identity(w)  b = Relu(a)  c = Reshape(a, m)  d = Unsqueeze(c, m)  y = Sum(x, b, c) })");
  for (std::size_t id = 0; id < model->graph().tensors().size(); ++id) {
    INFO(model->graph().tensors()[id].name);
    CHECK(model->graph().tensors()[id].constant == model->constant(static_cast<TensorId>(id)).ok());
  }
}

TEST_CASE("a chain of a hundred thousand identities is one step", "[model][constant][hostile]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) <float[2] c0 = {1, 2}> { y = Relu(x) })");
  for (int i = 0; i < 100'000; ++i) {
    onnx::NodeProto& node = *proto.mutable_graph()->add_node();
    node.set_op_type("Identity");
    node.add_input("c" + std::to_string(i));
    node.add_output("c" + std::to_string(i + 1));
  }
  const auto model = open_proto(proto);
  CHECK(constant_values<float>(*model, "c100000") == std::vector<float>{1.0F, 2.0F});
  CHECK(constant(*model, "c100000").bytes.data() == constant(*model, "c0").bytes.data());
}

TEST_CASE("long chains that cost a pass each are left to the runtime", "[model][constant][hostile]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) <float[2,3] c0 = {1, 2, 3, 4, 5, 6}> { y = Relu(x) })");
  for (int i = 0; i <= kMaxFoldSteps; ++i) {
    onnx::NodeProto& node = *proto.mutable_graph()->add_node();
    node.set_op_type("Transpose");
    node.add_input("c" + std::to_string(i));
    node.add_output("c" + std::to_string(i + 1));
  }
  const auto model = open_proto(proto);
  CHECK(constant_values<float>(*model, "c" + std::to_string(kMaxFoldSteps)) ==
        std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK_FALSE(tensor(*model, "c" + std::to_string(kMaxFoldSteps + 1)).constant);
}

TEST_CASE("small values of every field and type are read", "[model][constant]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[1] x) => (float[1] y) { y = Relu(x) })");
  const auto add = [&](const char* name, std::int32_t type, std::int64_t count) -> onnx::TensorProto& {
    onnx::TensorProto& made = *proto.mutable_graph()->add_initializer();
    made.set_name(name);
    made.set_data_type(type);
    made.add_dims(count);
    return made;
  };
  onnx::TensorProto& half = add("half", onnx::TensorProto::FLOAT16, 2);
  half.add_int32_data(0x3C00);
  half.add_int32_data(0xC000);
  onnx::TensorProto& narrow = add("narrow", onnx::TensorProto::INT8, 2);
  narrow.add_int32_data(-128);
  narrow.add_int32_data(127);
  onnx::TensorProto& nibbles = add("nibbles", onnx::TensorProto::INT4, 3);  // two packed bytes
  nibbles.add_int32_data(0x21);
  nibbles.add_int32_data(0x0F);
  onnx::TensorProto& wide = add("wide", onnx::TensorProto::UINT32, 1);
  wide.add_uint64_data(4'000'000'000U);
  onnx::TensorProto& doubles = add("doubles", onnx::TensorProto::DOUBLE, 1);
  doubles.add_double_data(0.1);
  const auto model = open_proto(proto);
  CHECK(constant_values<std::uint16_t>(*model, "half") == std::vector<std::uint16_t>{0x3C00, 0xC000});
  CHECK(constant_values<std::int8_t>(*model, "narrow") == std::vector<std::int8_t>{-128, 127});
  CHECK(constant_values<std::uint8_t>(*model, "nibbles") == std::vector<std::uint8_t>{0x21, 0x0F});
  CHECK(constant_values<std::uint32_t>(*model, "wide") == std::vector<std::uint32_t>{4'000'000'000U});
  CHECK(constant_values<double>(*model, "doubles") == std::vector<double>{0.1});
}

TEST_CASE("large typed data is decoded from the store", "[model][constant]") {
  onnx::ModelProto proto = parse_text(
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) { y = Relu(x) })");
  onnx::TensorProto& codes = *proto.mutable_graph()->add_initializer();
  codes.set_name("codes");
  codes.set_data_type(onnx::TensorProto::INT8);
  codes.add_dims(3000);
  for (int i = 0; i < 3000; ++i) codes.add_int32_data(i % 256 - 128);
  const auto model = open_proto(proto);
  const auto read = constant_values<std::int8_t>(*model, "codes");
  REQUIRE(read.size() == 3000);
  for (int i = 0; i < 3000; ++i)
    REQUIRE(read[static_cast<std::size_t>(i)] == static_cast<std::int8_t>(i % 256 - 128));
}

TEST_CASE("casts of floats to integers truncate, saturate, and make NaN zero", "[model][constant]") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> from = {1.9F,  -1.9F, -0.5F, 300.0F, -300.0F,      3e9F,
                                   -3e9F, 1e30F, kInf,  -kInf,  std::nanf("")};
  CHECK(cast<float, std::int8_t>(from, DataType::kFloat, DataType::kInt8) ==
        std::vector<std::int8_t>{1, -1, 0, 127, -128, 127, -128, 127, 127, -128, 0});
  CHECK(cast<float, std::uint8_t>(from, DataType::kFloat, DataType::kUint8) ==
        std::vector<std::uint8_t>{1, 0, 0, 255, 0, 255, 0, 255, 255, 0, 0});
  CHECK(cast<float, std::int32_t>(from, DataType::kFloat, DataType::kInt32) ==
        std::vector<std::int32_t>{1, -1, 0, 300, -300, 2147483647, -2147483647 - 1, 2147483647, 2147483647,
                                  -2147483647 - 1, 0});
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(cast<double, std::int64_t>({9.2e18, 9.3e18, -9.3e18}, DataType::kDouble, DataType::kInt64) ==
        std::vector<std::int64_t>{9'200'000'000'000'000'000, kMax, -kMax - 1});
}

TEST_CASE("casts between integers cut, casts to float round", "[model][constant]") {
  CHECK(cast<std::int32_t, std::uint8_t>({-1, 256, 255}, DataType::kInt32, DataType::kUint8) ==
        std::vector<std::uint8_t>{255, 0, 255});
  CHECK(cast<std::int64_t, float>({16'777'217, 16'777'219}, DataType::kInt64, DataType::kFloat) ==
        std::vector<float>{16'777'216.0F, 16'777'220.0F});
  CHECK(cast<double, float>({0.1, 1e300}, DataType::kDouble, DataType::kFloat) ==
        std::vector<float>{0.1F, std::numeric_limits<float>::infinity()});
  CHECK(cast<std::uint8_t, float>({0, 1, 2}, DataType::kBool, DataType::kFloat) ==
        std::vector<float>{0, 1, 1});
}

TEST_CASE("every float16 widens exactly", "[model][constant]") {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const auto wide = cast<std::uint16_t, float>(all, DataType::kFloat16, DataType::kFloat);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int exponent = static_cast<int>(i >> 10U & 0x1FU);
    const double fraction = static_cast<double>(i & 0x3FFU);
    const double sign = (i & 0x8000U) != 0 ? -1.0 : 1.0;
    if (exponent == 31) {
      CHECK((fraction == 0 ? std::isinf(wide[i]) : std::isnan(wide[i])));
      continue;
    }
    const double exact =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25);
    if (static_cast<double>(wide[i]) != sign * exact || std::signbit(wide[i]) != (sign < 0)) {
      INFO(i);
      REQUIRE(static_cast<double>(wide[i]) == sign * exact);
    }
  }
  CHECK(cast<std::uint16_t, float>({0x3F80, 0xFF80}, DataType::kBfloat16, DataType::kFloat)[0] == 1.0F);
}

TEST_CASE("transposition equals the definition, for random dims and permutations", "[model][constant]") {
  INFO("seed " << Catch::getSeed());
  std::mt19937 random(Catch::getSeed());
  for (int round = 0; round < 60; ++round) {
    const std::size_t rank = random() % 5;
    Dims dims(rank);
    Dims permutation(rank);
    std::size_t count = 1;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      dims[axis] = static_cast<std::int64_t>(random() % 4 + (round % 10 == 0 ? 0 : 1));
      permutation[axis] = static_cast<std::int64_t>(axis);
      count *= static_cast<std::size_t>(dims[axis]);
    }
    std::shuffle(permutation.begin(), permutation.end(), random);
    std::vector<std::uint16_t> input(count);
    for (std::size_t i = 0; i < count; ++i) input[i] = static_cast<std::uint16_t>(i * 7 + 1);
    const auto output = values<std::uint16_t>(transpose_values(bytes_of(input), 2, dims, permutation));
    REQUIRE(output.size() == count);
    for (std::size_t flat = 0; flat < count; ++flat) {
      // Coordinates of the output element, then its place in the input.
      Dims place(rank);
      std::size_t rest = flat;
      for (std::size_t axis = rank; axis > 0; --axis) {
        const auto extent = static_cast<std::size_t>(dims[static_cast<std::size_t>(permutation[axis - 1])]);
        place[static_cast<std::size_t>(permutation[axis - 1])] = static_cast<std::int64_t>(rest % extent);
        rest /= extent;
      }
      std::size_t from = 0;
      for (std::size_t axis = 0; axis < rank; ++axis) {
        from = from * static_cast<std::size_t>(dims[axis]) + static_cast<std::size_t>(place[axis]);
      }
      REQUIRE(output[flat] == input[from]);
    }
  }
}

}  // namespace
}  // namespace halftone::test
