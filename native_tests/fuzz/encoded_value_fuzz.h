// The properties that the fuzzer of encoded values and block layouts checks, for tests that replay a corpus.
#pragma once

#include <cstdint>
#include <span>

namespace halftone::test {

// Reads `bytes` as an encoded value and decodes it. What can be read is written and read again to the same
// message, and decodes the same; what is decoded has as many values as its shape says, all finite. True if it
// was decoded; aborts if a property doesn't hold. Never throws.
bool read_and_decode(std::span<const std::uint8_t> bytes);

// Takes the first bytes as a block layout and a number of elements, the others as codes and scales. Decodes
// them, and what is finite is encoded again and decoded. True if there were enough bytes; aborts if decoding
// fails, or an encoder refuses what it may not refuse.
bool decode_any_blocks(std::span<const std::uint8_t> bytes);

}  // namespace halftone::test
