// The graph index: ids, producers, consumers, order, labels; and every way in which a graph can contradict
// itself.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "model/graph_builder.h"
#include "model/graph_scopes.h"
#include "model/text_models.h"

namespace halftone::test {
namespace {

std::vector<std::string> tensor_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphTensor& item : graph.tensors()) names.push_back(item.name);
  return names;
}

// relu_0 -> relu_1 -> …, with `count` nodes.
onnx::ModelProto chain(int count) {
  onnx::ModelProto model = parse_text(
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2] t0) => (float[2] y) { y = Relu(t0) })");
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.clear_node();
  graph.mutable_output(0)->set_name("t" + std::to_string(count));
  for (int i = 0; i < count; ++i) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Relu");
    node.add_input("t" + std::to_string(i));
    node.add_output("t" + std::to_string(i + 1));
  }
  return model;
}

// Ifs inside each other, the innermost reading `x`.
onnx::ModelProto nested_ifs(int depth) {
  onnx::ModelProto model = parse_text(
      R"(<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[2] x) => (float[2] y) { y = Identity(x) })");
  onnx::GraphProto body = model.graph();
  body.clear_input();
  for (int i = 0; i < depth; ++i) {
    onnx::GraphProto outer;
    outer.set_name("level");
    onnx::NodeProto& node = *outer.add_node();
    node.set_op_type("If");
    node.add_input("c");
    node.add_output("y");
    for (const char* name : {"then_branch", "else_branch"}) {
      onnx::AttributeProto& attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::GRAPH);
      *attribute.mutable_g() = body;
      if (i > 0) break;  // both branches all the way down would be 2^depth bodies
    }
    *outer.add_output() = body.output(0);
    body = outer;
  }
  *body.mutable_input() = model.graph().input();
  *model.mutable_graph() = body;
  return model;
}

TEST_CASE("tensors come in the order of sites, with their roles", "[model][graph]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 3, opset_import: ["" : 9, "ai.onnx.ml" : 1]>
    g (float[1,2] x, float[2,2] w, float[2] unused) => (float[1,2] y, float[1,2] h)
    <float[2,2] w = {1,2,3,4}, float[2] unused = {5,6}, float[2] b = {7,8}> {
      h = MatMul(x, w)
      a = Add(h, b)
      y = Add(a, h)
    })");
  name_nodes(proto, {"first", "", "first"});
  const auto model = open_proto(proto);
  const Graph& graph = model->graph();
  CHECK(tensor_names(graph) == std::vector<std::string>{"x", "w", "h", "b", "a", "y", "unused"});
  REQUIRE(graph.inputs().size() == 1);
  CHECK(graph.tensor(graph.inputs()[0]).name == "x");
  REQUIRE(graph.outputs().size() == 2);
  CHECK(graph.tensor(graph.outputs()[0]).name == "y");
  CHECK(tensor(*model, "x").graph_input);
  CHECK_FALSE(tensor(*model, "w").graph_input);
  CHECK(tensor(*model, "w").initializer);
  CHECK(tensor(*model, "w").constant);
  CHECK(tensor(*model, "unused").initializer);
  CHECK(tensor(*model, "h").graph_output);
  CHECK(tensor(*model, "h").producer == 0);
  REQUIRE(tensor(*model, "h").consumers.size() == 2);
  CHECK(tensor(*model, "h").consumers[0].node == 1);
  CHECK(tensor(*model, "h").consumers[0].input == 0);
  CHECK(tensor(*model, "h").consumers[1].node == 2);
  CHECK(tensor(*model, "h").consumers[1].input == 1);
  CHECK(graph.opset() == 9);
  CHECK(graph.opset("ai.onnx") == 9);
  CHECK(graph.opset("ai.onnx.ml") == 1);
  CHECK(graph.opset("com.microsoft") == 0);
  CHECK(graph.find_tensor("nothing") == kNone);
}

TEST_CASE("node labels are names where those are unique, else first outputs", "[model][graph]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] e) { a = Relu(x)  b = Relu(a)  c = Relu(b)  d = Relu(c)  e = Relu(d) })");
  name_nodes(proto, {"one", "two", "two", "", "@a"});
  const auto model = open_proto(proto);
  const Graph& graph = model->graph();
  const std::vector<std::string> labels = {"one", "@b", "@c", "@d", "@e"};
  for (NodeId id = 0; id < 5; ++id) {
    CHECK(graph.node_label(id) == labels[static_cast<std::size_t>(id)]);
    CHECK(graph.find_node(labels[static_cast<std::size_t>(id)]) == id);
  }
  CHECK(graph.find_node("two") == kNone);
  CHECK(graph.find_node("@a") == 0);  // a label of the first node in a model where its name isn't unique
  CHECK(graph.find_node("@x") == kNone);
  CHECK(graph.find_node("@") == kNone);
}

TEST_CASE("only a node's first output is its label", "[model][graph]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[4] x) => (float[2] a, float[2] b) { a, b = Split <num_outputs = 2> (x) })");
  CHECK(model->graph().find_node("@a") == 0);
  CHECK(model->graph().find_node("@b") == kNone);
}

