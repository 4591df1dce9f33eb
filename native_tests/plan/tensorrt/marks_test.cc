// The handler table, shared pairs, and ModelOpt's remove_partial_input_qdq.
#include "plan/tensorrt/marks.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/example_graphs.h"

namespace halftone::test {
namespace {

using tensorrt::Mark;
using tensorrt::MarkKind;
using tensorrt::Peer;

// Every node listed, so that the handler table shows whatever the policy would choose.
Placed all_listed(const PolicyCase& graph, Peer peer = Peer::kCorrect) {
  PlacedOptions options;
  options.peer = peer;
  options.policy.dla = true;
  return Placed(graph, options);
}

std::int32_t weight_axis(const PolicyCase& graph, Peer peer, std::int32_t input = 1) {
  const Placed placed = all_listed(graph, peer);
  const Mark& mark = placed.policy().marks.readings.at({placed.node("n"), input}).constant;
  REQUIRE(mark.kind == MarkKind::kWeight);
  return mark.axis;
}

TEST_CASE("The handler table: which inputs each operator reads quantized", "[plan][tensorrt]") {
  const auto reads = [](const char* line, const Attributes& attributes = {}) {
    PolicyCase graph;
    graph.input("x", {2, 32, 8, 8})
        .input("m", {32, 32})
        .integers("count", {1})
        .weight("wf", {32, 32})
        .weight("wt", {32, 32, 1, 1})
        .weight("scales", {4})
        .weight("k", {32, 1, 1});
    for (const char* name : {"s", "b", "mean", "var", "low"})
      graph.weight(name, name == std::string("low") ? Dims{} : Dims{32});
    graph.node(line, attributes).output("y");
    return all_listed(graph).reads("n");
  };
  CHECK(reads("y = Conv(x, w1, b) #n") == "DQ(x) DQ(w1) b");
  CHECK(reads("y = ConvTranspose(x, wt, b) #n") == "DQ(x) DQ(wt) b");
  CHECK(reads("y = Gemm(m, wf, b) #n") == "DQ(m) DQ(wf) b");
  CHECK(reads("y = MatMul(m, wf) #n") == "DQ(m) DQ(wf)");
  CHECK(reads("y = MatMul(wf, m) #n") == "DQ(wf) DQ(m)");
  CHECK(reads("y = BatchNormalization(x, s, b, mean, var) #n") == "DQ(x) s b mean var");
  CHECK(reads("y = LRN(x) #n", {{"size", std::int64_t{3}}}) == "DQ(x)");
  CHECK(reads("y = MaxPool(x) #n", {{"kernel_shape", std::vector<std::int64_t>{2, 2}}}) == "DQ(x)");
  CHECK(reads("y = Resize(x, _, scales) #n") == "DQ(x) - scales");
  CHECK(reads("y, i = TopK(x, count) #n") == "DQ(x) count");
  CHECK(reads("y = Clip(x, low) #n") == "x low");
  CHECK(reads("y = Add(x, k) #n") == "DQ(x) DQ(k)");
  CHECK(reads("y = Mul(k, x) #n") == "DQ(k) DQ(x)");
  CHECK(reads("y = GlobalAveragePool(x) #n") == "DQ(x)");
  CHECK(reads("y = HardSwish(x) #n") == "DQ(x)");
  CHECK(reads("y = Gather(x, count) #n") == "DQ(x) count");  // float inputs only
}

TEST_CASE("Scales of weights lie along the output channels", "[plan][tensorrt]") {
  const auto graph = [](const char* line, const Dims& weight, const Attributes& attributes = {}) {
    PolicyCase built;
    built.input("x", {2, 32, 32, 32}).input("m", {32, 32}).weight("k", weight);
    return std::move(built.node(line, attributes).output("y"));
  };
  for (const Peer peer : {Peer::kCorrect, Peer::kReproduce}) {
    CHECK(weight_axis(graph("y = Conv(x, k) #n", {32, 32, 1, 1}), peer) == 0);
    CHECK(weight_axis(graph("y = ConvTranspose(x, k) #n", {32, 32, 1, 1}), peer) == 1);
    CHECK(weight_axis(graph("y = Gemm(m, k) #n", {32, 32}), peer) == 1);
    CHECK(weight_axis(graph("y = Gemm(m, k) #n", {32, 32}, {{"transB", std::int64_t{1}}}), peer) == 0);
    CHECK(weight_axis(graph("y = MatMul(m, k) #n", {32, 32}), peer) == 1);
    CHECK(weight_axis(graph("y = MatMul(m, k) #n", {32}), peer) == -1);     // one scale
    CHECK(weight_axis(graph("y = Add(x, k) #n", {32, 1, 1}), peer) == -1);  // an operand, no weight
  }
}

TEST_CASE("A pair on a tensor is everybody's, selected or not, and graph inputs have one too",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .nodes("t = Tanh(x) #tanh; c = Conv(x, w1) #conv; y = Sub(c, t) #sub")
      .output("y");
  const Placed placed(graph);
  CHECK(placed.reads() == Lines{"tanh: DQ(x)", "conv: DQ(x) DQ(w1)", "sub: c t"});
  CHECK(placed.policy().marks.tensors[static_cast<std::size_t>(placed.tensor("x"))].by ==
        placed.node("conv"));
}

TEST_CASE("Integer inputs and omitted ones are never marked", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8}).integers("shape", {2, 32, 64}).node("y = Reshape(x, shape) #n").output("y");
  const Placed placed = all_listed(graph);
  CHECK(placed.reads("n") == "DQ(x) shape");
  CHECK(placed.policy().marks.unknown_types.empty());
}

