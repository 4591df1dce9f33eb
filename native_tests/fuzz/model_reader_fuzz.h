// The property that the fuzzer checks, for tests that replay a corpus.
#pragma once

#include <cstdint>
#include <span>

namespace halftone::test {

// Opens `bytes` as a model and, if it is one, writes it, opens that, and writes it again. True if it was a
// model; aborts if the property doesn't hold. Never throws.
bool read_and_write_again(std::span<const std::uint8_t> bytes);

}  // namespace halftone::test
