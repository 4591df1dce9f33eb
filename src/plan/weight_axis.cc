#include "plan/weight_axis.h"

#include <algorithm>
#include <cstddef>

namespace halftone {
namespace {

AxisWish per_tensor(std::string because) { return {-1, "for the tensor, because " + std::move(because)}; }

AxisWish per(const std::string& unit, std::int64_t axis) {
  return {static_cast<std::int32_t>(axis), "per " + unit + " (axis " + std::to_string(axis) + ")"};
}

AxisWish matmul_axis(Use use, std::size_t rank) {
  if (rank < 2) return per_tensor("it is a vector; a matrix would get one per column");
  const auto last = static_cast<std::int64_t>(rank) - 1;
  return use.input == 1 ? per("column", last) : per("row", last - 1);
}

AxisWish conv_transpose_axis(const Graph& graph, Use use, std::size_t rank) {
  const std::int64_t group = graph.int_attribute(use.node, "group", 1);
  if (group != 1) {
    return per_tensor("group is " + std::to_string(group) +
                      "; with group 1 it would be one per output channel");
  }
  return rank < 2 ? per_tensor("it has fewer than two dimensions") : per("output channel", 1);
}

}  // namespace

AxisWish weight_axis(const Graph& graph, Use use, std::size_t rank) {
  const std::string& op = graph.node(use.node).op_type;
  if (op == "MatMul") return matmul_axis(use, rank);
  if (use.input == 0) return per_tensor("it is the data input, which has no output channels");
  if (op == "ConvTranspose") return conv_transpose_axis(graph, use, rank);
  if (op == "Gemm") {
    if (rank != 2) return per_tensor("it is no matrix");
    return per("output channel", graph.int_attribute(use.node, "transB", 0) != 0 ? 0 : 1);
  }
  return rank < 1 ? per_tensor("it has no dimensions") : per("output channel", 0);
}

AxisWish agreed_axis(std::span<const AxisWish> wishes) {
  const AxisWish& first = wishes.front();
  for (const AxisWish& wish : wishes) {
    if (wish.axis < 0) return wish;
  }
  const auto other = std::find_if(wishes.begin(), wishes.end(),
                                  [&](const AxisWish& wish) { return wish.axis != first.axis; });
  if (other == wishes.end()) return first;
  return per_tensor("its readers want one per index of different axes (" + std::to_string(first.axis) +
                    " and " + std::to_string(other->axis) + ")");
}

}  // namespace halftone
