// ModelOpt's automatic exclusions, by the tables of its tests.
#include "plan/tensorrt/exclusions.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

using Ints = std::vector<std::int64_t>;
using tensorrt::Exclusion;
using tensorrt::Peer;
using tensorrt::PolicyGraph;
using tensorrt::Precision;
using tensorrt::Shape;
using tensorrt::TensorShapes;

using Shapes = std::vector<std::pair<std::string, Shape>>;

std::string text(const Graph& graph, const std::vector<Exclusion>& exclusions) {
  std::string out;
  for (const Exclusion& exclusion : exclusions) {
    CHECK(exclusion.why.ends_with("."));
    out += (out.empty() ? "" : " ") + graph.node_label(exclusion.node) + ":" + exclusion.rule;
  }
  return out;
}

std::string matmul_exclusions(const PolicyCase& graph, const Shapes& from_a_run = {}) {
  const std::shared_ptr<const Model> model = graph.open();
  const PolicyGraph view(model->graph(), Peer::kCorrect);
  const TensorShapes shapes(model->graph(), from_a_run);
  return text(model->graph(), find_nodes_from_matmul_to_exclude(view, shapes));
}

std::string product(const Dims& left, const Dims& right, bool constant_right) {
  PolicyCase graph;
  graph.input("x", left);
  if (constant_right) {
    graph.weight("k", right);
  } else {
    graph.input("k", right);
  }
  return matmul_exclusions(graph.node("y = MatMul(x, k) #mm").output("y"));
}

TEST_CASE("Products with fewer than 16 columns or terms are excluded", "[plan][tensorrt]") {
  struct Case {
    std::int64_t rows, terms, columns;
    bool excluded;
  };
  const Case cases[] = {{32, 64, 8, true},   {32, 64, 15, true},   {32, 8, 64, true},   {32, 15, 64, true},
                        {32, 8, 8, true},    {32, 64, 16, false},  {32, 16, 64, false}, {32, 64, 64, false},
                        {32, 32, 32, false}, {128, 256, 64, false}};
  for (const Case& c : cases) {
    CAPTURE(c.rows, c.terms, c.columns);
    for (const bool constant : {true, false})
      CHECK(product({c.rows, c.terms}, {c.terms, c.columns}, constant) ==
            (c.excluded ? "mm:small_gemm" : ""));
  }
}

TEST_CASE("A matrix times a vector is excluded", "[plan][tensorrt]") {
  CHECK(product({32, 64}, {64, 1}, true) == "mm:gemv");
  CHECK(product({32, 64}, {64, 1}, false) == "mm:gemv");
  CHECK(product({1, 64}, {64, 64}, true) == "mm:gemv");
  CHECK(product({1, 64}, {64, 64}, false) == "mm:gemv");
  CHECK(product({64}, {64, 64}, false) == "mm:gemv");
  // One row of rank 3: only a variable right side counts.
  CHECK(product({1, 1, 64}, {64, 64}, true).empty());
  CHECK(product({1, 1, 64}, {1, 64, 64}, false) == "mm:gemv");
}

std::string gemm(const Dims& left, const Dims& right, std::int64_t trans_b) {
  PolicyCase graph;
  graph.input("x", left).weight("k", right).node("y = Gemm(x, k) #fc", {{"transB", trans_b}}).output("y");
  return matmul_exclusions(graph);
}

TEST_CASE("A Gemm's terms are counted along its transposed weight", "[plan][tensorrt]") {
  CHECK(gemm({32, 8}, {64, 8}, 1) == "fc:small_gemm");
  CHECK(gemm({32, 64}, {64, 64}, 1).empty());
  CHECK(gemm({32, 64}, {20, 64}, 1).empty());
  CHECK(gemm({32, 8}, {8, 64}, 0) == "fc:small_gemm");
}

