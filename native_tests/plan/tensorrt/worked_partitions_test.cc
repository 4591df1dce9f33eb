// The worked partitions of ModelOpt's policy: partitions, the nodes that end up selected, and every node
// input.
#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/example_graphs.h"

namespace halftone::test {
namespace {

struct Expected {
  std::string cask;
  std::string kgen;
  std::string selected;
  Lines reads;
};

// Both views of a graph without Constant nodes are the same, and so are the answers.
void check(const PolicyCase& graph, const Expected& expected) {
  const std::shared_ptr<const Model> model = graph.open();
  for (const tensorrt::Peer peer : {tensorrt::Peer::kCorrect, tensorrt::Peer::kReproduce}) {
    const Placed placed(model, {peer, {}, {}});
    const tensorrt::Partitions partitions = partitions_of(placed.view());
    CHECK(partition_text(model->graph(), partitions.cask) == expected.cask);
    CHECK(partition_text(model->graph(), partitions.kgen) == expected.kgen);
    CHECK(placed.exclusions().empty());
    CHECK(placed.selected() == expected.selected);
    CHECK(placed.reads() == expected.reads);
  }
}

PolicyCase image_case() { return std::move(PolicyCase().input("x", {2, 32, 8, 8})); }

TEST_CASE("Worked partition: residual block", "[plan][tensorrt]") {
  check(residual_block(), {"[conv1 relu1] [conv2 relu2] [conv3 add]",
                           "",
                           "conv1 conv2 conv3 add",
                           {"conv1: DQ(x) DQ(w1)", "relu1: c1", "conv2: DQ(r1) DQ(w2)", "relu2: c2",
                            "conv3: DQ(r2) DQ(w3)", "add: c3 DQ(r1)", "relu3: a"}});
}

TEST_CASE("Worked partition: residual block with a convolution on the skip branch", "[plan][tensorrt]") {
  check(residual_block_with_downsample(),
        {"[conv1 relu1] [conv2 relu2] [conv3 add] [convd]",
         "",
         "conv1 conv2 conv3 convd add",
         {"conv1: DQ(x) DQ(w1)", "relu1: c1", "conv2: DQ(r1) DQ(w2)", "relu2: c2", "conv3: DQ(r2) DQ(w3)",
          "convd: DQ(r1) DQ(w4)", "add: c3 DQ(c4)", "relu3: a"}});
}

TEST_CASE("Worked partition: a branch that hangs off the convolution itself", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  graph.nodes("c1 = Conv(x, w1) #conv1; s = Sigmoid(c1) #sig; a = Add(c1, s) #add; c2 = Conv(a, w2) #conv2")
      .output("c2");
  check(graph, {"[conv1 sig add] [conv2]",
                "",
                "conv1 conv2",
                {"conv1: DQ(x) DQ(w1)", "sig: c1", "add: c1 s", "conv2: DQ(a) DQ(w2)"}});
}

TEST_CASE("Worked partition: squeeze and excitation", "[plan][tensorrt]") {
  check(squeeze_excitation(), {"[conv1] [conv2 sig] [conv3]",
                               "[mul]",
                               "conv1 gap conv2 mul conv3",
                               {"conv1: DQ(x) DQ(w1)", "gap: DQ(c1)", "conv2: DQ(p) DQ(w2)", "sig: c2",
                                "mul: DQ(c1) DQ(s)", "conv3: DQ(m) DQ(w3)"}});
}

TEST_CASE("Worked partition: Resize behind a partition", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  graph.weight("scales", {4})
      .nodes(
          "c1 = Conv(x, w1) #conv1; r1 = Relu(c1) #relu1; u = Resize(r1, _, scales) #resize;"
          "c2 = Conv(u, w2) #conv2")
      .output("c2");
  check(graph, {"[conv1 relu1] [conv2]",
                "[resize]",
                "conv1 resize conv2",
                {"conv1: DQ(x) DQ(w1)", "relu1: c1", "resize: DQ(r1) - scales", "conv2: DQ(u) DQ(w2)"}});
}

TEST_CASE("Worked partition: attention with scaling and a variable mask", "[plan][tensorrt]") {
  check(attention(Scaling::kMul, Mask::kVariable, true),
        {"[mmq] [mmk tk] [mmv] [bmm1 mulscale] [bmm2] [mmo addb]",
         "[addmask softmax] [addres]",
         "mmq mmk mmv bmm1 bmm2 mmo addres",
         {"ln: DQ(x) g b", "mmq: DQ(n) DQ(wq)", "mmk: DQ(n) DQ(wk)", "mmv: DQ(n) DQ(wv)", "tk: k",
          "bmm1: DQ(q) DQ(kt)", "mulscale: qk factor", "addmask: qs mask", "softmax: qm",
          "bmm2: DQ(sm) DQ(v)", "mmo: DQ(o) DQ(wo)", "addb: p bias", "addres: DQ(pb) DQ(x)", "ln2: y0 g b"}});
}

TEST_CASE("Worked partition: attention that TensorRT has a kernel for", "[plan][tensorrt]") {
  check(attention(Scaling::kNone, Mask::kVariable, false),
        {"[mmq] [mmk tk] [mmv] [mmo]",
         "",
         "mmq mmk mmv mmo",
         {"ln: x g b", "mmq: DQ(n) DQ(wq)", "mmk: DQ(n) DQ(wk)", "mmv: DQ(n) DQ(wv)", "tk: k", "bmm1: q kt",
          "addmask: qk mask", "softmax: qm", "bmm2: sm v", "mmo: DQ(o) DQ(wo)"}});
}

TEST_CASE("Worked partition: attention with a constant mask", "[plan][tensorrt]") {
  check(
      attention(Scaling::kNone, Mask::kConstant, false),
      {"[mmq] [mmk tk] [mmv] [bmm1 addmask softmax] [bmm2] [mmo]",
       "",
       "mmq mmk mmv bmm1 bmm2 mmo",
       {"ln: x g b", "mmq: DQ(n) DQ(wq)", "mmk: DQ(n) DQ(wk)", "mmv: DQ(n) DQ(wv)", "tk: k",
        "bmm1: DQ(q) DQ(kt)", "addmask: qk mask", "softmax: qm", "bmm2: DQ(sm) DQ(v)", "mmo: DQ(o) DQ(wo)"}});
}

TEST_CASE("Worked partition: GELU between two products", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 64}).weight("w1", {64, 64}).weight("w2", {64, 64}).weight("b1", {64});
  for (const char* name : {"root", "one", "half"}) graph.weight(name, {});
  graph
      .nodes(
          "f = MatMul(x, w1) #fc1; h = Add(f, b1) #b1add; d = Div(h, root) #div; e = Erf(d) #erf;"
          "p = Add(e, one) #plus; m = Mul(h, p) #times; g = Mul(m, half) #halve; y = MatMul(g, w2) #fc2")
      .output("y");
  check(graph, {"[fc1 b1add] [fc2]",
                "",
                "fc1 fc2",
                {"fc1: DQ(x) DQ(w1)", "b1add: f b1", "div: h root", "erf: d", "plus: e one", "times: h p",
                 "halve: m half", "fc2: DQ(g) DQ(w2)"}});
}

