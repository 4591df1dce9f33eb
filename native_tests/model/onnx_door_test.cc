// What comes through the door to the ONNX library: types and shapes, objections, and a named warning where it
// can't tell.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "model/inference_context.h"
#include "model/onnx_door.h"
#include "model/text_models.h"
#include "model/value_types.h"

namespace halftone::test {
namespace {

using Codes = std::vector<std::string>;

std::string first_message(const Model& model, std::string_view code) {
  for (const Warning& warning : model.warnings()) {
    if (warning.code == code) return warning.message;
  }
  return {};
}

// A float initializer with zeros.
void add_zeros(onnx::ModelProto& model, const std::string& name, std::initializer_list<std::int64_t> dims) {
  onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  std::size_t count = 1;
  for (const std::int64_t dim : dims) {
    tensor.add_dims(dim);
    count *= static_cast<std::size_t>(dim);
  }
  tensor.set_raw_data(std::string(count * sizeof(float), '\0'));
}

TEST_CASE("types and shapes follow from inputs, constants and declarations", "[model][door]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 13]>
    g (float[N,3,8,8] x, float[4,3,3,3] w, float[16,40] v) => (float[] y) <int64[2] shape = {0, -1}> {
      c = Conv<pads = [1,1,1,1], strides = [2,2]>(x, w)
      r = Relu(c)
      f = Reshape(r, shape)
      s = Shape(f)
      t = Transpose<perm = [1,0,2,3]>(c)
      i = Cast<to = 7>(t)
      y = ReduceMean<axes = [1], keepdims = 0>(c)
    })");
  proto.mutable_graph()->mutable_input()->DeleteSubrange(1, 2);
  add_zeros(proto, "w", {4, 3, 3, 3});
  add_zeros(proto, "v", {16, 40});  // more than a kilobyte: its bytes are not in the skeleton
  onnx::NodeProto& product = *proto.mutable_graph()->add_node();
  product.set_op_type("MatMul");
  product.add_input("v");
  product.add_input("v2");
  product.add_output("p");
  add_zeros(proto, "v2", {40, 2});
  const auto model = open_proto(proto);
  CHECK(type_text(*model, "c") == "float32[N,4,4,4]");
  CHECK(type_text(*model, "r") == "float32[N,4,4,4]");
  CHECK(type_text(*model, "f") == "float32[N,64]");
  CHECK(type_text(*model, "s") == "int64[2]");
  CHECK(type_text(*model, "t") == "float32[4,N,4,4]");
  CHECK(type_text(*model, "i") == "int64[4,N,4,4]");
  CHECK(type_text(*model, "y") == "float32[N,4,4]");
  CHECK(type_text(*model, "p") == "float32[16,2]");
  CHECK(model->warnings().empty());
}

TEST_CASE("a target that is computed gives a rank, in every operator set", "[model][door]") {
  for (const std::string opset : {"7", "9", "13", "14", "21"}) {
    INFO("operator set " << opset);
    const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : )" + opset + R"(]>
      g (float[N,6,M] x, int64[3] three, int64[k] open, int64[100] hundred, int64 scalar) => (float[] y)
      <int64[1] last = {-1}> {
        s = Shape(x)
        t = Concat<axis = 0>(s, last)
        y = Reshape(x, t)
        z = Relu(y)
        a = Reshape(x, three)
        b = Reshape(x, open)
        c = Reshape(x, hundred)
        d = Reshape(x, scalar)
      })");
    CHECK(type_text(*model, "y") == "float32[?,?,?,?]");
    CHECK(type_text(*model, "z") == "float32[?,?,?,?]");
    CHECK(type_text(*model, "a") == "float32[?,?,?]");
    for (const char* unknown : {"b", "c", "d"})
      CHECK(type_text(*model, unknown).find('[') == std::string::npos);
  }
}

