// Which version of the default operator set a set of quantizers needs.
#pragma once

#include <cstdint>
#include <span>

#include "halftone/plan.h"

namespace halftone {

// For one site, quantized or not: activations need QuantizeLinear and DequantizeLinear, the others
// DequantizeLinear only; scales along an axis need 13, blocks 21.
std::int64_t opset_needed_for(const Site& site);

// The largest over the quantized sites; 0 if there are none.
std::int64_t opset_needed_for(std::span<const Site> sites);

// For a whole plan: 13 where a bias stays float behind a pair (any plan of target tensorrt), since
// onnxruntime's optimizer quantizes it by itself with a Round, which older sets lack.
std::int64_t opset_needed_for(const Plan& plan);

}  // namespace halftone