TEST_CASE("Worked partition: Clip behind a convolution", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  graph.weight("low", {})
      .weight("high", {})
      .nodes("c1 = Conv(x, w1) #conv1; r = Clip(c1, low, high) #clip; c2 = Conv(r, w2) #conv2")
      .output("c2");
  check(graph, {"[conv1] [conv2]",
                "",
                "conv1 clip conv2",
                {"conv1: DQ(x) DQ(w1)", "clip: c1 low high", "conv2: DQ(r) DQ(w2)"}});
}

TEST_CASE("Worked partition: MaxPool behind a folded stem", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  graph.nodes("c1 = Conv(x, w1) #conv1; r = Relu(c1) #relu")
      .node("m = MaxPool(r) #maxpool", {{"kernel_shape", std::vector<std::int64_t>{3, 3}}})
      .node("c2 = Conv(m, w2) #conv2")
      .output("c2");
  check(graph, {"[conv1 relu] [conv2]",
                "",
                "conv1 maxpool conv2",
                {"conv1: DQ(x) DQ(w1)", "relu: c1", "maxpool: DQ(r)", "conv2: DQ(m) DQ(w2)"}});
}

TEST_CASE("Worked partition: MaxPool behind a stem with BatchNormalization", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  for (const char* name : {"s", "b", "m", "v"}) graph.weight(name, {32});
  graph.nodes("c1 = Conv(x, w1) #conv1; n = BatchNormalization(c1, s, b, m, v) #bn; r = Relu(n) #relu")
      .node("p = MaxPool(r) #maxpool", {{"kernel_shape", std::vector<std::int64_t>{3, 3}}})
      .node("c2 = Conv(p, w2) #conv2")
      .output("c2");
  check(graph, {"[conv1 bn relu maxpool] [conv2]",
                "",
                "conv1 conv2",
                {"conv1: DQ(x) DQ(w1)", "bn: c1 s b m v", "relu: n", "maxpool: r", "conv2: DQ(p) DQ(w2)"}});
}