TEST_CASE("a written model says no more than it did", "[model][door]") {
  const onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 13]>
    g (float[2] x) => (float[2] y) { a = Relu(x)  y = Relu(a) })");
  CHECK(written(open_proto(proto)).SerializeAsString() == proto.SerializeAsString());
}

TEST_CASE("types go into bodies and come out of them", "[model][door]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 16]>
    g (float[2,3] x, bool c, int64 n) => (float[] y, float[] z, float[] all) {
      y = If(c) <then_branch = t () => (float[] p) { p = Transpose(x) }, else_branch = e () => (float[] q) { k = Relu(x)  q = Transpose(k) }>
      z, all = Loop(n, c, x) <body = b (int64 i, bool go, float[2,3] state) => (bool go2, float[] next, float[] row) {
        go2 = Identity(go)  next = Relu(state)  row = ReduceSum<keepdims = 0>(next) }>
    })");
  CHECK(type_text(*model, "y") == "float32[3,2]");
  CHECK(type_text(*model, "z") == "float32");  // a loop may change the shape of what it carries
  CHECK(type_text(*model, "all") == "float32[?]");
}

TEST_CASE("types go through the model's own functions, with their attributes", "[model][door]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[2,3] x) => (int64[] y) { y = own.turn<kind = 7>(x) }
    <domain: "own", opset_import: ["" : 17]> turn<kind>(a) => (b) { t = Transpose(a)  b = Cast<to: int = @kind>(t) })");
  CHECK(type_text(*model, "y") == "int64[3,2]");
  CHECK(model->warnings().empty());
  CHECK(model->info().function_count == 1);
}

TEST_CASE("functions that call each other without end, or too often, are given up",
          "[model][door][hostile]") {
  const auto endless = open_text(R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[2] x) => (y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]> f(a) => (b) { b = own.h(a) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]> h(a) => (b) { b = own.f(a) })");
  CHECK(first_message(*endless, "shape_inference_failed").find("nested too deep") != std::string::npos);
  // Thirty functions, each calling the next one twice.
  std::string text =
      R"(<ir_version: 8, opset_import: ["" : 17, "own" : 1]> g (float[2] x) => (y) { y = own.f0(x) })";
  for (int i = 0; i < 30; ++i) {
    const std::string next = "own.f" + std::to_string(i + 1);
    text += "<domain: \"own\", opset_import: [\"\" : 17, \"own\" : 1]> f" + std::to_string(i) +
            "(a) => (c) { b = " + next + "(a)  c = " + next + "(b) }";
  }
  text += R"(<domain: "own", opset_import: ["" : 17]> f30(a) => (b) { b = Relu(a) })";
  const auto many = open_text(text);
  CHECK(first_message(*many, "shape_inference_failed").find("called too often") != std::string::npos);
}

TEST_CASE("Q and DQ have types at any version and in either domain", "[model][door]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>
    g (float[1,4] x) => (y) <float s = {0.5}, int8 z = {0}, uint16 wide = {0}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      plain = QuantizeLinear(d, s)
      chosen = QuantizeLinear<output_dtype = 5>(d, s)
      m = com.microsoft.QuantizeLinear(d, s, wide)
      y = com.microsoft.DequantizeLinear(m, s, wide)
    })");
  for (const std::int64_t opset : {13, 21, 25}) {
    INFO(opset);
    proto.mutable_opset_import(0)->set_version(opset);
    const auto model = open_proto(proto);
    CHECK(type_text(*model, "q") == "int8[1,4]");
    CHECK(type_text(*model, "d") == "float32[1,4]");
    CHECK(type_text(*model, "plain") == "uint8[1,4]");
    CHECK(type_text(*model, "chosen") == "int16[1,4]");
    CHECK(type_text(*model, "m") == "uint16[1,4]");
    CHECK(type_text(*model, "y") == "float32[1,4]");
  }
}

