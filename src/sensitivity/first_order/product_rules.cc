// Matrix products.
#include <algorithm>
#include <cstdint>

#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {
namespace {

struct Matrices {
  std::string a;
  std::string b;
  std::string gradient;
};

std::string transposed(NodeWriter& nodes, const std::string& tensor, std::size_t rank) {
  Ints permutation(rank);
  for (std::size_t i = 0; i < rank; ++i) permutation[i] = static_cast<std::int64_t>(i);
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return nodes.add("Transpose", {tensor}, {{"perm", permutation}});
}

// Vectors as the matrices that MatMul takes them for.
Matrices as_matrices(BackwardStep& step, std::size_t rank_a, std::size_t rank_b) {
  NodeWriter& nodes = step.nodes;
  Matrices made{step.input(0), step.input(1), step.gradient()};
  if (rank_b == 1) {
    made.b = nodes.add("Unsqueeze", {made.b, nodes.ints({1})});
    made.gradient = nodes.add("Unsqueeze", {made.gradient, nodes.ints({-1})});
  }
  if (rank_a == 1) {
    made.a = nodes.add("Unsqueeze", {made.a, nodes.ints({0})});
    made.gradient = nodes.add("Unsqueeze", {made.gradient, nodes.ints({-2})});
  }
  return made;
}

std::string reshaped(BackwardStep& step, const std::string& tensor, TensorId like) {
  return step.nodes.add("Reshape", {tensor, step.shapes.of(like)}, {{"allowzero", std::int64_t{1}}});
}

// The sum over the dimensions in front of the matrices along which the operand was spread. They are filled up
// to a common number; the matrices' own dimensions are those of the operand.
std::string over_batches(BackwardStep& step, const std::string& gradient, std::size_t input,
                         std::size_t rank_a, std::size_t rank_b) {
  const std::size_t own = std::max<std::size_t>(2, input == 0 ? rank_a : rank_b);
  const std::size_t rank = std::max({std::size_t{2}, rank_a, rank_b});
  NodeWriter& nodes = step.nodes;
  std::string sum = gradient;
  if (own < rank) {
    Ints leading;
    for (std::size_t i = 0; i < rank - own; ++i) leading.push_back(static_cast<std::int64_t>(i));
    sum = nodes.add("ReduceSum", {sum, nodes.ints(leading)}, {{"keepdims", std::int64_t{0}}});
  }
  const TensorId operand = step.node.inputs[input];
  const TensorId other = step.node.inputs[1 - input];
  const std::size_t rank_of_other = input == 0 ? rank_b : rank_a;
  bool spread = false;
  for (std::size_t i = 0; i + 2 < own; ++i) {
    // Counted from the last axis: the other operand may be shorter.
    const std::size_t from_last = own - 1 - i;
    const std::int64_t size = step.shapes.dimension(operand, i);
    const std::int64_t across =
        from_last < rank_of_other ? step.shapes.dimension(other, rank_of_other - 1 - from_last) : 1;
    spread = spread || (size <= 1 && size != 0 && across != 1);
  }
  if (!spread) return sum;
  return nodes.add("ReduceSum", {sum, step.shapes.spread_axes(operand, sum)},
                   {{"keepdims", std::int64_t{1}}, {"noop_with_empty_axes", std::int64_t{1}}});
}

}  // namespace

Result<void> back_matmul(BackwardStep& step) {
  step.give_linear_effect(0, 2);
  step.give_linear_effect(1, 2);
  const bool wants_a = step.wants(0) && step.changes[0].empty();
  const bool wants_b = step.wants(1) && step.changes[1].empty();
  if (!wants_a && !wants_b) return {};
  const auto rank_a = step.shapes.rank(step.input_id(0));
  const auto rank_b = step.shapes.rank(step.input_id(1));
  if (!rank_a || !rank_b || *rank_a == 0 || *rank_b == 0)
    return step.unsupported("the rank of its operands isn't known");
  const Matrices of = as_matrices(step, *rank_a, *rank_b);
  const std::size_t rows_a = std::max<std::size_t>(2, *rank_a);
  const std::size_t rows_b = std::max<std::size_t>(2, *rank_b);
  NodeWriter& nodes = step.nodes;
  if (wants_a) {
    const std::string full = nodes.add("MatMul", {of.gradient, transposed(nodes, of.b, rows_b)});
    const std::string own = over_batches(step, full, 0, *rank_a, *rank_b);
    step.given[0] = *rank_a == 1 ? reshaped(step, own, step.node.inputs[0]) : own;
  }
  if (wants_b) {
    const std::string full = nodes.add("MatMul", {transposed(nodes, of.a, rows_a), of.gradient});
    const std::string own = over_batches(step, full, 1, *rank_a, *rank_b);
    step.given[1] = *rank_b == 1 ? reshaped(step, own, step.node.inputs[1]) : own;
  }
  return {};
}

// Y = alpha A' B' + beta C
Result<void> back_gemm(BackwardStep& step) {
  const float alpha = step.graph.float_attribute(step.id, "alpha", 1.0F);
  const float beta = step.graph.float_attribute(step.id, "beta", 1.0F);
  const bool turned_a = step.graph.int_attribute(step.id, "transA", 0) != 0;
  const bool turned_b = step.graph.int_attribute(step.id, "transB", 0) != 0;
  const auto gemm = [&](const std::string& left, bool turn_left, const std::string& right, bool turn_right) {
    return step.nodes.add("Gemm", {left, right},
                          {{"alpha", alpha},
                           {"transA", std::int64_t{turn_left ? 1 : 0}},
                           {"transB", std::int64_t{turn_right ? 1 : 0}}});
  };
  step.give_linear_effect(0, 2);
  step.give_linear_effect(1, 2);
  const std::string& g = step.gradient();
  if (step.wants(0) && step.changes[0].empty()) {
    step.given[0] =
        turned_a ? gemm(step.input(1), turned_b, g, true) : gemm(g, false, step.input(1), !turned_b);
  }
  if (step.wants(1) && step.changes[1].empty()) {
    step.given[1] =
        turned_b ? gemm(g, true, step.input(0), turned_a) : gemm(step.input(0), !turned_a, g, false);
  }
  if (step.wants(2)) {
    // C is spread over the product: its shape and a matrix's.
    Broadcast broadcast(step.graph, step.shapes, step.nodes, {step.input_id(2), step.node.outputs.front()});
    step.given[2] = broadcast.to_operand(step.nodes.times(g, beta), step.input_id(2));
  }
  return {};
}

}  // namespace halftone::first_order_model
