// The catalogue of ModelOpt's faults that concern placement: by default we are right, and with
// Peer::kReproduce (--match modelopt) the answer is the peer's. Where a test doesn't say which, both agree.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "halftone/writer.h"
#include "plan/tensorrt/example_graphs.h"
#include "plan/tensorrt/partition_reading.h"

namespace halftone::test {
namespace {

using tensorrt::Peer;

using Ints = std::vector<std::int64_t>;

PlacedOptions matching() { return {Peer::kReproduce, {}, {}}; }

PolicyCase image_case(const std::string& lines, const char* output) {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8}).weight("k", {32, 1, 1}).nodes(lines).output(output);
  return graph;
}

Lines reads(const PolicyCase& graph) {
  const std::shared_ptr<const Model> model = graph.open();
  const Lines ours = Placed(model, {}).reads();
  CHECK(Placed(model, matching()).reads() == ours);
  return ours;
}

TEST_CASE("Q1: names of excluded nodes are exact, and patterns only for the peer",
          "[plan][tensorrt][fault]") {
  PolicyCase graph;
  graph.input("x", {4, 64})
      .input("z", {4, 64})
      .weight("narrow", {64, 1})
      .weight("wide", {64, 64})
      .nodes("a = MatMul(x, narrow) #MatMul_1; b = MatMul(z, wide) #MatMul_10; c = MatMul(x, narrow) #mm[0]");
  for (const char* name : {"a", "b", "c"}) graph.output(name);
  const Placed ours(graph);
  CHECK(ours.exclusions() == "MatMul_1:gemv mm[0]:gemv");
  CHECK(ours.reads("MatMul_10") == "DQ(z) DQ(wide)");
  CHECK(ours.reads("mm[0]") == "x narrow");
  const Placed theirs(graph, matching());
  CHECK(theirs.exclusions() == "MatMul_1:gemv MatMul_10:name_of_excluded");
  CHECK(theirs.reads("MatMul_10") == "z wide");
  CHECK(theirs.reads("mm[0]") == "DQ(x) DQ(narrow)");
}

TEST_CASE("Q2: the model that is planned stays as it was, byte for byte", "[plan][tensorrt][fault]") {
  const std::shared_ptr<const Model> model = attention(Scaling::kMul, Mask::kVariable, true).open();
  const std::vector<std::uint8_t> before = write_model(model, {}).value().model.flatten();
  const Placed placed(model, {});
  CHECK_FALSE(placed.selected().empty());
  CHECK(write_model(model, {}).value().model.flatten() == before);
}

TEST_CASE("Q3: an Exp on a graph input isn't constant; an Identity always is", "[plan][tensorrt][fault]") {
  // The peer fails on this graph.
  const PolicyCase exp = image_case(
      "e = Exp(x) #exp; p = GlobalAveragePool(x) #gap; a = Add(p, e) #add; y = Conv(a, w1) #conv", "y");
  CHECK(reads(exp) == Lines{"exp: DQ(x)", "gap: DQ(x)", "add: DQ(p) e", "conv: DQ(a) DQ(w1)"});
  const PolicyCase identity = image_case(
      "e = Identity(x) #same; p = GlobalAveragePool(x) #gap; a = Add(p, e) #add; y = Conv(a, w1) #conv", "y");
  CHECK(reads(identity) == Lines{"same: x", "gap: x", "add: p e", "conv: DQ(a) DQ(w1)"});
}

TEST_CASE("Q5: a residual Add makes the norm's parts read the pair", "[plan][tensorrt][fault]") {
  CHECK(Placed(rms_norm()).reads("pow") == "DQ(x) two");
  CHECK(Placed(rms_norm()).reads("div") == "DQ(x) sq");
  CHECK(Placed(rms_norm(), matching()).reads("div") == "DQ(x) sq");
  CHECK(Placed(attention(Scaling::kMul, Mask::kVariable, true)).reads("ln") == "DQ(x) g b");
}

TEST_CASE("Q6: every tensor of a gated product is quantized", "[plan][tensorrt][fault]") {
  CHECK(reads(swiglu()) == Lines{"gate: DQ(x) DQ(wg)", "up: DQ(x) DQ(wu)", "sig: DQ(g)", "silu: DQ(g) DQ(s)",
                                 "gmul: DQ(sw) DQ(u)", "down: DQ(h) DQ(wd)"});
}

