// Graphs that several tests of the policy look at. Their batch is 2, since a product with one row is excluded
// from quantization.
#pragma once

#include "plan/tensorrt/policy_case.h"

namespace halftone::test {

// conv1 relu1 conv2 relu2 conv3, Add of conv3's output and relu1's, relu3.
inline PolicyCase residual_block() {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .nodes(
          "c1 = Conv(x, w1) #conv1; r1 = Relu(c1) #relu1; c2 = Conv(r1, w2) #conv2; r2 = Relu(c2) #relu2;"
          "c3 = Conv(r2, w3) #conv3; a = Add(c3, r1) #add; y = Relu(a) #relu3")
      .output("y");
  return graph;
}

// The same with a convolution on the skip branch.
inline PolicyCase residual_block_with_downsample() {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .nodes(
          "c1 = Conv(x, w1) #conv1; r1 = Relu(c1) #relu1; c2 = Conv(r1, w2) #conv2; r2 = Relu(c2) #relu2;"
          "c3 = Conv(r2, w3) #conv3; c4 = Conv(r1, w4) #convd; a = Add(c3, c4) #add; y = Relu(a) #relu3")
      .output("y");
  return graph;
}

// Squeeze and excitation: the Mul's gate is a Sigmoid over convolved means.
inline PolicyCase squeeze_excitation() {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .nodes(
          "c1 = Conv(x, w1) #conv1; p = GlobalAveragePool(c1) #gap; c2 = Conv(p, w2) #conv2;"
          "s = Sigmoid(c2) #sig; m = Mul(c1, s) #mul; c3 = Conv(m, w3) #conv3")
      .output("c3");
  return graph;
}

enum class Mask { kVariable, kConstant };
enum class Scaling { kMul, kNone };

// LayerNormalization, attention of one head over 32 positions of 64 values, and with `whole` the projection's
// bias, the residual Add and a second LayerNormalization.
inline PolicyCase attention(Scaling scaling, Mask mask, bool whole) {
  PolicyCase graph;
  graph.input("x", {2, 32, 64}).weight("g", {64}).weight("b", {64});
  for (const char* name : {"wq", "wk", "wv", "wo"}) graph.weight(name, {64, 64});
  if (mask == Mask::kVariable) graph.input("mask", {2, 32, 32});
  if (mask == Mask::kConstant) graph.weight("mask", {32, 32});
  graph.nodes(
      "n = LayerNormalization(x, g, b) #ln; q = MatMul(n, wq) #mmq; k = MatMul(n, wk) #mmk;"
      "v = MatMul(n, wv) #mmv");
  graph.node("kt = Transpose(k) #tk", {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  if (scaling == Scaling::kMul) {
    graph.weight("factor", {})
        .nodes("qk = MatMul(q, kt) #bmm1; qs = Mul(qk, factor) #mulscale; qm = Add(qs, mask) #addmask");
  } else {
    graph.nodes("qk = MatMul(q, kt) #bmm1; qm = Add(qk, mask) #addmask");
  }
  graph.nodes("sm = Softmax(qm) #softmax; o = MatMul(sm, v) #bmm2; p = MatMul(o, wo) #mmo");
  if (!whole) return graph.output("p");
  return graph.weight("bias", {64})
      .nodes("pb = Add(p, bias) #addb; y0 = Add(pb, x) #addres; y = LayerNormalization(y0, g, b) #ln2")
      .output("y");
}

// gate and up projections, SiLU of the gate, product, down projection.
inline PolicyCase swiglu() {
  PolicyCase graph;
  graph.input("x", {2, 32, 64}).weight("wg", {64, 64}).weight("wu", {64, 64}).weight("wd", {64, 64});
  graph.nodes(
      "g = MatMul(x, wg) #gate; u = MatMul(x, wu) #up; s = Sigmoid(g) #sig; sw = Mul(g, s) #silu;"
      "h = Mul(sw, u) #gmul; y = MatMul(h, wd) #down");
  return graph.output("y");
}

// Root-mean-square norm, a product, the residual Add, a second product.
inline PolicyCase rms_norm() {
  PolicyCase graph;
  graph.input("x", {2, 32, 64})
      .weight("two", {})
      .weight("eps", {})
      .weight("gain", {64})
      .weight("w1", {64, 64})
      .weight("w2", {64, 64})
      .node("p = Pow(x, two) #pow")
      .node("mean = ReduceMean(p) #mean", {{"axes", std::vector<std::int64_t>{-1}}})
      .nodes(
          "e = Add(mean, eps) #addeps; sq = Sqrt(e) #sqrt; d = Div(x, sq) #div; n = Mul(d, gain) #mulg;"
          "m1 = MatMul(n, w1) #mm1; r = Add(m1, x) #res; y = MatMul(r, w2) #mm2");
  return graph.output("y");
}

}  // namespace halftone::test
