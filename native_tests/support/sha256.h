// SHA-256 (FIPS 180-4), for comparing with the hashes in golden files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace halftone::test {

// Lower-case hex.
std::string sha256(std::span<const std::uint8_t> bytes);

}  // namespace halftone::test