TEST_CASE("Worked partition: pooling, Flatten, Gemm", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  graph.weight("wf", {32, 32})
      .nodes(
          "c1 = Conv(x, w1) #conv1; r = Relu(c1) #relu; p = GlobalAveragePool(r) #gap;"
          "f = Flatten(p) #flatten; y = Gemm(f, wf) #fc")
      .output("y");
  check(graph, {"[conv1 relu] [fc]",
                "",
                "conv1 gap fc",
                {"conv1: DQ(x) DQ(w1)", "relu: c1", "gap: DQ(r)", "flatten: p", "fc: DQ(f) DQ(wf)"}});
}

TEST_CASE("Worked partition: residual block with BatchNormalization", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  for (const char* name : {"s", "b", "m", "v"}) graph.weight(name, {32});
  graph
      .nodes(
          "c1 = Conv(x, w1) #conv1; n1 = BatchNormalization(c1, s, b, m, v) #bn1; r = Relu(n1) #relu;"
          "c2 = Conv(r, w2) #conv2; e = BatchNormalization(c2, s, b, m, v) #bn2; a = Add(e, r) #add;"
          "r2 = Relu(a) #relu2; c3 = Conv(r2, w3) #conv3")
      .output("c3");
  check(graph, {"[conv1 bn1 relu] [conv2 bn2 add] [conv3]",
                "",
                "conv1 conv2 add conv3",
                {"conv1: DQ(x) DQ(w1)", "bn1: c1 s b m v", "relu: n1", "conv2: DQ(r) DQ(w2)",
                 "bn2: c2 s b m v", "add: e DQ(r)", "relu2: a", "conv3: DQ(r2) DQ(w3)"}});
}

