// ModelOpt's lowest common ancestor and build_non_residual_input_map.
#include "plan/tensorrt/residual.h"

#include <catch2/catch_test_macros.hpp>
#include <tuple>

#include "plan/tensorrt/common_ancestor.h"
#include "plan/tensorrt/example_graphs.h"

namespace halftone::test {
namespace {

using tensorrt::AncestorFinder;
using tensorrt::CommonAncestor;
using tensorrt::Peer;
using tensorrt::PolicyGraph;

std::tuple<std::string, std::int64_t, std::int64_t> ancestor(const PolicyCase& graph, const char* first,
                                                             const char* second) {
  const std::shared_ptr<const Model> model = graph.open();
  const PolicyGraph view(model->graph(), Peer::kCorrect);
  const CommonAncestor found =
      AncestorFinder(view).find(model->graph().find_node(first), model->graph().find_node(second));
  return {found.node == kNone ? "none" : model->graph().node_label(found.node), found.from_first,
          found.from_second};
}

// "add: c3" for every Add with a non-residual input, and the edges.
std::pair<std::string, std::string> non_residual(const PolicyCase& graph) {
  const std::shared_ptr<const Model> model = graph.open();
  const PolicyGraph view(model->graph(), Peer::kCorrect);
  tensorrt::FusibleBackbone backbone(view);
  const tensorrt::NonResidualInputs inputs = build_non_residual_input_map(view, backbone);
  std::string map;
  for (const NodeId id : view.nodes()) {
    const TensorId tensor = inputs.of_node[static_cast<std::size_t>(id)];
    if (tensor == kNone) continue;
    map +=
        (map.empty() ? "" : " ") + model->graph().node_label(id) + ":" + model->graph().tensor(tensor).name;
  }
  return {map, edge_text(model->graph(), inputs.edges)};
}

using Answer = std::pair<std::string, std::string>;

PolicyCase image_case(const char* lines, const char* output) {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8}).nodes(lines).output(output);
  return graph;
}

TEST_CASE("Lowest common ancestors with their distances", "[plan][tensorrt]") {
  CHECK(ancestor(residual_block(), "conv3", "relu1") == std::tuple("relu1", 3, 0));
  CHECK(ancestor(residual_block(), "relu1", "conv3") == std::tuple("relu1", 0, 3));
  CHECK(ancestor(residual_block_with_downsample(), "conv3", "convd") == std::tuple("relu1", 3, 1));
  CHECK(ancestor(residual_block(), "conv2", "conv2") == std::tuple("conv2", 0, 0));
  const PolicyCase apart = image_case("a = Relu(x) #a; b = Tanh(x) #b; c = Add(a, b) #sum", "c");
  CHECK(ancestor(apart, "a", "b") == std::tuple("none", -1, -1));
}

TEST_CASE("Distances are those of a last-in-first-out walk, where the first visit counts",
          "[plan][tensorrt]") {
  // From "sum" the walk pushes near and far1, takes far1 first, and reaches root over it.
  const PolicyCase graph = image_case(
      "r = Relu(x) #root; f2 = Tanh(r) #far2; f1 = Tanh(f2) #far1; n = Abs(r) #near; s = Add(n, f1) #sum;"
      "o = Neg(r) #other; y = Mul(s, o) #mul",
      "y");
  CHECK(ancestor(graph, "sum", "other") == std::tuple("root", 3, 1));
}

TEST_CASE("Ties between common ancestors go to the topologically first", "[plan][tensorrt]") {
  // near1 and near2 are both one step above both.
  const PolicyCase graph = image_case(
      "a = Relu(x) #near1; b = Tanh(x) #near2; p = Add(b, a) #left; q = Mul(a, b) #right; y = Sub(p, q) #y",
      "y");
  CHECK(ancestor(graph, "left", "right") == std::tuple("near1", 1, 1));
}

TEST_CASE("The non-residual input of worked graphs", "[plan][tensorrt]") {
  CHECK(non_residual(residual_block()) == Answer("add:c3", "conv3>add:c3"));
  CHECK(non_residual(residual_block_with_downsample()) == Answer("add:c3", "conv3>add:c3"));
  // The ancestor is the backbone itself.
  CHECK(non_residual(image_case("c1 = Conv(x, w1) #conv1; s = Sigmoid(c1) #s; a = Add(c1, s) #add", "a")) ==
        Answer("", ""));
  // A tie of distances: the second input.
  CHECK(non_residual(image_case("c1 = Conv(x, w1) #conv1; c2 = Conv(c1, w2) #conv2; c3 = Conv(c1, w3) #conv3;"
                                "a = Add(c2, c3) #add",
                                "a")) == Answer("add:c3", "conv3>add:c3"));
  // No common ancestor at all: -1 isn't more than -1, so the second input.
  CHECK(non_residual(image_case("c1 = Conv(x, w1) #conv1; c2 = Conv(x, w2) #conv2; a = Add(c1, c2) #add",
                                "a")) == Answer("add:c2", "conv2>add:c2"));
}

TEST_CASE("An Add without a backbone, or with a graph input or constant, has no non-residual input",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .weight("k", {32, 1, 1})
      .nodes(
          "c = Conv(x, w1) #conv; s = Tanh(c) #tanh; h = Abs(s) #abs;"
          "a1 = Add(c, x) #with_input; a2 = Add(c, k) #with_constant; a3 = Add(s, h) #without_backbone;"
          "a4 = Add(c, c) #same; a5 = Add(h, c) #second_only")
      .output("a1")
      .output("a2")
      .output("a3")
      .output("a4")
      .output("a5");
  // second_only: one backbone, but it is the common ancestor.
  CHECK(non_residual(graph) == Answer("", ""));
  CHECK(non_residual(image_case("r = Relu(x) #relu; t = Tanh(r) #tanh; c = Conv(t, w1) #conv;"
                                "a = Add(r, c) #second; b = Add(c, r) #first; o = Add(a, b) #out",
                                "o")) == Answer("second:c first:c", "conv>second:c conv>first:c"));
}

}  // namespace
}  // namespace halftone::test
