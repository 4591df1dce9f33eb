// Raising the operator set: what changes is converted, what doesn't is left as it is.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "model/model_data.h"
#include "model/text_models.h"

namespace halftone::test {
namespace {

using Texts = std::vector<std::string>;

std::shared_ptr<const Model> raise(const std::shared_ptr<const Model>& model, std::int64_t version) {
  Result<std::shared_ptr<const Model>> made = model->with_opset(version);
  INFO((made.ok() ? std::string() : made.error().message));
  REQUIRE(made.ok());
  return made.value();
}

Error raise_error(const std::shared_ptr<const Model>& model, std::int64_t version) {
  const Result<std::shared_ptr<const Model>> made = model->with_opset(version);
  REQUIRE_FALSE(made.ok());
  return made.error();
}

std::vector<std::int64_t> int64_constant(const Model& model, TensorId id) {
  const Result<ConstantTensor> value = model.constant(id);
  REQUIRE(value.ok());
  std::vector<std::int64_t> made(value.value().bytes.size() / sizeof(std::int64_t));
  std::memcpy(made.data(), value.value().bytes.data(), made.size() * sizeof(std::int64_t));
  return made;
}

TEST_CASE("from 9 to 13: attributes become inputs, names stay", "[model][opset]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 4, opset_import: ["" : 9]>
    g (float[1,3,8,8] x) => (float[1,3,4,4] y) <float[1] alpha = {0.5}> {
      c = Clip<min = 0.0, max = 6.0>(x)
      p = MaxPool<kernel_shape = [2,2], strides = [2,2]>(c)
      s = Slice<axes = [1], starts = [0], ends = [3]>(p)
      a = Add(s, alpha)
      u = Unsqueeze<axes = [0]>(a)
      q = Squeeze<axes = [0]>(u)
      y = Relu(q)
    })");
  name_nodes(proto, {"clip", "pool", "slice", "add", "up", "down", "relu"});
  const auto base = open_proto(proto);
  const auto made = raise(base, 13);
  CHECK(objection(made) == "");
  CHECK(made->graph().opset() == 13);
  CHECK(base->graph().opset() == 9);
  CHECK(made->info().opsets == std::vector<std::pair<std::string, std::int64_t>>{{"", 13}});
  for (const char* name : {"clip", "pool", "slice", "add", "up", "down", "relu"}) {
    INFO(name);
    CHECK(made->graph().find_node(name) != kNone);
  }
  for (const char* name : {"c", "p", "s", "a", "u", "q", "y"}) CHECK(tensor(*made, name).producer != kNone);
  const Graph& graph = made->graph();
  const GraphNode& clip = graph.node(graph.find_node("clip"));
  REQUIRE(clip.inputs.size() == 3);
  CHECK(graph.attribute(graph.find_node("clip"), "min") == nullptr);
  const Result<ConstantTensor> high = made->constant(clip.inputs[2]);
  REQUIRE(high.ok());
  float six = 0;
  REQUIRE(high.value().bytes.size() == sizeof(float));
  std::memcpy(&six, high.value().bytes.data(), sizeof(float));
  CHECK(six == 6.0F);
  CHECK(int64_constant(*made, graph.node(graph.find_node("up")).inputs[1]) == std::vector<std::int64_t>{0});
  CHECK(int64_constant(*made, graph.node(graph.find_node("slice")).inputs[2]) ==
        std::vector<std::int64_t>{3});
  // What didn't change kept its attributes.
  const AttributeView* kernel = graph.attribute(graph.find_node("pool"), "kernel_shape");
  REQUIRE(kernel != nullptr);
  CHECK(std::vector<std::int64_t>(kernel->ints.begin(), kernel->ints.end()) ==
        std::vector<std::int64_t>{2, 2});
  CHECK(type_text(*made, "s") == "float32[1,3,4,4]");
  CHECK(type_text(*made, "c") == "float32[1,3,8,8]");
}

TEST_CASE("from 11 to 13: reductions, splits, and Softmax over several axes", "[model][opset]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 6, opset_import: ["" : 11]>
    g (float[2,4,3] x) => (float[2,3] y, float[2,4,3] z) {
      a, b = Split<axis = 1, split = [1, 3]>(x)
      y = ReduceSum<axes = [2], keepdims = 0>(b)
      z = Softmax<axis = 1>(x)
    })");
  name_nodes(proto, {"split", "sum", "soft"});
  const auto made = raise(open_proto(proto), 13);
  CHECK(objection(made) == "");
  const Graph& graph = made->graph();
  CHECK(int64_constant(*made, graph.node(graph.find_node("split")).inputs[1]) ==
        std::vector<std::int64_t>{1, 3});
  CHECK(graph.int_attribute(graph.find_node("sum"), "keepdims", 1) == 0);
  CHECK(graph.int_attribute(graph.find_node("split"), "axis", 0) == 1);
  // Flattened before, back in shape after; the graph output keeps its name, the node its own.
  CHECK(graph.node(tensor(*made, "z").producer).op_type == "Reshape");
  CHECK(graph.int_attribute(graph.find_node("soft"), "axis", 1) == -1);
  CHECK(type_text(*made, "y") == "float32[2,3]");
}

