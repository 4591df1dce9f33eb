#include "codec/block_cases.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace halftone::test {

StoredBlocks empty_blocks(const BlockCoding& coding, std::size_t count) {
  const Result<BlockByteCounts> bytes = block_byte_counts(coding, count);
  REQUIRE(bytes.ok());
  return {std::vector<std::uint8_t>(static_cast<std::size_t>(bytes.value().codes)),
          std::vector<std::uint8_t>(static_cast<std::size_t>(bytes.value().scales))};
}

StoredBlocks encoded(const BlockCoding& coding, const std::vector<float>& x) {
  StoredBlocks blocks = empty_blocks(coding, x.size());
  // Whatever lay there before must not matter.
  blocks.codes.assign(blocks.codes.size(), 0xA5);
  blocks.scales.assign(blocks.scales.size(), 0xA5);
  const Result<void> done = encode_blocks(coding, FloatView(x), blocks.codes, blocks.scales);
  INFO((done.ok() ? std::string() : done.error().message));
  REQUIRE(done.ok());
  return blocks;
}

std::vector<float> decoded(const BlockCoding& coding, const StoredBlocks& blocks, std::size_t count) {
  std::vector<float> y(count, -12345.0F);
  REQUIRE(decode_blocks(coding, blocks.codes, blocks.scales, MutableFloatView(y)).ok());
  return y;
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::vector<std::uint8_t> bytes_of(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return bytes;
}

// Box and Muller: std::normal_distribution differs between libraries.
std::vector<float> normal_values(std::mt19937& random, std::size_t count, float deviation) {
  constexpr double kTwoPi = 6.283185307179586;
  const auto uniform = [&] { return (static_cast<double>(random()) + 0.5) / 4294967296.0; };
  std::vector<float> values(count);
  for (float& v : values) {
    const double normal = std::sqrt(-2.0 * std::log(uniform())) * std::cos(kTwoPi * uniform());
    v = deviation * static_cast<float>(normal);
  }
  return values;
}

}  // namespace halftone::test
