// Shapes that are known: measured ones first, then inferred ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "halftone/graph.h"
#include "halftone/mixed_precision.h"

namespace halftone {

// Products that stay at the largest number instead of wrapping around.
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);
std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b);

class ShapeBook {
 public:
  // Keeps references to both.
  ShapeBook(const Graph& graph, const MeasuredShapes& measured);

  // nullopt if a dimension isn't known; a negative one counts as that.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> shape(TensorId id) const;

 private:
  const Graph& graph_;
  std::unordered_map<std::string_view, const std::vector<std::int64_t>*> measured_;
};

// True for the operators whose multiply-accumulates are counted.
bool multiplies(const GraphNode& node);

// Multiply-accumulates of one such node; nullopt if a shape isn't known or doesn't fit the operator.
std::optional<std::uint64_t> node_macs(const Graph& graph, NodeId id, const ShapeBook& shapes);

// The tensors whose shapes node_macs() reads.
std::vector<TensorId> shapes_read(const GraphNode& node);

}  // namespace halftone