TEST_CASE(
    "Q7: a Clip behind a convolution is selected but reads the raw tensor, unless another node has it "
    "quantized",
    "[plan][tensorrt][fault]") {
  const auto clip = [](const char* lines) {
    PolicyCase graph;
    graph.input("x", {2, 32, 8, 8}).weight("low", {}).weight("high", {}).nodes(lines).output("y");
    const Placed placed(graph);
    CHECK(placed.selected().find("clip") != std::string::npos);
    CHECK(Placed(graph, matching()).reads() == placed.reads());
    return placed.reads("clip");
  };
  CHECK(clip("c = Conv(x, w1) #conv; r = Clip(c, low, high) #clip; y = Conv(r, w2)") == "c low high");
  // In either order of the two readers.
  CHECK(clip("c = Conv(x, w1) #conv; r = Clip(c, low, high) #clip; d = Conv(c, w2); e = Conv(r, w3);"
             "y = Max(d, e)") == "DQ(c) low high");
  CHECK(clip("c = Conv(x, w1) #conv; d = Conv(c, w2); r = Clip(c, low, high) #clip; e = Conv(r, w3);"
             "y = Max(d, e)") == "DQ(c) low high");
}

TEST_CASE("Q7b: MaxPool's pair depends on whether BatchNormalization is folded", "[plan][tensorrt][fault]") {
  const auto pool = [](bool folded) {
    PolicyCase graph;
    graph.input("x", {2, 32, 8, 8});
    for (const char* name : {"s", "b", "m", "v"}) graph.weight(name, {32});
    graph.node("c = Conv(x, w1) #conv");
    if (!folded) graph.node("n = BatchNormalization(c, s, b, m, v) #bn");
    graph.node(folded ? "r = Relu(c) #relu" : "r = Relu(n) #relu")
        .node("p = MaxPool(r) #pool", {{"kernel_shape", Ints{2, 2}}})
        .node("y = Conv(p, w2)")
        .output("y");
    return Placed(graph).reads("pool");
  };
  CHECK(pool(true) == "DQ(r)");
  CHECK(pool(false) == "r");
}

TEST_CASE("Q8: a Concat's branches share one scale as far as they are read quantized",
          "[plan][tensorrt][fault]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .weight("w4", {32, 96, 1, 1})
      .nodes("c1 = Conv(x, w1) #conv1; c2 = Conv(c1, w2) #conv2; c3 = Conv(c2, w3) #conv3")
      .node("cc = Concat(c1, c2, c3) #concat", {{"axis", std::int64_t{1}}})
      .node("y = Conv(cc, w4) #conv4")
      .output("y");
  CHECK(Placed(graph).scale_groups() == "{c1 c2 cc}");
  CHECK(Placed(graph, matching()).scale_groups() == "{c1 c2 cc}");
}

TEST_CASE("Q12: a list of operators turns the whole policy off, the residual rule too",
          "[plan][tensorrt][fault]") {
  const std::shared_ptr<const Model> model = residual_block().open();
  std::vector<bool> listed;
  for (const GraphNode& node : model->graph().nodes())
    listed.push_back(node.op_type == "Conv" || node.op_type == "Add");
  for (const Peer peer : {Peer::kCorrect, Peer::kReproduce}) {
    PlacedOptions options;
    options.peer = peer;
    options.policy.listed = listed;
    CHECK(Placed(model, options).reads("add") == "DQ(c3) DQ(r1)");
  }
  CHECK(Placed(model, {}).reads("add") == "c3 DQ(r1)");
}

// A residual block of which the graph allows several node orders; both branches have a convolution.
Lines reads_in_order(const std::vector<std::size_t>& order) {
  const char* const lines[] = {"r0 = Relu(x) #r0",        "t0 = Tanh(x) #t0",
                               "j = Max(r0, t0) #join",   "k2 = Min(t0, r0) #meet",
                               "c1 = Conv(j, w1) #conv1", "c2 = Conv(k2, w2) #conv2",
                               "a = Add(c1, c2) #add",    "y = Conv(a, w3) #conv3"};
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8});
  for (const std::size_t line : order) graph.node(lines[line]);
  Lines sorted = Placed(graph.output("y")).reads();
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

