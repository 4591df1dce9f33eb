// Codes of a block as the stream of bits, or of base-3 bytes, that a record ends with. Any width, one code
// after the other: the definition that kernels are tested against.
#pragma once

#include <cstdint>
#include <span>

#include "halftone/codec_plan.h"

namespace halftone::codec {

enum class StreamFault : std::uint8_t { kNone, kPadding, kBase3Byte };

// Codes are 0 .. 2^bits - 1 (of signed ones the low bits count), or 0 .. 2 in base 3. Writes the code bytes
// of the layout.
void write_codes(const BlockLayout& layout, std::span<const std::uint16_t> codes, std::uint8_t* out);

StreamFault read_codes(const BlockLayout& layout, const std::uint8_t* from, std::span<std::uint16_t> codes);

// Whether what isn't a code is as it has to be.
StreamFault check_code_bytes(const BlockLayout& layout, std::span<const std::uint8_t> bytes,
                             std::uint64_t codes);

}  // namespace halftone::codec
