// Walks a grid in memory order and cuts it into the two shapes that kernels know: rows with one scale each,
// and stretches over which a list of scales repeats. Private to src/numeric.
#pragma once

#include <cstddef>

#include "halftone/quant_grid.h"
#include "numeric/kernel_set.h"

namespace halftone::numeric {

// What is done with each piece. Pieces come in memory order, without gaps, and cover every element once.
class PieceVisitor {
 public:
  virtual ~PieceVisitor() = default;
  // How many elements the next piece may have; at least 1. Called before each piece.
  virtual std::size_t room() = 0;
  virtual void rows(std::size_t rows, std::size_t length, const RowGrid& grid) = 0;
  virtual void periodic(std::size_t count, const PeriodicGrid& grid) = 0;
};

// Precondition: check_grid() passed.
void walk_grid(const QuantGrid& grid, PieceVisitor& visitor);

}  // namespace halftone::numeric
