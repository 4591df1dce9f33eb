// The integer codes of a constant tensor, and the float values that they stand for.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone {

struct ConstantCodes {
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> bytes;  // as an initializer holds them: little endian, 4-bit codes packed
};

// Weights by QuantizeLinear's rule, or half up where the site asks for it; biases as round_half_even(value /
// scale) in double. Errors: those of constant_values and of the kernels, with the tensor in `where`;
// kInvalidPolicy for a bias whose codes don't fit.
Result<ConstantCodes> constant_codes(const Model& model, const Site& site, const Encoding& encoding);

// float32 values, as bytes: float32(code - zero_point) * scale, rounded once.
Result<ConstantCodes> simulated_values(const Model& model, const Site& site, const Encoding& encoding);

}  // namespace halftone