TEST_CASE("from 13 to 21: nothing that is the same is touched", "[model][opset]") {
  onnx::ModelProto proto =
      parse_text(R"(<ir_version: 7, opset_import: ["" : 13, "com.acme" : 3], producer_name: "maker">
    g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}> {
      k = Constant<value = float[2] {0.5, 0.25}>()
      h = MatMul(x, w)
      m = com.acme.Magic<level = 3>(h)
      n = BatchNormalization(m, k, k, k, k)
      y = Relu(n)
    })");
  name_nodes(proto, {"k_node", "matmul", "magic", "bn", "relu"});
  const auto base = open_proto(proto);
  const auto made = raise(base, 21);
  CHECK(node_texts(*made) == node_texts(*base));
  onnx::ModelProto expected = written(base);
  expected.mutable_opset_import(0)->set_version(21);
  onnx::ModelProto actual = written(made);
  CHECK(actual.SerializeAsString() == expected.SerializeAsString());
  CHECK(type_text(*made, "h") == "float32[1,2]");
}

TEST_CASE("Upsample becomes Resize", "[model][opset]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 4, opset_import: ["" : 9]>
    g (float[1,1,2,2] x) => (float[1,1,H,W] y) <float[4] scales = {1, 1, 2, 2}> { y = Upsample<mode = "nearest">(x, scales) })");
  name_nodes(proto, {"up"});
  const auto made = raise(open_proto(proto), 13);
  CHECK(objection(made) == "");
  CHECK(made->graph().node(made->graph().find_node("up")).op_type == "Resize");
  CHECK(type_text(*made, "y") == "float32[1,1,4,4]");
}

TEST_CASE("bodies are converted with what they read from outside", "[model][opset]") {
  const auto base = open_text(R"(<ir_version: 7, opset_import: ["" : 11]>
    g (float[2,3] x, bool c) => (float[2] y) {
      y = If(c) <then_branch = t () => (float[2] p) { p = ReduceSum<axes = [1], keepdims = 0>(x) },
                 else_branch = e () => (float[2] q) { r = Relu(x)  q = ReduceSum<axes = [1], keepdims = 0>(r) }>
    })");
  const auto made = raise(base, 13);
  CHECK(objection(made) == "");
  const onnx::ModelProto proto = written(made);
  for (const auto& attribute : proto.graph().node(0).attribute()) {
    INFO(attribute.name());
    REQUIRE(attribute.g().initializer_size() + attribute.g().node_size() >
            2 - (attribute.name() == "then_branch" ? 1 : 0));
    const onnx::NodeProto& sum = attribute.g().node(attribute.g().node_size() - 1);
    CHECK(sum.op_type() == "ReduceSum");
    CHECK(sum.input_size() == 2);
  }
}