TEST_CASE("Shapes of a run go before inferred ones, whose unknown dimensions count as 1",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {-1, 64}).weight("k", {64, 64}).node("y = MatMul(x, k) #mm").output("y");
  CHECK(matmul_exclusions(graph) == "mm:gemv");
  CHECK(matmul_exclusions(graph, {{"y", {2, 64}}}).empty());
  CHECK(matmul_exclusions(graph, {{"y", {1, 64}}}) == "mm:gemv");
  CHECK(matmul_exclusions(graph, {{"no such tensor", {2, 64}}}) == "mm:gemv");
  // Without any shape nothing is excluded.
  PolicyCase unknown;
  unknown.input("x", {2, 64})
      .node("t = Mystery(x)", {}, "custom")
      .node("u = Mystery(x)", {}, "custom")
      .node("y = MatMul(t, u) #mm")
      .output("y");
  CHECK(matmul_exclusions(unknown).empty());
}

struct ConvCase {
  std::int64_t out_channels = 64;
  std::int64_t in_channels = 64;  // per group
  std::int64_t kernel = 3;
  std::int64_t groups = 1;
  bool behind_relu = false;  // else it reads a graph input
  bool kernel_attribute = true;
  std::int64_t kernel_width = 0;  // 0: as kernel
};

std::string conv(const ConvCase& c, Precision precision) {
  const std::int64_t width = c.kernel_width == 0 ? c.kernel : c.kernel_width;
  PolicyCase graph;
  graph.input("x", {1, c.in_channels * c.groups, 32, 32})
      .weight("k", {c.out_channels, c.in_channels, c.kernel, width});
  Attributes attributes = {{"group", c.groups}};
  if (c.kernel_attribute) attributes.push_back({"kernel_shape", Ints{c.kernel, width}});
  if (c.behind_relu) graph.node("r = Relu(x) #relu");
  graph.node(c.behind_relu ? "y = Conv(r, k) #conv" : "y = Conv(x, k) #conv", attributes).output("y");
  const std::shared_ptr<const Model> model = graph.open();
  const PolicyGraph view(model->graph(), Peer::kCorrect);
  return text(model->graph(), find_nodes_from_convs_to_exclude(view, precision));
}

TEST_CASE("float8 excludes convolutions with 16 channels or fewer on either side", "[plan][tensorrt]") {
  struct Case {
    std::int64_t out, in;
    bool excluded;
  };
  const Case cases[] = {{16, 64, true},  {64, 16, true},  {8, 8, true},    {16, 16, true},
                        {17, 64, false}, {64, 17, false}, {17, 17, false}, {32, 32, false},
                        {64, 64, false}, {15, 64, true},  {64, 15, true},  {1, 1, true}};
  for (const Case& c : cases) {
    CAPTURE(c.out, c.in);
    CHECK(conv({.out_channels = c.out, .in_channels = c.in}, Precision::kFloat8) ==
          (c.excluded ? "conv:small_convolution" : ""));
  }
}

TEST_CASE("float8 excludes kernels of more than 32 elements", "[plan][tensorrt]") {
  CHECK(conv({.kernel = 5}, Precision::kFloat8).empty());
  CHECK(conv({.kernel = 6}, Precision::kFloat8) == "conv:large_kernel");
  CHECK(conv({.kernel = 7}, Precision::kFloat8) == "conv:large_kernel");
  CHECK(conv({.kernel = 4, .kernel_width = 8}, Precision::kFloat8).empty());
  CHECK(conv({.kernel = 7}, Precision::kInt8).empty());
}

TEST_CASE("int8 keeps some convolutions with few channels", "[plan][tensorrt]") {
  constexpr const char* kOut = "conv:small_convolution";
  CHECK(conv({.out_channels = 8, .in_channels = 64}, Precision::kInt8).empty());
  CHECK(conv({.out_channels = 64, .in_channels = 3}, Precision::kInt8).empty());
  CHECK(conv({.out_channels = 12, .in_channels = 12}, Precision::kInt8) == kOut);
  CHECK(conv({.out_channels = 12, .in_channels = 20}, Precision::kInt8) == kOut);
  // Both small: only directly behind a graph input.
  CHECK(conv({.out_channels = 8, .in_channels = 8}, Precision::kInt8).empty());
  CHECK(conv({.out_channels = 8, .in_channels = 8, .behind_relu = true}, Precision::kInt8) == kOut);
  CHECK(conv({.out_channels = 8, .in_channels = 64, .behind_relu = true}, Precision::kInt8).empty());
  // A kernel with unequal sides, by the attribute; without it the kernel counts as 1 x 1.
  CHECK(conv({.out_channels = 8, .kernel_width = 1}, Precision::kInt8) == kOut);
  CHECK(conv({.out_channels = 8, .kernel_attribute = false, .kernel_width = 1}, Precision::kInt8).empty());
  // Depthwise from 3 x 3 up, with a multiple of 8 channels.
  CHECK(conv({.out_channels = 32, .in_channels = 1, .groups = 32}, Precision::kInt8).empty());
  CHECK(conv({.out_channels = 32, .in_channels = 1, .kernel = 2, .groups = 32}, Precision::kInt8) == kOut);
  CHECK(conv({.out_channels = 32, .in_channels = 1, .kernel = 1, .groups = 32}, Precision::kInt8) == kOut);
  CHECK(conv({.out_channels = 36, .in_channels = 1, .groups = 36}, Precision::kInt8) == kOut);
}