// The residual block with a convolution behind it.
PolicyCase block_and_conv() {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .nodes(
          "c1 = Conv(x, w1) #conv1; r1 = Relu(c1) #relu1; c2 = Conv(r1, w2) #conv2; r2 = Relu(c2) #relu2;"
          "c3 = Conv(r2, w3) #conv3; a = Add(c3, r1) #add; r3 = Relu(a) #relu3; y = Conv(r3, w4) #conv4")
      .output("y");
  return graph;
}

TEST_CASE("remove_partial_input_qdq: an Add's skip is raw too where its tensor is read raw by decree",
          "[plan][tensorrt]") {
  const auto reads = [](const char* excluded) {
    const Placed placed(block_and_conv(), {Peer::kCorrect, {}, {excluded}});
    return placed.reads("conv2") + " / " + placed.reads("conv3") + " / " + placed.reads("add");
  };
  CHECK(reads("conv2") == "r1 w2 / DQ(r2) DQ(w3) / c3 r1");
  CHECK(reads("conv3") == "DQ(r1) DQ(w2) / r2 w3 / c3 DQ(r1)");
  // The shared tensor: an excluded Add goes on reading the pair that conv2 needs.
  CHECK(reads("add") == "DQ(r1) DQ(w2) / DQ(r2) DQ(w3) / c3 DQ(r1)");
}

TEST_CASE("remove_partial_input_qdq: pairs that nobody reads disappear, unless they make a graph output",
          "[plan][tensorrt]") {
  const auto marked = [](bool is_output) {
    PolicyCase graph = block_and_conv();
    if (is_output) graph.output("r1");
    const Placed placed(graph, {Peer::kCorrect, {}, {"conv2"}});
    return placed.policy().marks.tensors[static_cast<std::size_t>(placed.tensor("r1"))].kind;
  };
  CHECK(marked(false) == MarkKind::kNone);
  CHECK(marked(true) == MarkKind::kActivation);
}

TEST_CASE("remove_partial_input_qdq: only the producer's output 0 and the first reading are put back",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .nodes("p, q = Split(x) #split; s = Add(p, p) #twice; t = Mul(q, s) #mul")
      .output("t");
  const std::shared_ptr<const Model> model = graph.open();
  const tensorrt::PolicyGraph view(model->graph(), Peer::kCorrect);
  const std::vector<bool> all(model->graph().nodes().size(), true);
  const std::vector<bool> none(all.size(), false);
  tensorrt::Marks marks = mark_inputs(view, choose_listed_nodes(view, all, none),
                                      [](std::string_view op) { return op != "Split"; });
  const auto id = [&](const char* label) { return model->graph().find_node(label); };
  const auto tensor = [&](const char* name) { return model->graph().find_tensor(name); };
  const auto quantized = [&](const char* label, std::int32_t input) {
    return marks.quantized(model->graph(), {id(label), input});
  };
  REQUIRE(quantized("twice", 0));
  REQUIRE(quantized("twice", 1));
  // An edge about output 1 puts back nothing; one about output 0 a single reading.
  remove_partial_input_qdq(view, {{id("split"), id("mul"), tensor("q")}}, marks);
  CHECK(quantized("mul", 0));
  remove_partial_input_qdq(view, {{id("twice"), id("mul"), tensor("s")}}, marks);
  CHECK(quantized("mul", 0));
  CHECK_FALSE(quantized("mul", 1));
}

TEST_CASE("A tensor of unknown type is listed and not marked", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .node("u = Mystery(x) #mystery", {}, "custom")
      .node("y = Conv(u, w1) #conv")
      .output("y");
  const Placed placed(graph);
  CHECK(placed.reads("conv") == "u DQ(w1)");
  CHECK(placed.policy().marks.unknown_types == std::vector<TensorId>{placed.tensor("u")});
}

}  // namespace
}  // namespace halftone::test