TEST_CASE("bulk weights stay where they are, in Constant nodes too", "[model][opset]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 4, opset_import: ["" : 9]>
    g (float[1,400] x) => (float[1,400] y) { k = Constant<value = float[1] {0}>()  y = Add(x, k) })");
  onnx::TensorProto& value = *proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_t();
  value.Clear();
  value.set_data_type(onnx::TensorProto::FLOAT);
  value.add_dims(400);
  for (int i = 0; i < 400; ++i) value.add_float_data(static_cast<float>(i));
  const auto base = open_proto(proto);
  const auto made = raise(base, 13);
  CHECK(made->data()->store == base->data()->store);
  CHECK(written(made).graph().node(0).SerializeAsString() == proto.graph().node(0).SerializeAsString());
  CHECK(objection(made) == "");
}

TEST_CASE("an old model whose conversion makes constants is raised, too", "[model][opset]") {
  const auto base = open_text(R"(<ir_version: 3, opset_import: ["" : 9]>
    g (float[1,2] x, float[1,2] w) => (float[1,1,2] y) <float[1,2] w = {1, 2}> { a = Add(x, w)  y = Unsqueeze<axes = [0]>(a) })");
  const auto made = raise(base, 13);
  CHECK(objection(made) == "");
  CHECK(type_text(*made, "y") == "float32[1,1,2]");
}

TEST_CASE("functions follow if their operators mean the same", "[model][opset]") {
  const std::string head =
      R"(<ir_version: 8, opset_import: ["" : 13, "own" : 1]> g (float[2] x) => (y) { y = own.f(x) })";
  const auto same =
      open_text(head + R"(<domain: "own", opset_import: ["" : 13]> f(i) => (o) { o = MatMul(i, i) })");
  const auto made = raise(same, 21);
  CHECK(written(made).functions(0).opset_import(0).version() == 21);
  const auto other = open_text(
      head + R"(<domain: "own", opset_import: ["" : 13]> f(i) => (o) { o = ReduceMean<axes = [0]>(i) })");
  const Error error = raise_error(other, 21);
  CHECK(error.code == ErrorCode::kUnsupportedOpset);
  CHECK(error.message.find("\"f\"") != std::string::npos);
}

TEST_CASE("what can't be raised is refused with a reason", "[model][opset]") {
  const auto base =
      open_text(R"(<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (float[2] y) { y = Relu(x) })");
  CHECK(raise(base, 13)->data() == base->data());
  CHECK(raise_error(base, 12).message.find("lowering") != std::string::npos);
  CHECK(raise_error(base, 23).message.find("newer") != std::string::npos);
  const auto unknown =
      open_text(R"(<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (y) { y = Nonsense(x) })");
  CHECK(raise_error(unknown, 17).message.find("\"@y\" (Nonsense)") != std::string::npos);
  const auto ancient = open_text(R"(<ir_version: 3, opset_import: ["" : 6]>
    g (float[2,2] x) => (y) { y = Add<axis = 0, broadcast = 1>(x, x) })");
  CHECK(raise_error(ancient, 13).code == ErrorCode::kUnsupportedOpset);
  const auto foreign =
      open_text(R"(<ir_version: 8, opset_import: ["own" : 1]> g (float[2] x) => (y) { y = own.F(x) })");
  CHECK(raise_error(foreign, 13).code == ErrorCode::kUnsupportedOpset);
  const auto impossible = open_text(R"(<ir_version: 8, opset_import: ["" : 13]>
    g (float[2] x, float[1] s) => (y, m, v) { y, m, v = BatchNormalization(x, s, s, s, s) })");
  const Error error = raise_error(impossible, 17);
  CHECK(error.code == ErrorCode::kUnsupportedOpset);
  CHECK(error.message.find("BatchNormalization") != std::string::npos);
}

}  // namespace
}  // namespace halftone::test
