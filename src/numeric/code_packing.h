// Codes of a byte each, to and from their packed form, for every packing of block_kernels.h. Scalar: what the
// kernels do with widths that have no vector code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/block_kernels.h"

namespace halftone::numeric {

// Of each code, `bits` low bits count, so signed codes may be sign-extended. Writes packed_byte_count bytes.
void pack_codes(const std::uint8_t* codes, std::size_t count, CodePacking packing, std::uint8_t* packed);

// Reads packed_byte_count bytes. Codes are 0 .. 2^bits - 1; of base 3 they are 0 .. 2, whatever the byte.
void unpack_codes(const std::uint8_t* packed, std::size_t count, CodePacking packing, std::uint8_t* codes);

}  // namespace halftone::numeric