TEST_CASE("Worked partition: MobileNetV2 block", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  graph.weight("low", {}).weight("high", {}).weight("wd", {32, 1, 3, 3});
  graph.nodes("c = Conv(x, w0) #conv0; e = Conv(c, w1) #exp; r1 = Clip(e, low, high) #clip1")
      .node("d = Conv(r1, wd) #dw", {{"group", std::int64_t{32}},
                                     {"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                     {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}})
      .nodes(
          "r2 = Clip(d, low, high) #clip2; p = Conv(r2, w2) #proj; a = Add(p, c) #add;"
          "y = Conv(a, w3) #next")
      .output("y");
  check(graph, {"[conv0] [exp] [dw] [proj add] [next]",
                "",
                "conv0 exp clip1 dw clip2 proj add next",
                {"conv0: DQ(x) DQ(w0)", "exp: DQ(c) DQ(w1)", "clip1: e low high", "dw: DQ(r1) DQ(wd)",
                 "clip2: d low high", "proj: DQ(r2) DQ(w2)", "add: p DQ(c)", "next: DQ(a) DQ(w3)"}});
}

TEST_CASE("Worked partition: HardSwish", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  graph.nodes("c1 = Conv(x, w1) #conv1; h = HardSwish(c1) #hs; c2 = Conv(h, w2) #conv2").output("c2");
  check(graph, {"[conv1] [conv2]",
                "",
                "conv1 hs conv2",
                {"conv1: DQ(x) DQ(w1)", "hs: DQ(c1)", "conv2: DQ(h) DQ(w2)"}});
}

TEST_CASE("Worked partition: depthwise convolution", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  graph.weight("wd", {32, 1, 3, 3})
      .node("c1 = Conv(x, wd) #conv1",
            {{"group", std::int64_t{32}}, {"kernel_shape", std::vector<std::int64_t>{3, 3}}})
      .nodes("r = Relu(c1) #relu; c2 = Conv(r, w2) #conv2")
      .output("c2");
  check(graph, {"[conv1 relu] [conv2]",
                "",
                "conv1 conv2",
                {"conv1: DQ(x) DQ(wd)", "relu: c1", "conv2: DQ(r) DQ(w2)"}});
}

TEST_CASE("Worked partition: SwiGLU", "[plan][tensorrt]") {
  check(swiglu(), {"[gate sig] [up] [down]",
                   "[gmul]",
                   "gate up silu gmul down",
                   {"gate: DQ(x) DQ(wg)", "up: DQ(x) DQ(wu)", "sig: DQ(g)", "silu: DQ(g) DQ(s)",
                    "gmul: DQ(sw) DQ(u)", "down: DQ(h) DQ(wd)"}});
}

TEST_CASE("Worked partition: root-mean-square norm", "[plan][tensorrt]") {
  check(rms_norm(), {"[mm1] [mm2]",
                     "[pow] [addeps sqrt] [div mulg] [res]",
                     "mm1 res mm2",
                     {"pow: DQ(x) two", "mean: p", "addeps: mean eps", "sqrt: e", "div: DQ(x) sq",
                      "mulg: d gain", "mm1: DQ(n) DQ(w1)", "res: DQ(m1) DQ(x)", "mm2: DQ(r) DQ(w2)"}});
}

TEST_CASE("Worked partition: Concat, BatchNormalization and two poolings", "[plan][tensorrt]") {
  PolicyCase graph = image_case();
  for (const char* name : {"s", "b", "m", "v"}) graph.weight(name, {64});
  graph.weight("w3", {32, 64, 1, 1}).weight("wf", {32, 32}).weight("bf", {32});
  graph.nodes("c1 = Conv(x, w1) #conv1; c2 = Conv(c1, w2) #conv2")
      .node("cc = Concat(c1, c2) #concat", {{"axis", std::int64_t{1}}})
      .nodes("n = BatchNormalization(cc, s, b, m, v) #bn; r = Relu(n) #relu; c3 = Conv(r, w3) #conv3")
      .node("p = MaxPool(c3) #maxpool", {{"kernel_shape", std::vector<std::int64_t>{2, 2}}})
      .nodes("q = GlobalAveragePool(p) #gap; f = Flatten(q) #flatten; y = Gemm(f, wf, bf) #fc")
      .output("y");
  check(graph,
        {"[conv1] [conv2] [conv3] [fc]",
         "",
         "conv1 conv2 bn conv3 maxpool gap fc",
         {"conv1: DQ(x) DQ(w1)", "conv2: DQ(c1) DQ(w2)", "concat: DQ(c1) c2", "bn: DQ(cc) s b m v", "relu: n",
          "conv3: DQ(r) DQ(w3)", "maxpool: DQ(c3)", "gap: DQ(p)", "flatten: q", "fc: DQ(f) DQ(wf) bf"}});
}

}  // namespace
}  // namespace halftone::test
