// Shapes of tensors of the model, known or computed by nodes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "halftone/graph.h"
#include "sensitivity/first_order/node_writer.h"

namespace halftone::first_order_model {

class Shapes {
 public:
  Shapes(const Graph& graph, NodeWriter& nodes) : graph_(graph), nodes_(nodes) {}

  // Of a tensor that was left out (kNone) nothing is known.
  [[nodiscard]] std::optional<std::size_t> rank(TensorId tensor) const;
  // Where every dimension is known.
  [[nodiscard]] std::optional<Ints> known(TensorId tensor) const;
  // -1 where it isn't known, or there is no such axis.
  [[nodiscard]] std::int64_t dimension(TensorId tensor, std::size_t axis) const;

  // int64 [rank]: a constant where it is known.
  std::string of(TensorId tensor);
  // int64: the axes along which `wide`, a tensor of the same rank, was spread from `tensor`, which has size 1
  // there.
  std::string spread_axes(TensorId tensor, const std::string& wide);
  // int64 []: the number of values.
  std::string size(TensorId tensor);

 private:
  const Graph& graph_;
  NodeWriter& nodes_;
  std::unordered_map<TensorId, std::string> shapes_;
  std::unordered_map<TensorId, std::string> is_unit_;  // bool [rank]: whether a dimension is 1
};

}  // namespace halftone::first_order_model
