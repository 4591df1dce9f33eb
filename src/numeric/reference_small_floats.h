// float8e4m3fn by its definition: what the kernels are tested against. Private to src/numeric and its tests.
#pragma once

#include <cstdint>

#include "numeric/kernel_set.h"

namespace halftone::numeric {

inline constexpr std::uint8_t kFloat8Sign = 0x80;
inline constexpr std::uint8_t kFloat8Nan = 0x7F;      // and 0xFF
inline constexpr std::uint8_t kFloat8Largest = 0x7E;  // 448

// What a code stands for; exact. NaN of the code's sign for 0x7F and 0xFF.
float float8_value(std::uint8_t code);

// The code nearest to x / scale, half to the even code, saturating at +-448. The sign is that of x, also for
// zeros and NaN. Precondition: scale > 0 and finite.
std::uint8_t float8_code(float x, float scale);

CodeKernels reference_float8_kernels();

}  // namespace halftone::numeric