TEST_CASE("omitted inputs and outputs keep their places", "[model][graph]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x, float hi) => (float[2] y) { y = Clip(x, , hi) })");
  const GraphNode& clip = model->graph().node(0);
  REQUIRE(clip.inputs.size() == 3);
  CHECK(clip.inputs[1] == kNone);
  CHECK(tensor(*model, "hi").consumers[0].input == 2);
}

TEST_CASE("attributes are found by name", "[model][graph]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2,3] x) => (float[3,2] y) { t = Transpose<perm = [1, 0]>(x)  y = LeakyRelu<alpha = 0.5>(t) })");
  const Graph& graph = model->graph();
  const AttributeView* perm = graph.attribute(0, "perm");
  REQUIRE(perm != nullptr);
  CHECK(std::vector<std::int64_t>(perm->ints.begin(), perm->ints.end()) == std::vector<std::int64_t>{1, 0});
  CHECK(graph.float_attribute(1, "alpha", 0.01F) == 0.5F);
  CHECK(graph.float_attribute(1, "beta", 7.0F) == 7.0F);
  CHECK(graph.int_attribute(1, "alpha", 3) == 3);
  CHECK(graph.attribute(1, "gamma") == nullptr);
}

TEST_CASE("what bodies read from around them is marked, through any depth", "[model][graph]") {
  const auto model = open_proto(nested_ifs(3));
  CHECK(tensor(*model, "x").read_by_subgraph);
  CHECK(tensor(*model, "x").consumers.empty());
  CHECK(tensor(*model, "c").read_by_subgraph);
  CHECK(tensor(*model, "c").consumers.size() == 1);
  CHECK(model->graph().node(0).has_subgraph);
  CHECK_FALSE(tensor(*model, "y").read_by_subgraph);
}

TEST_CASE("nodes out of order are read in order, and it is said", "[model][graph]") {
  const auto model = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) { y = Neg(b)  b = Abs(a)  a = Relu(x) })");
  const auto order = model->graph().topological_order();
  CHECK(std::vector<NodeId>(order.begin(), order.end()) == std::vector<NodeId>{2, 1, 0});
  CHECK(warning_codes(*model)[0] == "nodes_out_of_order");
  CHECK(type_text(*model, "b") == "float32[2]");
}

TEST_CASE("a graph output that is listed twice counts once", "[model][graph]") {
  onnx::ModelProto proto = chain(1);
  *proto.mutable_graph()->add_output() = proto.graph().output(0);
  const auto model = open_proto(proto);
  CHECK(model->graph().outputs().size() == 1);
  CHECK(warning_codes(*model) == std::vector<std::string>{"duplicate_graph_output"});
}

TEST_CASE("contradictions are refused with node and tensor", "[model][graph][hostile]") {
  const std::string head =
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, bool c) => (float[2] y) )";
  struct Case {
    const char* what;
    const char* nodes;
    const char* message;
    const char* where;
  };
  const Case cases[] = {
      {"cycle", "{ a = Add(x, b)  b = Relu(a)  y = Relu(b) }",
       "The graph has a cycle: node \"@b\" (Relu) depends on its own result through the tensor \"a\".", "a"},
      {"self", "{ y = Add(x, y) }",
       "The graph has a cycle: node \"@y\" (Add) depends on its own result through the tensor \"y\".", "y"},
      {"cycle through a body",
       "{ y = If(c) <then_branch = t () => (float[2] p) { p = Relu(y) }, else_branch = e () => (float[2] q) "
       "{ q = Relu(x) }> }",
       "The graph has a cycle: node \"@y\" (If) depends on its own result through the tensor \"y\".", "y"},
      {"cycle in a body",
       "{ y = If(c) <then_branch = t () => (float[2] p) { p = Relu(p) }, else_branch = e () => (float[2] q) "
       "{ q = Relu(x) }> }",
       "The graph has a cycle: node \"@p\" (Relu) depends on its own result through the tensor \"p\".", "p"},
      {"two producers", "{ y = Relu(x)  y = Abs(x) }",
       "The tensor \"y\" is defined twice, the second time by node \"@y\" (Abs).", "y"},
      {"an input overwritten", "{ x = Relu(c)  y = Abs(x) }",
       "The tensor \"x\" is defined twice, the second time by node \"@x\" (Relu).", "x"},
      {"no producer", "{ y = Add(x, lost) }",
       "Node \"@y\" (Add) reads the tensor \"lost\", which nothing in the model produces.", "lost"},
      {"no producer in a body",
       "{ y = If(c) <then_branch = t () => (float[2] p) { p = Relu(lost) }, else_branch = e () => (float[2] "
       "q) { q = Relu(x) }> }",
       "Node \"@y\" (If) reads the tensor \"lost\", which nothing in the model produces.", "lost"},
      {"no graph output", "{ z = Relu(x) }",
       "The list of graph outputs reads the tensor \"y\", which nothing in the model produces.", "y"},
  };
  for (const Case& bad : cases) {
    INFO(bad.what);
    const Error error = open_error(head + bad.nodes);
    CHECK(error.code == ErrorCode::kInvalidGraph);
    CHECK(error.message == bad.message);
    CHECK(error.where == bad.where);
    CHECK_FALSE(error.next.empty());
  }
}