TEST_CASE("A weight of unknown shape excludes; ConvTranspose is never looked at", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {1, 8, 8, 8})
      .node("k = Mystery(x)", {}, "custom")
      .weight("t", {8, 8, 1, 1})
      .nodes("y = Conv(x, k) #conv; z = ConvTranspose(x, t) #up")
      .output("y")
      .output("z");
  const std::shared_ptr<const Model> model = graph.open();
  const PolicyGraph view(model->graph(), Peer::kCorrect);
  CHECK(text(model->graph(), find_nodes_from_convs_to_exclude(view, Precision::kInt8)) ==
        "conv:weight_shape_unknown");
}

// q k^T, `between`, softmax, times v; heads of `head` values over `sequence` positions.
std::string attention_exclusions(std::int64_t sequence, std::int64_t head, const std::string& between,
                                 Precision precision) {
  PolicyCase graph;
  graph.input("q", {2, sequence, head})
      .input("k", {2, head, sequence})
      .input("v", {2, sequence, head})
      .input("mask", {2, sequence, sequence})
      .weight("factor", {})
      .nodes("s = MatMul(q, k) #bmm1;" + between + "p = Softmax(t) #softmax; y = MatMul(p, v) #bmm2")
      .output("y");
  const std::shared_ptr<const Model> model = graph.open();
  const PolicyGraph view(model->graph(), Peer::kCorrect);
  const TensorShapes shapes(model->graph(), {});
  return text(model->graph(), find_nodes_from_mha_to_exclude(view, shapes, precision));
}

TEST_CASE("int8 excludes attentions over more than 512 positions", "[plan][tensorrt]") {
  CHECK(attention_exclusions(512, 64, "t = Mul(s, factor);", Precision::kInt8).empty());
  CHECK(attention_exclusions(513, 64, "t = Mul(s, factor);", Precision::kInt8) ==
        "bmm1:long_attention bmm2:long_attention");
  CHECK(attention_exclusions(513, 64, "t = Tanh(s);", Precision::kInt8).empty());  // no attention
}

TEST_CASE("float8 excludes unusual heads and patterns that TensorRT doesn't fuse", "[plan][tensorrt]") {
  const std::string scaled = "t = Mul(s, factor);";
  constexpr const char* kHead = "bmm1:attention_head_size bmm2:attention_head_size";
  constexpr const char* kPattern = "bmm1:attention_not_fused bmm2:attention_not_fused";
  CHECK(attention_exclusions(600, 64, scaled, Precision::kFloat8).empty());
  CHECK(attention_exclusions(64, 9, scaled, Precision::kFloat8).empty());
  CHECK(attention_exclusions(64, 8, scaled, Precision::kFloat8) == kHead);
  CHECK(attention_exclusions(64, 256, scaled, Precision::kFloat8).empty());
  CHECK(attention_exclusions(64, 257, scaled, Precision::kFloat8) == kHead);
  CHECK(attention_exclusions(64, 64, "u = Mul(s, factor); t = Add(u, mask);", Precision::kFloat8).empty());
  CHECK(attention_exclusions(64, 64, "u = Add(s, mask); t = Mul(u, factor);", Precision::kFloat8) ==
        kPattern);
}

}  // namespace
}  // namespace halftone::test
