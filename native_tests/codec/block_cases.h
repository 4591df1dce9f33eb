// Shorthand for tests of block layouts.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/block_format.h"

namespace halftone::test {

struct StoredBlocks {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  friend bool operator==(const StoredBlocks&, const StoredBlocks&) = default;
};

// Both require success.
StoredBlocks encoded(const BlockCoding& coding, const std::vector<float>& x);
std::vector<float> decoded(const BlockCoding& coding, const StoredBlocks& blocks, std::size_t count);

// Room for `count` elements, all bytes 0.
StoredBlocks empty_blocks(const BlockCoding& coding, std::size_t count);

std::string hex(const std::vector<std::uint8_t>& bytes);
std::vector<std::uint8_t> bytes_of(std::string_view hex);

std::vector<float> normal_values(std::mt19937& random, std::size_t count, float deviation = 1.0F);

}  // namespace halftone::test
