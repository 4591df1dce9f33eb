// Placement on the graphs of ModelOpt's own tests, input by input.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

using Ints = std::vector<std::int64_t>;
using tensorrt::Peer;
using tensorrt::Precision;

Attributes window(std::int64_t kernel, std::int64_t stride = 1, std::int64_t pad = 0) {
  return {{"kernel_shape", Ints{kernel, kernel}},
          {"strides", Ints{stride, stride}},
          {"pads", Ints{pad, pad, pad, pad}}};
}

Attributes depthwise(std::int64_t channels, std::int64_t kernel, std::int64_t pad) {
  Attributes attributes = window(kernel, 1, pad);
  attributes.emplace_back("group", channels);
  return attributes;
}

void add_norm(PolicyCase& graph, std::int64_t channels) {
  for (const char* name : {"s", "b", "m", "v"}) graph.weight(name, {channels});
}

// In both views; none of these graphs shows a fault of the peer.
void check(const PolicyCase& graph, const Lines& reads, const tensorrt::PolicyOptions& options = {}) {
  const std::shared_ptr<const Model> model = graph.open();
  CHECK(Placed(model, {Peer::kCorrect, options, {}}).reads() == reads);
  CHECK(Placed(model, {Peer::kReproduce, options, {}}).reads() == reads);
}

tensorrt::PolicyOptions for_dla() {
  tensorrt::PolicyOptions options;
  options.dla = true;
  return options;
}

TEST_CASE("Upstream graph: bias Add that is the output", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {1, 3, 32, 32})
      .weight("wa", {64, 3, 7, 7})
      .weight("bias", {64, 1, 1})
      .node("c = Conv(x, wa) #conv", window(7, 2, 3))
      .node("y = Add(c, bias) #add")
      .output("y");
  check(graph, {"conv: DQ(x) DQ(wa)", "add: c bias"});
}

TEST_CASE("Upstream graph: three convolutions joined by a Concat", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {1, 128, 8, 8});
  for (const char* name : {"w1", "w2", "w3"}) graph.weight(name, {128, 128, 3, 3});
  graph.weight("w4", {256, 384, 1, 1})
      .node("c1 = Conv(x, w1) #conv1", window(3, 1, 1))
      .node("c2 = Conv(c1, w2) #conv2", window(3, 1, 1))
      .node("c3 = Conv(c2, w3) #conv3", window(3, 1, 1))
      .node("cc = Concat(c1, c2, c3) #concat", {{"axis", std::int64_t{1}}})
      .node("y = Conv(cc, w4) #conv4", window(1))
      .output("y");
  const Lines reads = {"conv1: DQ(x) DQ(w1)", "conv2: DQ(c1) DQ(w2)", "conv3: DQ(c2) DQ(w3)",
                       "concat: DQ(c1) DQ(c2) c3", "conv4: DQ(cc) DQ(w4)"};
  check(graph, reads);
  tensorrt::PolicyOptions float8;
  float8.precision = Precision::kFloat8;
  check(graph, reads, float8);
  CHECK(Placed(graph).scale_groups() == "{c1 c2 cc}");
  CHECK(Placed(graph, {Peer::kCorrect, float8, {}}).scale_groups() == "{c1 c2 cc}");
}

TEST_CASE("Upstream graph: residual Add around convolutions behind a ConvTranspose", "[plan][tensorrt]") {
  PolicyCase graph;
  add_norm(graph, 32);
  graph.input("x", {1, 39, 8, 8})
      .weight("wt", {39, 32, 2, 2})
      .weight("bt", {32})
      .weight("w1", {32, 32, 3, 3})
      .weight("w2", {32, 32, 3, 3})
      .node("t = ConvTranspose(x, wt, bt) #up", window(2, 2))
      .node("r = Relu(t) #relu1")
      .node("c1 = Conv(r, w1) #conv1", window(3, 1, 1))
      .nodes("n1 = BatchNormalization(c1, s, b, m, v) #bn1; r2 = Relu(n1) #relu2")
      .node("c2 = Conv(r2, w2) #conv2", window(3, 1, 1))
      .nodes("n2 = BatchNormalization(c2, s, b, m, v) #bn2; a = Add(r, n2) #add; y = Relu(a) #relu3")
      .output("y");
  check(graph, {"up: DQ(x) DQ(wt) bt", "relu1: t", "conv1: DQ(r) DQ(w1)", "bn1: c1 s b m v", "relu2: n1",
                "conv2: DQ(r2) DQ(w2)", "bn2: c2 s b m v", "add: DQ(r) n2", "relu3: a"});
}

TEST_CASE("Upstream graph: residual Add of a gated convolution", "[plan][tensorrt]") {
  PolicyCase graph;
  add_norm(graph, 48);
  graph.input("x", {1, 48, 8, 8})
      .weight("wc", {48, 48, 3, 3})
      .node("r = Relu(x) #relu0")
      .node("c = Conv(r, wc) #conv", window(3, 1, 1))
      .nodes(
          "n = BatchNormalization(c, s, b, m, v) #bn; g = Sigmoid(n) #sig; p = Mul(g, n) #mul;"
          "a = Add(r, p) #add; y = Relu(a) #relu1")
      .output("y");
  check(graph, {"relu0: x", "conv: DQ(r) DQ(wc)", "bn: c s b m v", "sig: n", "mul: g n", "add: DQ(r) p",
                "relu1: a"});
}

