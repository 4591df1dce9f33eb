// Along which axis the scales of a constant operand lie (contract, "Per-channel axis of weights").
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "halftone/graph.h"

namespace halftone {

// What one reader wants of a constant that it reads.
struct AxisWish {
  std::int32_t axis = -1;  // -1: one scale for the tensor
  std::string
      reason;  // completes "one scale …": "per output channel (axis 0)" or "for the tensor, because …"
};

// Precondition: `use` is input 0 or 1 of a Conv, ConvTranspose, Gemm or MatMul, and reads a constant of
// `rank` dimensions.
//   Conv 0; ConvTranspose 1 (group > 1: per tensor); Gemm right operand 0 if transB else 1; MatMul right
//   operand the last axis, left operand the second-last (rank 0 or 1: per tensor). A constant data input of
//   the others: per tensor.
AxisWish weight_axis(const Graph& graph, Use use, std::size_t rank);

// What all readers of one constant can agree on. Precondition: not empty.
AxisWish agreed_axis(std::span<const AxisWish> wishes);

}  // namespace halftone
