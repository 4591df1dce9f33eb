#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "sensitivity/mixed_precision/shape_book.h"

namespace halftone {
namespace {

constexpr std::array<std::string_view, 4> kMultiply = {"Conv", "ConvTranspose", "Gemm", "MatMul"};

std::uint64_t product(std::span<const std::uint64_t> factors) {
  // A zero makes it zero whatever passed 2^64 before.
  if (std::find(factors.begin(), factors.end(), 0U) != factors.end()) return 0;
  std::uint64_t result = 1;
  for (const std::uint64_t factor : factors) result = saturating_product(result, factor);
  return result;
}

}  // namespace

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

ShapeBook::ShapeBook(const Graph& graph, const MeasuredShapes& measured) : graph_(graph) {
  for (const auto& [tensor, shape] : measured) measured_[tensor] = &shape;
}

std::optional<std::vector<std::uint64_t>> ShapeBook::shape(TensorId id) const {
  if (id == kNone) return std::nullopt;
  const GraphTensor& tensor = graph_.tensor(id);
  std::vector<std::uint64_t> dims;
  const auto add = [&](std::int64_t value) {
    if (value < 0) return false;
    dims.push_back(static_cast<std::uint64_t>(value));
    return true;
  };
  if (const auto found = measured_.find(tensor.name); found != measured_.end()) {
    for (const std::int64_t value : *found->second) {
      if (!add(value)) return std::nullopt;
    }
    return dims;
  }
  if (!tensor.shape) return std::nullopt;
  for (const Dimension& dimension : *tensor.shape) {
    if (!add(dimension.value)) return std::nullopt;
  }
  return dims;
}

bool multiplies(const GraphNode& node) {
  return node.domain.empty() && node.inputs.size() >= 2 && !node.outputs.empty() &&
         std::find(kMultiply.begin(), kMultiply.end(), node.op_type) != kMultiply.end();
}

std::vector<TensorId> shapes_read(const GraphNode& node) {
  // What is as long as the result of the operator, or for a ConvTranspose as long as its data; and the
  // operand that says how many products each takes.
  if (node.op_type == "ConvTranspose") return {node.inputs[0], node.inputs[1]};
  return {node.outputs[0], node.op_type == "Conv" ? node.inputs[1] : node.inputs[0]};
}

std::optional<std::uint64_t> node_macs(const Graph& graph, NodeId id, const ShapeBook& shapes) {
  const GraphNode& node = graph.node(id);
  const std::vector<TensorId> read = shapes_read(node);
  const auto results = shapes.shape(read[0]);
  const auto operand = shapes.shape(read[1]);
  if (!results || !operand || operand->empty()) return std::nullopt;
  std::uint64_t each = 0;
  if (node.op_type == "Gemm") {
    if (operand->size() != 2) return std::nullopt;
    each = (*operand)[graph.int_attribute(id, "transA", 0) != 0 ? 0 : 1];
  } else if (node.op_type == "MatMul") {
    each = operand->back();
  } else {
    // A Conv's weight is [out, in / group, kernel…], a ConvTranspose's [in, out / group, kernel…].
    each = product(std::span(*operand).subspan(1));
  }
  return saturating_product(product(*results), each);
}

}  // namespace halftone