TEST_CASE("an operator set newer than the library is said by name", "[model][door]") {
  const auto model = open_text(R"(<ir_version: 11, opset_import: ["" : 24]>
    g (float[2,3] x) => (y) { a = Relu(x)  b = RMSNormalization(a, a)  c = Transpose(a)  y = Relu(b) })");
  CHECK(warning_codes(*model) ==
        Codes{"opset_newer_than_library", "operator_unknown", "ir_version_newer_than_library"});
  CHECK(first_message(*model, "operator_unknown").find("RMSNormalization (1)") != std::string::npos);
  CHECK(first_message(*model, "opset_newer_than_library").find("24") != std::string::npos);
  CHECK(type_text(*model, "c") == "float32[3,2]");
  CHECK(type_text(*model, "y") == "?");
}

TEST_CASE("types newer than the library are said by name", "[model][door]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[2] x) => (float[2] y) { y = Relu(x) })");
  onnx::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name("tiny");
  tensor.set_data_type(26);
  tensor.add_dims(4);
  tensor.set_raw_data("\x1b");
  const auto model = open_proto(proto);
  CHECK(warning_codes(*model) == Codes{"type_newer_than_library"});
  CHECK(type_text(*model, "tiny") == "int2[4]");
}

TEST_CASE("operators of other domains are named, and what is behind them stays open", "[model][door]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]>
    g (float[2] x) => (float[] y) { a = com.acme.Magic(x)  b = com.acme.Magic(a)  c = Relu(b)  y = Cast<to = 1>(c) })");
  CHECK(warning_codes(*model) == Codes{"operator_unknown"});
  CHECK(first_message(*model, "operator_unknown").find("com.acme.Magic (2)") != std::string::npos);
  CHECK(type_text(*model, "c") == "?");
  CHECK(type_text(*model, "y") == "float32");
}

TEST_CASE("experimental operators don't reach the standard output", "[model][door]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 8]>
    g (float[2] x) => (float[2] y) { y = Affine(x) })");
  CHECK(warning_codes(*model) == Codes{"operator_unknown", "operator_unknown"});
}

TEST_CASE("the checker's objection is a warning with its reason", "[model][door]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) { y = Relu<nonsense = 1>(x) })");
  CHECK(warning_codes(*model) == Codes{"shape_inference_failed", "checker_failed"});
  CHECK(first_message(*model, "checker_failed").find("nonsense") != std::string::npos);
}

TEST_CASE("bulk, sparse and inner tensors don't trouble the checker", "[model][door]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[40,40] x, bool c) => (float[40,40] y) {
      y = If(c) <then_branch = t () => (float[40,40] p) { p = MatMul(x, w) }, else_branch = e () => (float[40,40] q) { q = Relu(x) }>
    })");
  onnx::GraphProto& body = *proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  onnx::ModelProto holder;
  add_zeros(holder, "w", {40, 40});
  *body.add_initializer() = holder.graph().initializer(0);
  onnx::SparseTensorProto& sparse = *proto.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = holder.graph().initializer(0);
  sparse.mutable_values()->set_name("sparse");
  sparse.mutable_values()->clear_dims();
  sparse.mutable_values()->add_dims(1600);
  sparse.add_dims(4000);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(1600);
  for (int i = 0; i < 1600; ++i) sparse.mutable_indices()->add_int64_data(i);
  const auto model = open_proto(proto);
  CHECK(model->warnings().empty());
  CHECK_FALSE(tensor(*model, "sparse").constant);
}

TEST_CASE("a node that contradicts its operator is named, and the rest goes on", "[model][door]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3] x, float[5] v) => (float[] y) { a = Add(x, v)  b = Relu(x)  y = Relu(b) })");
  CHECK(warning_codes(*model) == Codes{"shape_inference_failed"});
  CHECK(first_message(*model, "shape_inference_failed").find("\"@a\" (Add)") != std::string::npos);
  CHECK(type_text(*model, "y") == "float32[2,3]");
}

TEST_CASE("a declaration that inference contradicts stands, and it is said", "[model][door]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3] x) => (float[3,4] y) { y = Transpose(x) })");
  CHECK(warning_codes(*model) == Codes{"shape_inference_failed"});
  CHECK(type_text(*model, "y") == "float32[3,4]");
}

