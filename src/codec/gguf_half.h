// The float16 scales inside GGUF's blocks, little endian at any address.
#pragma once

#include <cmath>
#include <cstdint>

#include "halftone/small_floats.h"

namespace halftone::codec {

inline float load_half(const std::uint8_t* from) {
  return float16_value(static_cast<std::uint16_t>(from[0] | from[1] << 8U));
}

// False, with nothing written, if x is beyond float16 or not finite.
inline bool store_half(float x, std::uint8_t* to) {
  const std::uint16_t bits = float16_bits(x);
  constexpr std::uint16_t kExponent = 0x7C00;
  if ((bits & kExponent) == kExponent) return false;
  to[0] = static_cast<std::uint8_t>(bits & 0xFFU);
  to[1] = static_cast<std::uint8_t>(bits >> 8U);
  return true;
}

}  // namespace halftone::codec
