// The assembly of the policy's lists: leftovers, pooling, output layers, exclusions, and a caller's list.
#include "plan/tensorrt/node_choice.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/example_graphs.h"

namespace halftone::test {
namespace {

using tensorrt::NodeChoice;
using tensorrt::Peer;
using tensorrt::Standing;

using Ints = std::vector<std::int64_t>;

Standing standing(const Placed& placed, const char* label) {
  return placed.policy().choice.standing[static_cast<std::size_t>(placed.node(label))];
}

PolicyCase image_case(const std::string& lines, const char* output) {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8}).weight("k", {32, 1, 1}).nodes(lines).output(output);
  return graph;
}

TEST_CASE("Leftovers: quantizable nodes that no partition took", "[plan][tensorrt]") {
  const Placed placed(
      image_case("a = HardSwish(x) #hs; b = Add(a, k) #bias; c = Clip(b) #clip; d = Relu(c) #relu;"
                 "e = Conv(d, w1) #conv",
                 "e"));
  CHECK(placed.selected() == "hs clip conv");
  CHECK(standing(placed, "hs") == Standing::kLeftover);
  CHECK(standing(placed, "bias") == Standing::kPointwiseChain);
  CHECK(standing(placed, "relu") == Standing::kOperatorNotQuantizable);
  CHECK(standing(placed, "conv") == Standing::kPartitionHead);
  // A Mul that doesn't fuse is in no partition; with a constant it always fuses, so only a gate is left over.
  const Placed gated(
      image_case("c = Conv(x, w1) #conv; t = Tanh(c) #tanh; g = Sigmoid(t) #sig; m = Mul(t, g) #mul;"
                 "y = Conv(m, w2) #conv2",
                 "y"));
  CHECK(standing(gated, "mul") == Standing::kLeftover);
  CHECK(gated.reads("mul") == "DQ(t) DQ(g)");
}

TEST_CASE("A pooling node is quantized next to something quantized, through copy nodes", "[plan][tensorrt]") {
  const auto pooled = [](const std::string& before, const std::string& after) {
    PolicyCase graph;
    graph.input("x", {2, 32, 16, 16}).nodes(before);
    graph.node("p = MaxPool(a) #pool", {{"kernel_shape", Ints{2, 2}}}).nodes(after).output("y");
    return standing(Placed(graph), "pool");
  };
  const Standing next = Standing::kPoolingNextToQuantized;
  CHECK(pooled("a = Relu(x)", "y = Conv(p, w1)") == next);
  // The HardSwish is dropped as an output layer, but only after the pooling nodes have looked.
  CHECK(pooled("a = Relu(x)", "t = Transpose(p); y = HardSwish(t)") == next);
  CHECK(pooled("a = Relu(x)", "t = Transpose(p); y = Conv(t, w1)") == next);
  CHECK(pooled("c = Conv(x, w1); a = Transpose(c)", "y = Relu(p)") == next);
  CHECK(pooled("a = Relu(x)", "y = Relu(p)") == Standing::kPoolingApart);
  CHECK(pooled("a = Relu(x)", "t = Relu(p); y = Conv(t, w1)") == Standing::kPoolingApart);
}

TEST_CASE("Pooling nodes don't make each other quantized", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 16, 16})
      .nodes("a = Relu(x)")
      .node("p = MaxPool(a) #first", {{"kernel_shape", Ints{2, 2}}})
      .node("q = MaxPool(p) #second", {{"kernel_shape", Ints{2, 2}}})
      .node("y = Conv(q, w1) #conv")
      .output("y");
  CHECK(Placed(graph).selected() == "second conv");
}

TEST_CASE("Cast is looked through towards the producer, not towards the consumer", "[plan][tensorrt]") {
  const auto with_cast = [](bool in_front) {
    PolicyCase graph;
    graph.input("x", {2, 32, 16, 16});
    const Attributes to_float = {{"to", std::int64_t{1}}};
    if (in_front) {
      graph.node("r = HardSwish(x)").node("a = Cast(r)", to_float);
    } else {
      graph.node("a = Relu(x)");
    }
    graph.node("p = MaxPool(a) #pool", {{"kernel_shape", Ints{2, 2}}});
    if (in_front) {
      graph.node("y = Relu(p)");
    } else {
      graph.node("c = Cast(p)", to_float).node("y = Conv(c, w1)");
    }
    return standing(Placed(graph.output("y")), "pool");
  };
  CHECK(with_cast(true) == Standing::kPoolingNextToQuantized);
  CHECK(with_cast(false) == Standing::kPoolingApart);
}