// Each of these made the library divide by zero, read foreign memory, or run for hours.
TEST_CASE("nodes that the library can't be trusted with are left out", "[model][door][hostile]") {
  const char* const nodes[] = {
      "y = Conv<strides = [0]>(x, w)",
      "y = Conv<auto_pad = \"SAME_UPPER\", strides = [2]>(huge, w)",
      "y = Conv(x, deep)",
      "y = SpaceToDepth<blocksize = 7777>(image)",
      "y = Einsum<equation = \"...ij,jk->ik\">(flat, flat)",
      "y = Reshape(huge, shape)",
      "y = Expand(x, many)",
      "y = GatherND<batch_dims = -3>(flat, ints)",
      "y, z = Split<num_outputs = 7777>(x)",
  };
  for (const char* node : nodes) {
    INFO(node);
    onnx::ModelProto proto = parse_text(
        std::string(
            R"(<ir_version: 8, opset_import: ["" : 18]> g (float[1,3,8] x, float[4,3,3] w, float[4,3,3,2,2,2] deep,
          float[1,3,70368744177664] huge, float[1,4,8,8] image, float[5] flat, int64[2,2] ints, int64[1099511627776] many)
          => (y) <int64[3] shape = {4294967295, 4294967297, -1}> { )") +
        node + " }");
    // The text syntax has no integers beyond a C long, which is short in WebAssembly.
    for (auto& attribute : *proto.mutable_graph()->mutable_node(0)->mutable_attribute()) {
      if (attribute.i() == 7777) attribute.set_i(std::int64_t{1} << 32);
    }
    const auto model = open_proto(proto);
    CHECK(warning_codes(*model)[0] == "shape_inference_failed");
  }
}

TEST_CASE("ranks and nesting that grow with every node stop growing", "[model][door][hostile]") {
  std::string ranks = R"(<ir_version: 8, opset_import: ["" : 17]> g (int64[2,2,2] t0) => (y) { )";
  std::string nesting = R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2] t0) => (y) { )";
  for (int i = 0; i < 60; ++i) {
    const std::string from = "t" + std::to_string(i);
    const std::string to = "t" + std::to_string(i + 1);
    ranks += to + " = Gather(" + from + ", " + from + ") ";
    nesting += to + " = Optional(" + from + ") ";
  }
  const auto wide = open_text(ranks + "y = Relu(t60) }");
  CHECK(tensor(*wide, "t4").shape->size() == 33);  // 3, 5, 9, 17, 33: twice the rank, less one
  CHECK_FALSE(tensor(*wide, "t6").shape.has_value());
  CHECK(type_text(*wide, "t60") == "int64");
  const auto deep = open_text(nesting + "y = Relu(t60) }");
  CHECK(deep->graph().nodes().size() == 61);
}

TEST_CASE("shapes given to the library have readable room behind their last dimension",
          "[model][door][hostile]") {
  PaddedTypes pool;
  for (int round = 0; round < 3; ++round) {
    pool.reset(0);
    const onnx::TypeProto given = type_proto(DataType::kFloat, std::vector<Dimension>{{7, {}}});
    const onnx::TypeProto* padded = pool.add(given);
    CHECK(padded->SerializeAsString() == given.SerializeAsString());
    const auto& dims = padded->tensor_type().shape().dim();
    REQUIRE(dims.size() == 1);
    REQUIRE(dims.Capacity() >= 2 * kMaxRank);
    // Beyond size() on purpose: the elements exist, and say nothing.
    for (int i = 1; i < 2 * kMaxRank; ++i) CHECK_FALSE(dims.data()[i]->has_dim_value());
    const onnx::TypeProto* open = pool.add(type_proto(DataType::kInt8, std::nullopt));
    CHECK_FALSE(open->tensor_type().has_shape());
  }
}

}  // namespace
}  // namespace halftone::test
