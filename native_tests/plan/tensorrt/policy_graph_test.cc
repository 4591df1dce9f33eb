// Parents, children, and ModelOpt's is_const_input.
#include "plan/tensorrt/policy_graph.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

using tensorrt::Peer;
using tensorrt::PolicyGraph;

std::vector<NodeId> listed(std::span<const NodeId> nodes) { return {nodes.begin(), nodes.end()}; }

TEST_CASE("Parents come in input order and children in output and node order, with duplicates",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 4})
      .weight("k", {4})
      .nodes(
          "a, b = Split(x) #split; c = Add(b, a) #add; d = Mul(a, a) #mul; e = Add(x, k) #bias;"
          "f = Concat(c, d, e) #concat")
      .output("f");
  // Split and Concat without their attributes: the view doesn't need them.
  const std::shared_ptr<const Model> model = graph.open();
  const PolicyGraph view(model->graph(), Peer::kReproduce);
  const auto node = [&](const char* label) { return model->graph().find_node(label); };
  CHECK(listed(view.parents(node("add"))) == std::vector<NodeId>{node("split"), node("split")});
  CHECK(listed(view.parents(node("bias"))).empty());
  CHECK(listed(view.parents(node("concat"))) == std::vector<NodeId>{node("add"), node("mul"), node("bias")});
  // Output a: add, mul, mul; output b: add.
  CHECK(listed(view.children(node("split"))) ==
        std::vector<NodeId>{node("add"), node("mul"), node("mul"), node("add")});
  CHECK(view.nodes().size() == 5);
  CHECK(view.position(node("mul")) == 2);
}

TEST_CASE("A constant input is stored, or comes out of Constant, Identity, or what looks through to one",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 4})
      .weight("k", {1, 4})
      .weight("low", {})
      .integers("axes", {0})
      .nodes(
          "same = Identity(x); flat = Squeeze(k, axes); round = Unsqueeze(flat, axes); free = Unsqueeze(x, "
          "axes);"
          "cut = Clip(x, low); grown = Exp(cut); bare = Exp(x); loose = Clip(x); wild = Exp(loose);"
          "t = Relu(x); late = Exp(t); r = Relu(k)");
  for (const char* name : {"same", "round", "free", "grown", "bare", "wild", "late", "r"}) graph.output(name);
  const std::shared_ptr<const Model> model = graph.open();
  for (const Peer peer : {Peer::kCorrect, Peer::kReproduce}) {
    const PolicyGraph view(model->graph(), peer);
    const auto constant = [&](const char* name) {
      INFO(name);
      const TensorId id = model->graph().find_tensor(name);
      REQUIRE(id != kNone);
      return view.is_const_input(id);
    };
    CHECK(constant("k"));
    CHECK_FALSE(constant("x"));
    CHECK(constant("same"));  // an Identity of an activation, too
    CHECK(constant("flat"));
    CHECK(constant("round"));
    CHECK_FALSE(constant("free"));
    CHECK(constant("grown"));
    CHECK_FALSE(constant("bare"));
    CHECK_FALSE(constant("wild"));
    CHECK_FALSE(constant("late"));
    CHECK_FALSE(constant("r"));
    CHECK_FALSE(view.is_const_input(kNone));
  }
}

TEST_CASE("A weight in a Constant node is stored data for us and an activation for the peer",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8}).constant_node("k", {32, 32, 1, 1}).node("c = Conv(x, k) #conv").output("c");
  const std::shared_ptr<const Model> model = graph.open();
  const TensorId k = model->graph().find_tensor("k");
  const PolicyGraph ours(model->graph(), Peer::kCorrect);
  const PolicyGraph theirs(model->graph(), Peer::kReproduce);
  CHECK(ours.is_stored(k));
  CHECK(ours.producer(k) == kNone);
  CHECK(ours.nodes().size() == 1);
  CHECK(ours.parents(model->graph().find_node("conv")).empty());
  CHECK_FALSE(theirs.is_stored(k));
  CHECK(theirs.producer(k) != kNone);
  CHECK(theirs.nodes().size() == 2);
  CHECK(theirs.parents(model->graph().find_node("conv")).size() == 1);
  CHECK(theirs.is_const_input(k));
  // The peer's pair on the weight is then one scale for an activation, ours one scale a channel.
  const Placed placed(model, {});
  CHECK(placed.reads() == Lines{"conv: DQ(x) DQ(k)"});
  CHECK(placed.policy().marks.readings.at({placed.node("conv"), 1}).constant.axis == 0);
  const Placed matched(model, {Peer::kReproduce, {}, {}});
  CHECK(matched.reads("conv") == "DQ(x) DQ(k)");
  CHECK(matched.policy().marks.tensors[static_cast<std::size_t>(k)].kind == tensorrt::MarkKind::kActivation);
}

}  // namespace
}  // namespace halftone::test