TEST_CASE("What makes a graph output is left out unless it is a Conv, Gemm or MatMul, or partly raw",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .weight("wt", {32, 32, 1, 1})
      .nodes(
          "c = Conv(x, w1) #conv; t = ConvTranspose(x, wt) #up; h = HardSwish(c) #hs; m = MatMul(x, c) #mm;"
          "r = Relu(c) #relu; d = Conv(r, w2) #conv2; a = Add(d, r) #add");
  for (const char* name : {"c", "t", "h", "m", "a"}) graph.output(name);
  const Placed placed(graph);
  CHECK(standing(placed, "conv") == Standing::kPartitionHead);
  CHECK(standing(placed, "up") == Standing::kOutputLayer);
  CHECK(standing(placed, "hs") == Standing::kOutputLayer);
  CHECK(standing(placed, "add") == Standing::kPartitionEdge);
}

TEST_CASE("Excluded nodes are no partition's and not selected", "[plan][tensorrt]") {
  const Placed placed(residual_block(), {Peer::kCorrect, {}, {"conv2"}});
  CHECK(standing(placed, "conv2") == Standing::kExcluded);
  CHECK(standing(placed, "relu1") == Standing::kInsidePartition);
  CHECK(placed.policy().choice.partition[static_cast<std::size_t>(placed.node("conv2"))] == -1);
  CHECK(placed.selected() == "conv1 conv3 add");
}

TEST_CASE("Standings and partition numbers of the residual block", "[plan][tensorrt]") {
  const Placed placed(residual_block());
  const NodeChoice& choice = placed.policy().choice;
  CHECK(choice.cask_count == 3);
  CHECK(node_text(placed.graph(), choice.partition_heads) == "conv1 conv2 conv3");
  const auto partition = [&](const char* label) {
    return choice.partition[static_cast<std::size_t>(placed.node(label))];
  };
  CHECK(partition("relu1") == partition("conv1"));
  CHECK(partition("add") == partition("conv3"));
  CHECK(partition("relu3") == -1);
  CHECK(standing(placed, "add") == Standing::kPartitionEdge);
  CHECK(edge_text(placed.graph(), choice.raw_edges) == "conv3>add:c3");
  CHECK(standing(Placed(attention(Scaling::kNone, Mask::kVariable, false)), "softmax") ==
        Standing::kOffLimits);
  CHECK(standing(Placed(squeeze_excitation()), "mul") == Standing::kKgenHead);
}

TEST_CASE("A caller's list takes the policy's place: no partitions, and both sides of a residual Add",
          "[plan][tensorrt]") {
  const std::shared_ptr<const Model> model = residual_block().open();
  const tensorrt::PolicyGraph view(model->graph(), Peer::kCorrect);
  std::vector<bool> listed(model->graph().nodes().size(), false);
  for (const char* label : {"conv2", "conv3", "add"})
    listed[static_cast<std::size_t>(model->graph().find_node(label))] = true;
  std::vector<bool> excluded(listed.size(), false);
  excluded[static_cast<std::size_t>(model->graph().find_node("conv3"))] = true;
  const NodeChoice choice = choose_listed_nodes(view, listed, excluded);
  CHECK(choice.raw_edges.empty());
  CHECK(choice.partition_heads.empty());
  CHECK(choice.standing[0] == Standing::kNotListed);
  CHECK(choice.standing[2] == Standing::kListed);
  CHECK(choice.standing[4] == Standing::kExcluded);
  CHECK(choice.selected == std::vector<bool>{false, false, true, false, false, true, false});

  PlacedOptions options;
  options.policy.listed = listed;
  CHECK(Placed(model, options).reads() == Lines{"conv1: x w1", "relu1: c1", "conv2: DQ(r1) DQ(w2)",
                                                "relu2: c2", "conv3: DQ(r2) DQ(w3)", "add: DQ(c3) DQ(r1)",
                                                "relu3: a"});
}

}  // namespace
}  // namespace halftone::test
