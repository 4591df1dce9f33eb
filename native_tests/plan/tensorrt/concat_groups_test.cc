// ModelOpt's get_concat_eliminated_tensors.
#include "plan/tensorrt/concat_groups.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

// Groups when exactly these nodes are quantized: "c1:0 c2:0 cc:0", in tensor order of the nodes.
std::string groups(const PolicyCase& graph, std::initializer_list<const char*> quantized) {
  const std::shared_ptr<const Model> model = graph.open();
  const tensorrt::PolicyGraph view(model->graph(), tensorrt::Peer::kCorrect);
  std::vector<bool> selected(model->graph().nodes().size(), false);
  for (const char* label : quantized)
    selected[static_cast<std::size_t>(model->graph().find_node(label))] = true;
  const std::vector<std::int32_t> group = get_concat_eliminated_tensors(view, selected);
  REQUIRE(group.size() == model->graph().tensors().size());
  std::string text;
  for (const NodeId id : view.nodes()) {
    for (const TensorId output : model->graph().node(id).outputs) {
      const std::int32_t number = group[static_cast<std::size_t>(output)];
      if (number >= 0)
        text += (text.empty() ? "" : " ") + model->graph().tensor(output).name + ":" + std::to_string(number);
    }
  }
  return text;
}

PolicyCase three_in_series() {
  PolicyCase graph;
  graph.input("x", {1, 32, 8, 8})
      .weight("w4", {32, 96, 1, 1})
      .nodes("c1 = Conv(x, w1) #conv1; c2 = Conv(c1, w2) #conv2; c3 = Conv(c2, w3) #conv3")
      .node("cc = Concat(c1, c2, c3) #concat", {{"axis", std::int64_t{1}}})
      .node("y = Conv(cc, w4) #conv4")
      .output("y");
  return graph;
}

TEST_CASE("Tensors that a Concat joins and somebody reads quantized get one scale", "[plan][tensorrt]") {
  CHECK(groups(three_in_series(), {"conv1", "conv2", "conv3", "conv4"}) == "c1:0 c2:0 cc:0");
  CHECK(groups(three_in_series(), {"conv1", "conv2", "conv3"}).empty());
  CHECK(groups(three_in_series(), {"conv4"}).empty());
  CHECK(groups(three_in_series(), {"conv3", "conv4"}) == "c2:0 cc:0");
  CHECK(groups(three_in_series(), {}).empty());
}

TEST_CASE("Chained Concats merge, and groups are numbered in topological order", "[plan][tensorrt]") {
  PolicyCase graph;
  const Attributes axis = {{"axis", std::int64_t{1}}};
  graph.input("x", {1, 32, 8, 8})
      .nodes("a = Relu(x) #a; b = Tanh(x) #b; c = Abs(x) #c; d = Neg(x) #d")
      .node("p = Concat(c, d) #late", axis)
      .node("q = Concat(a, b) #first", axis)
      .node("r = Concat(q, a) #second", axis)
      .nodes(
          "u = HardSwish(a) #of_a; v = HardSwish(q) #of_q; w = HardSwish(r) #of_r; s = HardSwish(d) #of_d;"
          "t = HardSwish(p) #of_p");
  for (const char* name : {"u", "v", "w", "s", "t"}) graph.output(name);
  CHECK(groups(graph, {"of_a", "of_q", "of_r", "of_d", "of_p"}) == "a:0 d:1 p:1 q:0 r:0");
  CHECK(groups(graph, {"of_a", "of_r"}) == "a:0 r:0");
}

TEST_CASE("A graph input joins a group as any tensor does", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {1, 32, 8, 8})
      .weight("w2", {32, 64, 1, 1})
      .node("c = Conv(x, w1) #conv1")
      .node("j = Concat(x, c) #concat", {{"axis", std::int64_t{1}}})
      .node("y = Conv(j, w2) #conv2")
      .output("y");
  const Placed placed(graph);
  CHECK(placed.scale_groups() == "{j x}");
  CHECK(placed.reads("concat") == "DQ(x) c");
}

}  // namespace
}  // namespace halftone::test
