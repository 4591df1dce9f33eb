#include "support/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

namespace halftone::test {
namespace {

using Words = std::array<std::uint32_t, 64>;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes, computed by integer
// search so that no floating-point rounding matters: the largest r with r^3 <= p * 2^96.
std::uint32_t cube_root_fraction(std::uint32_t prime) {
  // r < 8 * 2^32; r^3 needs 105 bits.
  __extension__ using Wide = unsigned __int128;
  const Wide target = static_cast<Wide>(prime) << 96U;
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 35U; bit != 0; bit >>= 1U) {
    const Wide next = root | bit;
    if (next * next * next <= target) root |= bit;
  }
  return static_cast<std::uint32_t>(root);
}

Words round_constants() {
  Words constants{};
  std::size_t count = 0;
  for (std::uint32_t number = 2; count < constants.size(); ++number) {
    bool prime = true;
    for (std::uint32_t divisor = 2; divisor * divisor <= number; ++divisor)
      prime = prime && number % divisor != 0;
    if (prime) constants[count++] = cube_root_fraction(number);
  }
  return constants;
}

void compress(std::array<std::uint32_t, 8>& state, const std::uint8_t* block, const Words& constants) {
  Words words{};
  for (std::size_t index = 0; index < 16; ++index) {
    for (std::size_t byte = 0; byte < 4; ++byte)
      words[index] = (words[index] << 8U) | block[4 * index + byte];
  }
  for (std::size_t index = 16; index < 64; ++index) {
    const std::uint32_t a = words[index - 15];
    const std::uint32_t b = words[index - 2];
    const std::uint32_t low = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U);
    const std::uint32_t high = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U);
    words[index] = words[index - 16] + low + words[index - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t index = 0; index < 64; ++index) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t first = h + sum1 + ((e & f) ^ (~e & g)) + constants[index] + words[index];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t index = 0; index < 8; ++index) state[index] += added[index];
}

}  // namespace

std::string sha256(std::span<const std::uint8_t> bytes) {
  static const Words constants = round_constants();
  std::vector<std::uint8_t> padded(bytes.begin(), bytes.end());
  padded.push_back(0x80);
  while (padded.size() % 64 != 56) padded.push_back(0);
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (std::uint32_t shift = 64; shift > 0; shift -= 8)
    padded.push_back(static_cast<std::uint8_t>(bits >> (shift - 8)));
  std::array<std::uint32_t, 8> state = {0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                        0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
  for (std::size_t offset = 0; offset < padded.size(); offset += 64)
    compress(state, padded.data() + offset, constants);
  std::string hex;
  for (const std::uint32_t word : state) {
    for (std::uint32_t shift = 32; shift > 0; shift -= 4)
      hex += "0123456789abcdef"[(word >> (shift - 4)) & 15U];
  }
  return hex;
}

}  // namespace halftone::test
