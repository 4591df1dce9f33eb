// ModelOpt's has_path_type: labels, optional labels, wildcards, and the side effect of NonBiasAdd.
#include "plan/tensorrt/path_matcher.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

using tensorrt::Direction;
using tensorrt::PathMatcher;
using tensorrt::Peer;
using tensorrt::PolicyGraph;

using Labels = std::vector<std::string_view>;

// Whether the path leads away from node `from`; the nodes found go to `found`.
class Question {
 public:
  explicit Question(const PolicyCase& graph) : model_(graph.open()), view_(model_->graph(), Peer::kCorrect) {}

  bool forward(const char* from, const Labels& path, const Labels& wildcards = {}) {
    return ask(from, path, Direction::kForward, wildcards);
  }
  bool backward(const char* from, const Labels& path, const Labels& wildcards = {}) {
    return ask(from, path, Direction::kBackward, wildcards);
  }
  [[nodiscard]] std::string found() const { return node_text(model_->graph(), found_); }

 private:
  bool ask(const char* from, const Labels& path, Direction direction, const Labels& wildcards) {
    const NodeId id = model_->graph().find_node(from);
    REQUIRE(id != kNone);
    PathMatcher matcher(view_, path, direction, wildcards);
    const bool plain = matcher.matches(id);
    CHECK(matcher.matches(id) == plain);  // from memory
    found_.clear();
    CHECK(matcher.match_nodes(id, found_) == plain);
    return plain;
  }

  std::shared_ptr<const Model> model_;
  PolicyGraph view_;
  std::vector<NodeId> found_;
};

TEST_CASE("Labels match operators, and Add and Mul by whether they have a constant", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 4})
      .weight("k", {4})
      .nodes(
          "a = Relu(x) #relu; b = Add(a, k) #bias; c = Mul(b, k) #scale; d = Add(c, a) #sum;"
          "e = Mul(d, a) #gate; f = Tanh(e) #tanh")
      .output("f");
  Question ask(graph);
  CHECK(ask.forward("relu", {}));
  CHECK(ask.found().empty());
  CHECK(ask.forward("bias", {"Add", "Mul", "Add", "Mul", "Tanh"}));
  CHECK(ask.found() == "bias scale sum gate tanh");
  CHECK(ask.forward("bias", {"BiasAdd", "ConstMul", "NonBiasAdd"}));
  CHECK_FALSE(ask.forward("bias", {"NonBiasAdd"}));
  CHECK(ask.forward("sum", {"BiasAdd"}));  // optional, and nothing has to follow
  CHECK_FALSE(ask.forward("sum", {"BiasAdd", "Mul"}));
  CHECK_FALSE(ask.forward("relu", {"Sigmoid"}));
  CHECK(ask.backward("tanh", {"Tanh", "Mul", "Add", "Mul", "Add", "Relu"}));
  CHECK_FALSE(ask.forward("tanh", {"Tanh", "Relu"}));  // nobody reads it
  CHECK_FALSE(ask.forward("tanh", {"Tanh", "BiasAdd"}));
}

TEST_CASE("Optional labels are skipped on the node itself; wildcards use them up", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .weight("k", {32, 1, 1})
      .nodes(
          "c = Conv(x, w1) #conv; b = Add(c, k) #bias; t = Transpose(b) #transpose; u = Transpose(c) #plain")
      .output("t")
      .output("u");
  Question ask(graph);
  const Labels path = {"BiasAdd", "ConstMul", "Conv"};
  CHECK(ask.backward("conv", path, {"Transpose"}));
  CHECK(ask.found() == "conv");
  CHECK(ask.backward("bias", path, {"Transpose"}));
  CHECK(ask.found() == "bias conv");
  CHECK(ask.backward("plain", path, {"Transpose"}));
  CHECK(ask.found() == "conv");
  // The Transpose stands on BiasAdd and takes it; the Add then meets ConstMul and Conv.
  CHECK_FALSE(ask.backward("transpose", path, {"Transpose"}));
  CHECK_FALSE(ask.backward("plain", path));
}

// mm -> Add(const) -> Softmax -> MatMul beside mm -> Add(variable) that leads nowhere.
PolicyCase two_adds(bool variable_first) {
  PolicyCase graph;
  graph.input("x", {2, 32, 64}).input("y", {2, 64, 32}).input("mask", {2, 32, 32}).weight("k", {32, 32});
  graph.node("m = MatMul(x, y) #mm");
  const char* const variable = "a = Add(m, mask) #variable";
  const char* const constant = "b = Add(m, k) #constant";
  graph.node(variable_first ? variable : constant).node(variable_first ? constant : variable);
  return std::move(graph.nodes("s = Softmax(b) #softmax; o = MatMul(s, x) #mm2").output("o").output("a"));
}

TEST_CASE("A variable Add on NonBiasAdd lets its later siblings be any Add, as in the peer",
          "[plan][tensorrt]") {
  const Labels path = {"MatMul", "NonBiasAdd", "Softmax", "MatMul"};
  Question first(two_adds(true));
  CHECK(first.forward("mm", path));
  CHECK(first.found() == "mm constant softmax mm2");
  Question second(two_adds(false));
  CHECK_FALSE(second.forward("mm", path));
}

TEST_CASE("A chain as long as memory allows, and one that branches at every step, are matched in linear time",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("t0", {2, 32, 8, 8}).node("t1 = Conv(t0, w1) #conv");
  constexpr int kLength = 20000;
  for (int i = 1; i < kLength; ++i) {
    const std::string from = "t" + std::to_string(i);
    const std::string to = "t" + std::to_string(i + 1);
    graph.node(i % 2 == 0 ? to + " = Concat(" + from + ", " + from + ")" : to + " = Transpose(" + from + ")");
  }
  const std::string last = "t" + std::to_string(kLength);
  graph.output(last);
  Question ask(graph);
  const std::string label = "@" + last;
  CHECK(ask.backward(label.c_str(), {"Conv"}, {"Transpose", "Concat"}));
  CHECK(ask.found() == "conv");
  CHECK_FALSE(ask.backward(label.c_str(), {"Gemm"}, {"Transpose", "Concat"}));
}

}  // namespace
}  // namespace halftone::test
