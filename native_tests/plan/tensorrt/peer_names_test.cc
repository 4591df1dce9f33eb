// The peer's names of nameless nodes, and its names as patterns.
#include "plan/tensorrt/peer_names.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

using tensorrt::expand_node_names_from_patterns;

std::vector<std::string> names_of(const PolicyCase& graph) {
  const std::shared_ptr<const Model> model = graph.open();
  return tensorrt::peer_node_names(tensorrt::PolicyGraph(model->graph(), tensorrt::Peer::kReproduce));
}

TEST_CASE("Nameless nodes are counted from the number of distinct names", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {4, 4})
      .weight("k", {4, 4})
      .nodes("a = MatMul(x, k); b = Relu(a); y = MatMul(b, k) #MatMul_1")
      .output("y");
  CHECK(names_of(graph) == std::vector<std::string>{"MatMul_2", "Relu_2", "MatMul_1"});
  PolicyCase taken;
  taken.input("x", {4, 4}).nodes("a = Relu(x); b = Relu(a); y = Tanh(b) #Relu_2").output("y");
  CHECK(names_of(taken) == std::vector<std::string>{"Relu_3", "Relu_4", "Relu_2"});
}

TEST_CASE("A pattern matches at the start of a name, as a regular expression", "[plan][tensorrt]") {
  const std::vector<std::string> names = {"MatMul_10", "MatMul_1", "mm[0]", "a.b", "axb", "conv"};
  const auto matched = [&](const std::vector<std::string>& patterns) {
    return expand_node_names_from_patterns(names, patterns);
  };
  CHECK(matched({"MatMul_1"}) == std::vector<bool>{true, true, false, false, false, false});
  CHECK(matched({"atMul"}) == std::vector<bool>(6, false));
  CHECK(matched({"mm[0]"}) == std::vector<bool>(6, false));  // means "mm0"
  CHECK(matched({"a.b"}) == std::vector<bool>{false, false, false, true, true, false});
  CHECK(matched({".*v$", "x|MatMul_10"}) == std::vector<bool>{true, false, false, false, false, true});
  CHECK(matched({""}) == std::vector<bool>(6, true));
  CHECK(matched({}) == std::vector<bool>(6, false));
  CHECK(matched({"a(b"}) == std::vector<bool>(6, false));  // no regular expression
}

}  // namespace
}  // namespace halftone::test
