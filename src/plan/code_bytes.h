// Codes as the bytes of an initializer: little endian, 4-bit codes two to a byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/number_format.h"

namespace halftone {

// Precondition: the format is an integer one, and every code is one of its codes.
std::vector<std::uint8_t> code_bytes(NumberFormat format, std::span<const std::int32_t> codes);

// The same for float32 values.
std::vector<std::uint8_t> float_bytes(std::span<const float> values);

}  // namespace halftone
