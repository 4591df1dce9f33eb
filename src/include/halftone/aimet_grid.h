// AIMET's grids: from a range to a step and an offset. Unlike params_from_range, a symmetric range may use
// the lowest code, each side has its own number of steps, and a range of zeros gets a tiny step instead of 1.
//
//   real = delta * (q + offset), q in [0, steps]        q: the code counted from 0, offset <= 0
//
// Source: AIMET's (min, max) -> (delta, offset) of the 2.x line, in double.
// Threading: plain functions.
#pragma once

#include "halftone/number_format.h"
#include "halftone/quant_params.h"
#include "halftone/result.h"

namespace halftone {

// How a quantizer of target aimet deviates from AIMET's default, and Halftone's own rounding.
struct AimetGrid {
  bool strict_symmetric = false;    // symmetric only: leaves out the lowest code
  bool unsigned_symmetric = false;  // symmetric only: a range without negative values starts at 0
  // A constant's codes are rounded half up, counted from the lowest code, as AIMET's kernel does; otherwise
  // half to even around the zero point, as QuantizeLinear.
  bool half_up = false;
  bool operator==(const AimetGrid&) const = default;
};

struct AimetSteps {
  double delta = 1.0;   // > 0
  double offset = 0.0;  // whole, in [-steps, 0]
  double min = 0.0;     // what the lowest and the highest code mean
  double max = 0.0;
};

// Preconditions: 2 <= bits <= 16, min <= max, neither NaN; infinities and numbers beyond float32 are clamped
// to 0.99 times its largest. A range of zeros gives a delta of 2^-23.
AimetSteps aimet_steps(int bits, Symmetry symmetry, const AimetGrid& grid, double min, double max);

// The same as QuantizeLinear takes it. The zero point is lowest code - offset; of a strict symmetric grid it
// is that of a plain one, so that what is left out is the lowest code of the format (-128 of int8).
// Errors: kUnsupportedType unless the format has integer codes of 4 to 16 bits; kNonFinite; kInvalidPolicy if
// min > max.
Result<QuantParams> aimet_params(NumberFormat format, Symmetry symmetry, const AimetGrid& grid,
                                 ValueRange range);

}  // namespace halftone
