// The way back through a broadcast: the gradient of an operand that was spread along an axis is the sum over
// that axis.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sensitivity/first_order/shapes.h"

namespace halftone::first_order_model {

class Broadcast {
 public:
  // Of these operands with each other; kNone stands for none. Linear in their number.
  Broadcast(const Graph& graph, Shapes& shapes, NodeWriter& nodes, const std::vector<TensorId>& operands);

  // A gradient of the result's shape, in the operand's. Sums along axes of which only a run will know whether
  // the operand was spread over them are computed by nodes.
  std::string to_operand(const std::string& gradient, TensorId operand);

 private:
  // What the operands are along an axis of the result.
  struct Axis {
    std::size_t wide = 0;    // those that aren't known to be 1
    bool one_symbol = true;  // of which all have the same symbol
    std::string symbol;
  };

  [[nodiscard]] bool may_be_spread(TensorId operand, std::size_t axis) const;
  std::string to_unknown_rank(const std::string& gradient, TensorId operand);

  const Graph& graph_;
  Shapes& shapes_;
  NodeWriter& nodes_;
  bool ranks_known_ = true;
  std::vector<Axis> axes_;  // of the result, the last one first
};

}  // namespace halftone::first_order_model