TEST_CASE("Upstream graph: convolution, activation, pooling", "[plan][tensorrt]") {
  const bool reshaped = GENERATE(false, true);
  CAPTURE(reshaped);
  PolicyCase graph;
  add_norm(graph, 16);
  graph.input("x", {1, 8, 16, 16})
      .weight("w1", {16, 8, 3, 3})
      .weight("b1", {16})
      .weight("w2", {32, 16, 3, 3})
      .weight("b2", {32})
      .node("c1 = Conv(x, w1, b1) #conv1", window(3, 1, 1))
      .nodes("n = BatchNormalization(c1, s, b, m, v) #bn; r = Relu(n) #relu");
  if (reshaped) graph.integers("shape", {1, 16, 8, 32}).node("t = Reshape(r, shape) #reshape");
  graph.node(reshaped ? "p = MaxPool(t) #pool" : "p = MaxPool(r) #pool", window(3, 2, 1))
      .node("y = Conv(p, w2, b2) #conv2", window(3, 1, 1))
      .output("y");
  Lines reads = {"conv1: DQ(x) DQ(w1) b1", "bn: c1 s b m v", "relu: n"};
  if (reshaped) reads.emplace_back("reshape: r shape");
  reads.emplace_back(reshaped ? "pool: t" : "pool: r");
  reads.emplace_back("conv2: DQ(p) DQ(w2) b2");
  check(graph, reads);
}

TEST_CASE("Upstream graph: LayerNormalization behind a convolution", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {1, 3, 16, 16})
      .weight("w1", {32, 3, 4, 4})
      .weight("b1", {32})
      .weight("gain", {32})
      .weight("shift", {32})
      .weight("w2", {32, 32, 1, 1})
      .weight("b2", {32})
      .node("c1 = Conv(x, w1, b1) #conv1", window(4, 4))
      .node("t = Transpose(c1) #to_last", {{"perm", Ints{0, 2, 3, 1}}})
      .node("n = LayerNormalization(t, gain, shift) #ln")
      .node("u = Transpose(n) #to_first", {{"perm", Ints{0, 3, 1, 2}}})
      .node("y = Conv(u, w2, b2) #conv2", window(1))
      .output("y");
  check(graph, {"conv1: DQ(x) DQ(w1) b1", "to_last: c1", "ln: DQ(t) gain shift", "to_first: n",
                "conv2: DQ(u) DQ(w2) b2"});
}

TEST_CASE("Upstream graph: Resize that is the output", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {1, 32, 8, 8})
      .weight("scales", {4})
      .nodes("c = Conv(x, w1) #conv; y = Resize(c, _, scales) #resize")
      .output("y");
  check(graph, {"conv: DQ(x) DQ(w1)", "resize: c - scales"});
}

TEST_CASE("Upstream graph: grouped convolutions, with and without the accelerator", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {1, 256, 8, 8})
      .weight("w1", {128, 256, 1, 1})
      .weight("wa", {128, 1, 2, 2})
      .weight("wb", {128, 1, 1, 1})
      .weight("wc", {128, 1, 2, 2})
      .weight("scales", {4})
      .node("c1 = Conv(x, w1) #conv1", window(1))
      .nodes("r = Relu(c1) #relu; u = Resize(r, _, scales) #resize")
      .node("a = Conv(u, wa) #dw_a", depthwise(128, 2, 0))
      .node("b = Conv(u, wb) #dw_b", depthwise(128, 1, 0))
      .node("c = Conv(b, wc) #dw_c", depthwise(128, 2, 0))
      .node("y = Mul(a, c) #mul")
      .output("y");
  check(graph, {"conv1: DQ(x) DQ(w1)", "relu: c1", "resize: DQ(r) - scales", "dw_a: u wa", "dw_b: u wb",
                "dw_c: b wc", "mul: a c"});
  check(graph,
        {"conv1: DQ(x) DQ(w1)", "relu: DQ(c1)", "resize: DQ(r) - scales", "dw_a: DQ(u) DQ(wa)",
         "dw_b: DQ(u) DQ(wb)", "dw_c: DQ(b) DQ(wc)", "mul: DQ(a) DQ(c)"},
        for_dla());
}

TEST_CASE("Upstream graph: product with one row, with and without the accelerator", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {1, 32}).weight("wm", {32, 64}).node("y = MatMul(x, wm) #mm").output("y");
  check(graph, {"mm: x wm"});
  check(graph, {"mm: DQ(x) DQ(wm)"}, for_dla());
  CHECK(Placed(graph).exclusions() == "mm:gemv");
  CHECK(Placed(graph, {Peer::kCorrect, for_dla(), {}}).exclusions().empty());
}

}  // namespace
}  // namespace halftone::test
