// Codes that are given as numbers, and scales, as the bytes of an initializer: little endian; codes of 4 and
// 2 bits packed, the first in the lowest bits. For few numbers, such as zero points; quantize() of
// quant_grid.h packs by itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/number_format.h"

namespace halftone {

// Precondition: every code is one of the format's; of a small float, its bit pattern. Zero codes give no
// bytes.
std::vector<std::uint8_t> code_bytes(NumberFormat format, std::span<const std::int32_t> codes);

// The same for float32 values.
std::vector<std::uint8_t> float_bytes(std::span<const float> values);

}  // namespace halftone
