// ModelOpt's find_non_quantizable_partitions_from_patterns.
#include "plan/tensorrt/off_limits.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/example_graphs.h"

namespace halftone::test {
namespace {

struct Found {
  std::string gelu;
  std::string layer_norm;
  std::string attention;
  std::string triples;
};

Found off_limits(const PolicyCase& graph) {
  const std::shared_ptr<const Model> model = graph.open();
  const tensorrt::PolicyGraph view(model->graph(), tensorrt::Peer::kCorrect);
  const tensorrt::OffLimits off = find_off_limits(view);
  std::vector<NodeId> triples;
  for (const tensorrt::AttentionTriple& triple : find_attention_triples(view))
    triples.insert(triples.end(), {triple.first, triple.softmax, triple.second});
  return {node_text(model->graph(), off.gelu), node_text(model->graph(), off.layer_norm),
          node_text(model->graph(), off.attention), node_text(model->graph(), triples)};
}

PolicyCase tokens(const std::string& lines) {
  PolicyCase graph;
  graph.input("x", {2, 32, 64});
  for (const char* name : {"one", "half", "eps", "two"}) graph.weight(name, {});
  graph.weight("g", {64}).weight("b", {64}).nodes(lines).output("y");
  return graph;
}

TEST_CASE("GELU is Div Erf Add Mul Mul without anything between", "[plan][tensorrt]") {
  CHECK(
      off_limits(tokens("d = Div(x, two) #div; e = Erf(d) #erf; p = Add(e, one) #plus; m = Mul(x, p) #times;"
                        "y = Mul(m, half) #halve"))
          .gelu == "div erf plus times halve");
  CHECK(off_limits(tokens("d = Div(x, two) #div; e = Erf(d) #erf; c = Abs(e); p = Add(c, one) #plus;"
                          "m = Mul(x, p) #times; y = Mul(m, half) #halve"))
            .gelu.empty());
}

TEST_CASE("LayerNorm is the operator or its parts, with Cast between; a root-mean-square norm isn't",
          "[plan][tensorrt]") {
  CHECK(off_limits(tokens("y = LayerNormalization(x, g, b) #ln")).layer_norm == "ln");
  const std::string bare =
      "u = ReduceMean(x) #mean; c = Sub(x, u) #sub; p = Pow(c, two) #pow; v = ReduceMean(p) #var;"
      "e = Add(v, eps) #eps; s = Sqrt(e) #sqrt;";
  CHECK(off_limits(tokens(bare + "y = Div(c, s) #div")).layer_norm == "mean sub pow var eps sqrt div");
  CHECK(
      off_limits(tokens(bare + "d = Div(c, s) #div; m = Mul(d, g) #gain; y = Add(m, b) #shift")).layer_norm ==
      "mean sub pow var eps sqrt div gain shift");
  CHECK(off_limits(
            tokens("u = ReduceMean(x) #mean; c = Sub(x, u) #sub; k = Identity(c); p = Pow(k, two) #pow;"
                   "v = ReduceMean(p) #var; e = Add(v, eps) #eps; s = Sqrt(e) #sqrt; y = Div(c, s) #div"))
            .layer_norm.empty());
  CHECK(off_limits(rms_norm()).layer_norm.empty());
}

TEST_CASE("Attention is MatMul, Add of a variable mask, Softmax, MatMul without anything between",
          "[plan][tensorrt]") {
  const Found fused = off_limits(attention(Scaling::kNone, Mask::kVariable, false));
  CHECK(fused.attention == "bmm1 addmask softmax bmm2");
  CHECK(fused.triples == "bmm1 softmax bmm2");
  CHECK(off_limits(attention(Scaling::kMul, Mask::kVariable, false)).attention.empty());
  CHECK(off_limits(attention(Scaling::kNone, Mask::kConstant, false)).attention.empty());
}

TEST_CASE("Attentions for the exclusions look through scaling, masks and shape changes", "[plan][tensorrt]") {
  CHECK(off_limits(attention(Scaling::kMul, Mask::kVariable, true)).triples == "bmm1 softmax bmm2");
  CHECK(off_limits(attention(Scaling::kNone, Mask::kConstant, false)).triples == "bmm1 softmax bmm2");
  CHECK(off_limits(swiglu()).triples.empty());
}

}  // namespace
}  // namespace halftone::test
