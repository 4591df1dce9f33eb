// ModelOpt's find_fusible_partitions: what joins, where a partition ends, and which Mul fuses.
#include "plan/tensorrt/partitions.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

// CASK, then KGEN behind a bar.
std::string partitions(const PolicyCase& graph, tensorrt::Peer peer = tensorrt::Peer::kCorrect) {
  const std::shared_ptr<const Model> model = graph.open();
  const tensorrt::PolicyGraph view(model->graph(), peer);
  const tensorrt::Partitions found = partitions_of(view);
  return partition_text(model->graph(), found.cask) + " | " + partition_text(model->graph(), found.kgen);
}

PolicyCase image_case(const std::string& lines, const char* output) {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8}).weight("k", {32, 1, 1});
  for (const char* name : {"s", "b", "m", "v"}) graph.weight(name, {32});
  graph.nodes(lines).output(output);
  return graph;
}

TEST_CASE("Copy and pointwise nodes join when all they read comes from the partition or is constant",
          "[plan][tensorrt]") {
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; t = Transpose(c) #t; a = Add(t, k) #bias;"
                              "e = Exp(a) #exp; y = Sub(e, x) #sub",
                              "y")) == "[conv t bias exp] | [sub]");
  // Relu needs a backbone, Clip and Unsqueeze are in no class.
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; e = Exp(c) #exp; y = Relu(e) #relu", "y")) ==
        "[conv exp] | ");
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; y = Clip(c) #clip", "y")) == "[conv] | ");
}

TEST_CASE("An omitted optional input keeps a copy node out", "[plan][tensorrt]") {
  const auto slice = [](const char* line) {
    PolicyCase graph;
    graph.input("x", {2, 32, 8, 8})
        .integers("from", {0})
        .integers("to", {4})
        .integers("axes", {2})
        .integers("steps", {1})
        .nodes("c = Conv(x, w1) #conv")
        .node(line)
        .output("y");
    return partitions(graph);
  };
  CHECK(slice("y = Slice(c, from, to, axes, steps) #slice") == "[conv slice] | ");
  CHECK(slice("y = Slice(c, from, to, _, steps) #slice") == "[conv] | ");
}

TEST_CASE("A partition ends at its residual Add, and one that reads itself twice goes on",
          "[plan][tensorrt]") {
  CHECK(partitions(image_case("a = Relu(x) #r0; c = Conv(a, w1) #conv; p = Add(c, a) #add; e = Exp(p) #exp",
                              "e")) == "[conv add] | [exp]");
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; g = Sigmoid(c) #sig; p = Add(c, g) #add;"
                              "e = Exp(p) #exp",
                              "e")) == "[conv sig add exp] | ");
}

TEST_CASE("Outputs of nodes that join after their sibling was looked at don't count at that level",
          "[plan][tensorrt]") {
  // The Add is a child of conv before exp; seen from conv, exp's output isn't there yet, but exp sees it.
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; e = Exp(c) #exp; n = Neg(c) #neg; p = Sub(e, n) #sub",
                              "p")) == "[conv exp neg sub] | ");
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; e = Exp(c) #exp; h = Exp(e) #exp2; n = Neg(c) #neg;"
                              "p = Sub(n, h) #sub",
                              "p")) == "[conv exp exp2 neg sub] | ");
}

TEST_CASE("A Mul fuses by what gates it", "[plan][tensorrt]") {
  // One variable input.
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; y = Mul(c, k) #mul", "y")) == "[conv mul] | ");
  // SiLU of a convolution, of a normalised one, of an Add.
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; g = Sigmoid(c) #sig; y = Mul(c, g) #mul", "y")) ==
        "[conv sig mul] | ");
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; n = BatchNormalization(c, s, b, m, v) #bn;"
                              "g = Sigmoid(n) #sig; y = Mul(n, g) #mul",
                              "y")) == "[conv bn sig mul] | ");
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; a = Add(c, k) #bias; g = Sigmoid(a) #sig;"
                              "y = Mul(a, g) #mul",
                              "y")) == "[conv bias sig mul] | ");
  // A gate over anything else doesn't, nor does HardSigmoid; such a Mul is in no partition.
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; t = Tanh(c) #tanh; g = Sigmoid(t) #sig;"
                              "y = Mul(t, g) #mul",
                              "y")) == "[conv tanh sig] | ");
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; g = HardSigmoid(c) #gate; y = Mul(c, g) #mul", "y")) ==
        "[conv] | ");
  // No gate at all.
  CHECK(partitions(image_case("c = Conv(x, w1) #conv; t = Tanh(c) #tanh; y = Mul(t, c) #mul", "y")) ==
        "[conv tanh mul] | ");
}

TEST_CASE("Nodes that are taken already join nothing", "[plan][tensorrt]") {
  PolicyCase graph = image_case("c = Conv(x, w1) #conv; e = Exp(c) #exp; n = Neg(e) #neg", "n");
  const std::shared_ptr<const Model> model = graph.open();
  const tensorrt::PolicyGraph view(model->graph(), tensorrt::Peer::kCorrect);
  tensorrt::FusibleBackbone backbone(view);
  const tensorrt::NonResidualInputs non_residual = build_non_residual_input_map(view, backbone);
  std::vector<bool> partitioned(model->graph().nodes().size(), false);
  partitioned[static_cast<std::size_t>(model->graph().find_node("exp"))] = true;
  const tensorrt::Partitions found = find_fusible_partitions(view, partitioned, non_residual, backbone);
  CHECK(partition_text(model->graph(), found.cask) == "[conv]");
  CHECK(partition_text(model->graph(), found.kgen) == "[neg]");
  CHECK(partitioned == std::vector<bool>{true, true, true});
}

TEST_CASE("A Resize forms a partition of its own behind the last node of a CASK partition only",
          "[plan][tensorrt]") {
  const auto resize = [](const std::string& lines) {
    PolicyCase graph;
    graph.input("x", {2, 32, 8, 8}).weight("scales", {4}).nodes(lines).output("y");
    return partitions(graph);
  };
  CHECK(resize("c = Conv(x, w1) #conv; y = Resize(c, _, scales) #up") == "[conv] | [up]");
  // The partition ends at relu, so its middle doesn't count.
  CHECK(
      resize("c = Conv(x, w1) #conv; r = Relu(c) #relu; u = Resize(c, _, scales) #up; y = Max(r, u) #max") ==
      "[conv relu] | [max]");
}

TEST_CASE("KGEN chains take any pointwise root", "[plan][tensorrt]") {
  CHECK(partitions(image_case("a = Softmax(x) #softmax; y = Neg(a) #neg", "y")) == " | [softmax neg]");
  CHECK(partitions(image_case("a = Relu(x) #relu; y = Clip(a) #clip", "y")) == " | ");
}

}  // namespace
}  // namespace halftone::test