TEST_CASE("Q13: ties between common ancestors don't make the plan depend on chance or on node order",
          "[plan][tensorrt][fault]") {
  const Lines first = reads_in_order({0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(std::find(first.begin(), first.end(), "add: DQ(c1) c2") != first.end());
  CHECK(reads_in_order({1, 0, 3, 2, 5, 4, 6, 7}) == first);
  CHECK(reads_in_order({1, 0, 3, 5, 2, 4, 6, 7}) == first);
  CHECK(reads_in_order({0, 1, 2, 4, 3, 5, 6, 7}) == first);
}

TEST_CASE("Q14: a head that is listed twice is quantized once", "[plan][tensorrt][fault]") {
  const Placed placed(squeeze_excitation());
  const tensorrt::KgenHeads heads = filter_quantizable_kgen_heads(placed.view(), partitions_of(placed.view()),
                                                                  tensorrt::is_quantizable_int8);
  CHECK(node_text(placed.graph(), heads.heads) == "mul mul");
  CHECK(placed.selected() == "conv1 gap conv2 mul conv3");
}

TEST_CASE("Q15: a stack of matrices has its scales along the columns, for the peer along axis 1",
          "[plan][tensorrt][fault]") {
  const auto axes = [](Peer peer, bool left) {
    PolicyCase graph;
    graph.input("x", {2, 32, 32}).weight("stack", {2, 32, 32});
    graph.node(left ? "y = MatMul(stack, x) #mm" : "y = MatMul(x, stack) #mm").output("y");
    const Placed placed(graph, {peer, {}, {}});
    return placed.policy().marks.readings.at({placed.node("mm"), left ? 0 : 1}).constant.axis;
  };
  CHECK(axes(Peer::kCorrect, false) == 2);
  CHECK(axes(Peer::kReproduce, false) == 1);
  CHECK(axes(Peer::kCorrect, true) == 1);  // rows of the product, not terms
  CHECK(axes(Peer::kReproduce, true) == 1);
  PolicyCase matrix;
  matrix.input("x", {32, 32}).weight("left", {32, 32}).node("y = MatMul(left, x) #mm").output("y");
  const auto axis = [&](Peer peer) {
    const Placed placed(matrix, {peer, {}, {}});
    return placed.policy().marks.readings.at({placed.node("mm"), 0}).constant.axis;
  };
  CHECK(axis(Peer::kCorrect) == 0);
  CHECK(axis(Peer::kReproduce) == 1);  // along the terms that a product sums
}

TEST_CASE("Q16: tensors of unknown type are left raw, and listed", "[plan][tensorrt][fault]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .node("u = Mystery(x) #mystery", {}, "custom")
      .nodes("y = Conv(u, w1) #conv; z = Conv(x, w2) #known")
      .output("y")
      .output("z");
  const Placed placed(graph);
  CHECK(placed.reads() == Lines{"mystery: DQ(x)", "conv: u DQ(w1)", "known: DQ(x) DQ(w2)"});
  CHECK(placed.policy().marks.unknown_types == std::vector<TensorId>{placed.tensor("u")});
}

TEST_CASE("Q17: a weight that two nodes read is one tensor, along one axis where both want the same",
          "[plan][tensorrt][fault]") {
  PolicyCase graph;
  graph.input("x", {32, 32})
      .weight("tied", {32, 32})
      .nodes("a = MatMul(x, tied) #first; b = MatMul(a, tied) #second")
      .node("y = Gemm(b, tied) #third", {{"transB", std::int64_t{1}}})
      .output("y");
  CHECK(reads(graph) == Lines{"first: DQ(x) DQ(tied)", "second: DQ(a) DQ(tied)", "third: DQ(b) DQ(tied)"});
  const Placed placed(graph);
  const auto axis = [&](const char* label) {
    return placed.policy().marks.readings.at({placed.node(label), 1}).constant.axis;
  };
  CHECK(axis("first") == 1);
  CHECK(axis("second") == 1);
  CHECK(axis("third") == 0);
  CHECK(placed.graph().tensor(placed.tensor("tied")).consumers.size() == 3);
}

TEST_CASE("Q22: a graph in which nothing may be quantized has no selected node and no mark",
          "[plan][tensorrt][fault]") {
  const Placed placed(image_case("a = Relu(x) #relu; y = Tanh(a) #tanh", "y"));
  CHECK(placed.selected().empty());
  CHECK(placed.reads() == Lines{"relu: x", "tanh: a"});
  CHECK(std::none_of(placed.policy().marks.tensors.begin(), placed.policy().marks.tensors.end(),
                     [](const tensorrt::Mark& mark) { return mark.kind != tensorrt::MarkKind::kNone; }));
}

TEST_CASE("Q24: a Resize's scales are never quantized", "[plan][tensorrt][fault]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .weight("scales", {4})
      .nodes("u = Resize(x, _, scales) #resize; y = Conv(u, w1) #conv")
      .output("y");
  CHECK(reads(graph) == Lines{"resize: DQ(x) - scales", "conv: DQ(u) DQ(w1)"});
}

}  // namespace
}  // namespace halftone::test
