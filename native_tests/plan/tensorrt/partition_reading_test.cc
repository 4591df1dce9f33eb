// ModelOpt's classify_partition_nodes, classify_partially_quantized_weighted_ops,
// filter_quantizable_kgen_heads and find_conv_to_layernorm_nodes.
#include "plan/tensorrt/partition_reading.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/example_graphs.h"
#include "plan/tensorrt/op_classes.h"

namespace halftone::test {
namespace {

using tensorrt::Peer;

// A graph with its partitions.
struct Read {
  explicit Read(const PolicyCase& graph)
      : model(graph.open()), view(model->graph(), Peer::kCorrect), partitions(partitions_of(view)) {}
  [[nodiscard]] std::string nodes(const std::vector<NodeId>& ids) const {
    return node_text(model->graph(), ids);
  }
  [[nodiscard]] std::string edges(const std::vector<tensorrt::RawEdge>& of) const {
    return edge_text(model->graph(), of);
  }
  [[nodiscard]] tensorrt::KgenHeads heads() const {
    return filter_quantizable_kgen_heads(view, partitions, tensorrt::is_quantizable_int8);
  }

  std::shared_ptr<const Model> model;
  tensorrt::PolicyGraph view;
  tensorrt::Partitions partitions;
};

PolicyCase image_case(const std::string& lines, const char* output) {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8}).weight("k", {32, 1, 1}).nodes(lines).output(output);
  return graph;
}

TEST_CASE("classify_partition_nodes: inside, outside, and both", "[plan][tensorrt]") {
  const Read block(residual_block());
  const tensorrt::PartitionNodes nodes = classify_partition_nodes(block.view, block.partitions.cask);
  CHECK(block.nodes(nodes.non_quantizable) == "relu1 relu2");
  CHECK(block.nodes(nodes.quantizable) == "conv1 conv2 conv3");
  CHECK(block.edges(nodes.raw_edges) == "conv3>add:c3");

  // A product of two activations from outside is quantizable; a bias behind it isn't.
  const Read product(image_case("r = Relu(x) #relu; m = MatMul(r, x) #mm; a = Add(m, k) #bias", "a"));
  const tensorrt::PartitionNodes of_product = classify_partition_nodes(product.view, product.partitions.cask);
  CHECK(product.nodes(of_product.quantizable) == "mm");
  CHECK(product.nodes(of_product.non_quantizable) == "bias");
  CHECK(of_product.raw_edges.empty());
  CHECK(classify_partition_nodes(product.view, tensorrt::PartitionList()).quantizable.empty());
}

TEST_CASE("classify_partially_quantized_weighted_ops: produced inputs of excluded linear nodes",
          "[plan][tensorrt]") {
  const Read graph(
      image_case("c1 = Conv(x, w1) #conv1; c2 = Conv(c1, w2) #conv2; c3 = Conv(c1, w3) #conv3;"
                 "y = Add(c2, c3) #add",
                 "y"));
  const auto edges = [&](std::initializer_list<const char*> excluded) {
    std::vector<bool> flags(graph.model->graph().nodes().size(), false);
    for (const char* label : excluded)
      flags[static_cast<std::size_t>(graph.model->graph().find_node(label))] = true;
    return graph.edges(classify_partially_quantized_weighted_ops(graph.view, flags));
  };
  CHECK(edges({"conv2"}) == "conv1>conv2:c1");
  CHECK(edges({"conv1"}).empty());  // reads a graph input
  CHECK(edges({"add"}).empty());    // no linear operator: no protection
  CHECK(edges({"conv3", "conv2"}) == "conv1>conv2:c1 conv1>conv3:c1");
}

TEST_CASE("An excluded convolution reads the raw tensor that its sibling reads quantized",
          "[plan][tensorrt]") {
  const Placed placed(
      image_case("c1 = Conv(x, w1) #conv1; c2 = Conv(c1, w2) #conv2; c3 = Conv(c1, w3) #conv3;"
                 "y = Add(c2, c3) #add",
                 "y"),
      {Peer::kCorrect, {}, {"conv2"}});
  CHECK(placed.reads() ==
        Lines{"conv1: DQ(x) DQ(w1)", "conv2: c1 w2", "conv3: DQ(c1) DQ(w3)", "add: DQ(c2) c3"});
}

