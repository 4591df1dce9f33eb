// Kernels of small floats by their definition: what the SIMD kernels are tested against. Private to
// src/numeric and its tests.
#pragma once

#include <cstdint>

#include "halftone/small_floats.h"
#include "numeric/kernel_set.h"

namespace halftone::numeric {

// The code nearest to x / scale, half to the even code, saturating. The sign is that of x, also for
// zeros and NaN, but a quotient of exactly 0 is code 0 in float4e2m1 and float6. Precondition: scale > 0 and
// finite.
std::uint8_t small_float_quotient_code(SmallFloat type, float x, float scale);

// For the five types that are number formats.
template <SmallFloat kType>
CodeKernels reference_small_float_kernels();

// For float6e3m2 and float6e2m3.
template <SmallFloat kType>
RowKernels reference_small_float_rows();

}  // namespace halftone::numeric