TEST_CASE("doubled initializers and inputs are refused", "[model][graph][hostile]") {
  onnx::ModelProto proto = parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1] x) => (float[1] y) <float[1] w = {1}> { y = Add(x, w) })");
  onnx::ModelProto doubled = proto;
  *doubled.mutable_graph()->add_initializer() = proto.graph().initializer(0);
  CHECK(open_error(doubled).message ==
        "The tensor \"w\" is defined twice, the second time by an initializer.");
  doubled = proto;
  *doubled.mutable_graph()->add_input() = proto.graph().input(0);
  CHECK(open_error(doubled).message ==
        "The tensor \"x\" is defined twice, the second time by a graph input.");
}

TEST_CASE("hostile names are made printable in messages", "[model][graph][hostile]") {
  onnx::ModelProto proto = chain(1);
  proto.mutable_graph()->mutable_node(0)->set_input(0, "<b>\n\x1b[31m");
  const Error error = open_error(proto);
  CHECK(error.message.find('\n') == std::string::npos);
  CHECK(error.message.find('\x1b') == std::string::npos);
  CHECK(error.where.find('\x1b') == std::string::npos);
}

TEST_CASE("a model without a graph is refused", "[model][graph][hostile]") {
  onnx::ModelProto proto = chain(1);
  proto.clear_graph();
  CHECK(open_error(proto).message.find("no graph") != std::string::npos);
}

TEST_CASE("a long chain is indexed without recursion, in any order", "[model][graph][hostile]") {
  constexpr int kNodes = 100'000;
  onnx::ModelProto proto = chain(kNodes);
  const Result<BuiltGraph> straight = build_graph(proto);
  REQUIRE(straight.ok());
  CHECK(straight.value().in_file_order);
  for (int i = 0; i < kNodes / 2; ++i) proto.mutable_graph()->mutable_node()->SwapElements(i, kNodes - 1 - i);
  const Result<BuiltGraph> reversed = build_graph(proto);
  REQUIRE(reversed.ok());
  CHECK_FALSE(reversed.value().in_file_order);
  CHECK(reversed.value().parts.order.front() == kNodes - 1);
  CHECK(reversed.value().parts.order.back() == 0);
  // Closed to a ring: the cycle is found, also without recursion.
  proto.mutable_graph()->mutable_node(kNodes - 1)->set_input(0, "t" + std::to_string(kNodes));
  const Result<BuiltGraph> ring = build_graph(proto);
  REQUIRE_FALSE(ring.ok());
  CHECK(ring.error().code == ErrorCode::kInvalidGraph);
}

TEST_CASE("a long chain opens", "[model][graph][hostile]") {
  const auto model = open_proto(chain(100'000));
  CHECK(model->graph().nodes().size() == 100'000);
  CHECK(type_text(*model, "t99999") == "float32[2]");
  CHECK(model->warnings().empty());
}

TEST_CASE("bodies may be nested, but not without end", "[model][graph][hostile]") {
  CHECK(resolve_scopes(nested_ifs(kMaxSubgraphDepth).graph()).ok());
  const Result<GraphScopes> deeper = resolve_scopes(nested_ifs(kMaxSubgraphDepth + 1).graph());
  REQUIRE_FALSE(deeper.ok());
  CHECK(deeper.error().code == ErrorCode::kTooLarge);
  const auto model = open_proto(nested_ifs(15));
  CHECK(type_text(*model, "y") == "float32[2]");
}

TEST_CASE("the model tells about itself", "[model][graph]") {
  const auto model =
      open_text(R"(<ir_version: 8, opset_import: ["" : 17], producer_name: "maker", producer_version: "3",
      metadata_props: ["author" : "me"]>
    g (float[2] x, bool c) => (float[2] y) <float[2] w = {1,2}, int8[3] q = {1,2,3}, float s = {0.5}> {
      d = DequantizeLinear(q, s)
      k = Constant<value = float[2] {3, 4}>()
      z = If(c) <then_branch = t () => (float[2] p) <float[2] v = {1, 1}> { p = Add(x, v) },
                 else_branch = e () => (float[2] r) { r = Relu(x) }>
      y = Sum(x, w, k, z)
    })");
  const ModelInfo& info = model->info();
  CHECK(info.graph_name == "g");
  CHECK(info.ir_version == 8);
  CHECK(info.producer_name == "maker");
  CHECK(info.producer_version == "3");
  CHECK(info.metadata == std::vector<std::pair<std::string, std::string>>{{"author", "me"}});
  CHECK(info.parameter_count == 2 + 3 + 1 + 2 + 2);
  CHECK(info.parameter_bytes == 8 + 3 + 4 + 8 + 8);
  CHECK(info.quantized_pairs == 1);
  CHECK(info.file_bytes > 0);
}

}  // namespace
}  // namespace halftone::test