TEST_CASE("follows_cask looks through ten copy nodes and wants all parents behind a partition",
          "[plan][tensorrt]") {
  const auto behind = [](int copies) {
    PolicyCase graph;
    graph.input("x", {2, 32, 8, 8}).nodes("c = Conv(x, w1) #conv; r = Relu(c) #relu");
    std::string from = "r";
    for (int i = 0; i < copies; ++i) {
      const std::string to = "k" + std::to_string(i);
      graph.node(to + " = Transpose(" + from + ") #" + to);
      from = to;
    }
    graph.output(from);
    const std::shared_ptr<const Model> model = graph.open();
    const tensorrt::PolicyGraph view(model->graph(), Peer::kCorrect);
    std::vector<bool> in_cask(model->graph().nodes().size(), false);
    in_cask[static_cast<std::size_t>(model->graph().find_node("relu"))] = true;
    return follows_cask(view, in_cask, model->graph().tensor(model->graph().find_tensor(from)).producer);
  };
  CHECK(behind(0));
  CHECK(behind(1));
  CHECK(behind(10));
  CHECK_FALSE(behind(11));

  const Read mixed(
      image_case("c = Conv(x, w1) #conv; u = Relu(x) #relu; j = Concat(c, u) #mixed;"
                 "i = Concat(c, c) #same; g = Transpose(x) #of_input; y = Max(j, i, g)",
                 "y"));
  std::vector<bool> in_cask(mixed.model->graph().nodes().size(), false);
  in_cask[static_cast<std::size_t>(mixed.model->graph().find_node("conv"))] = true;
  const auto follows = [&](const char* label) {
    return follows_cask(mixed.view, in_cask, mixed.model->graph().find_node(label));
  };
  CHECK(follows("conv"));
  CHECK(follows("same"));
  CHECK_FALSE(follows("mixed"));
  CHECK_FALSE(follows("relu"));      // no copy operator
  CHECK_FALSE(follows("of_input"));  // no parents
}

TEST_CASE("filter_quantizable_kgen_heads: worked graphs", "[plan][tensorrt]") {
  const Read gate(squeeze_excitation());
  CHECK(gate.nodes(gate.heads().heads) == "mul mul");  // once for each parent
  CHECK(gate.edges(gate.heads().raw_edges).empty());

  const Read masked(attention(Scaling::kMul, Mask::kVariable, true));
  CHECK(masked.nodes(masked.heads().heads) == "addres");
  CHECK(masked.edges(masked.heads().raw_edges).empty());

  const Read gated(swiglu());
  CHECK(gated.nodes(gated.heads().heads) == "gmul gmul");
}

TEST_CASE("filter_quantizable_kgen_heads: who is no head", "[plan][tensorrt]") {
  const auto heads = [](const std::string& lines) {
    const Read graph(image_case(lines, "y"));
    const tensorrt::KgenHeads found = graph.heads();
    return graph.nodes(found.heads) + " | " + graph.edges(found.raw_edges);
  };
  // Behind pooling, which isn't in a CASK partition.
  CHECK(heads("p = GlobalAveragePool(x) #gap; y = Add(p, x) #add") == "add | ");
  CHECK(heads("p = Relu(x) #relu; y = Add(p, x) #add") == " | ");
  // A constant operand; an operator that isn't quantizable.
  CHECK(heads("p = GlobalAveragePool(x) #gap; y = Add(p, k) #add") == " | ");
  CHECK(heads("p = GlobalAveragePool(x) #gap; y = Sub(p, x) #sub") == " | ");
  // The other parent feeds nothing quantized, so its edge stays raw; a Mul gets pairs all the same.
  CHECK(heads("p = GlobalAveragePool(x) #gap; r = Relu(x) #relu; y = Add(p, r) #add") == "add | relu>add:r");
  CHECK(heads("p = GlobalAveragePool(x) #gap; r = Relu(x) #relu; y = Mul(p, r) #mul") == "mul | ");
  // … and no longer raw when a convolution reads it quantized anyway.
  CHECK(heads("p = GlobalAveragePool(x) #gap; r = Relu(x) #relu; a = Add(p, r) #add; c = Conv(r, w1) #conv;"
              "y = Max(a, c) #max") == "add | ");
}

TEST_CASE("find_conv_to_layernorm_nodes: input 0 behind a partition, through copy nodes",
          "[plan][tensorrt]") {
  const auto found = [](const std::string& lines) {
    PolicyCase graph;
    graph.input("x", {2, 32, 8, 32})
        .weight("g", {32})
        .weight("b", {32})
        .weight("wm", {32, 32})
        .nodes(lines)
        .output("y");
    const Read read(graph);
    return read.nodes(find_conv_to_layernorm_nodes(read.view, read.partitions.cask));
  };
  CHECK(found("c = Conv(x, w1) #conv; t = Transpose(c) #t; y = LayerNormalization(t, g, b) #ln") == "ln");
  CHECK(found("c = MatMul(x, wm) #mm; a = Add(c, b) #bias; y = LayerNormalization(a, g, b) #ln") == "ln");
  CHECK(found("y = LayerNormalization(x, g, b) #ln").empty());
  // The residual Add is in a KGEN chain.
  CHECK(found("c = MatMul(x, wm) #mm; a = Add(c, x) #res; y = LayerNormalization(a, g, b) #ln").empty());
}

TEST_CASE("LayerNormalization behind a convolution reads a pair on input 0 only", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 32}).weight("g", {32}).weight("b", {32}).weight("wm", {32, 32});
  graph.nodes(
      "c = Conv(x, w1) #conv; t = Transpose(c) #t; n = LayerNormalization(t, g, b) #ln;"
      "y = MatMul(n, wm) #mm");
  graph.output("y");
  CHECK(Placed(graph).reads() == Lines{"conv: DQ(x) DQ(w1)", "t: c", "ln: DQ(t) g b", "mm: DQ(n) DQ(wm)"});
}

}  // namespace
}  // namespace halftone::test
