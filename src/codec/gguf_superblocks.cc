// The bytes of GGUF's superblocks.
#include <array>
#include <cstring>
#include <optional>

#include "codec/block_coder.h"
#include "codec/gguf_half.h"
#include "codec/superblock.h"

namespace halftone::codec {
namespace {

// Eight scales and eight offsets of 6 bits in 12 bytes: the first four of each in the low bits of a byte of
// their own, whose high bits hold the upper two bits of the last four.
void pack_scales(const SuperblockQ4& block, std::uint8_t* to) {
  for (std::size_t j = 0; j < 4; ++j) {
    const unsigned sc_high = block.sc[j + 4];
    const unsigned m_high = block.m[j + 4];
    to[j] = static_cast<std::uint8_t>(block.sc[j] | (sc_high >> 4U) << 6U);
    to[j + 4] = static_cast<std::uint8_t>(block.m[j] | (m_high >> 4U) << 6U);
    to[j + 8] = static_cast<std::uint8_t>((sc_high & 15U) | (m_high & 15U) << 4U);
  }
}

void unpack_scales(const std::uint8_t* from, SuperblockQ4& block) {
  for (std::size_t j = 0; j < 4; ++j) {
    const unsigned sc = from[j];
    const unsigned m = from[j + 4];
    const unsigned low_bits = from[j + 8];
    block.sc[j] = static_cast<std::uint8_t>(sc & 63U);
    block.m[j] = static_cast<std::uint8_t>(m & 63U);
    block.sc[j + 4] = static_cast<std::uint8_t>((low_bits & 15U) | (sc >> 6U) << 4U);
    block.m[j + 4] = static_cast<std::uint8_t>(low_bits >> 4U | (m >> 6U) << 4U);
  }
}

constexpr std::size_t kQ4Scales = 4;
constexpr std::size_t kQ4Codes = 16;

// Of every 64 elements, the first 32 in the low nibbles of 32 bytes and the others in the high ones.
BlockFault encode_q4(std::span<const float> x, std::uint8_t* codes, std::uint8_t* /*scales*/,
                     const BlockCoding& /*coding*/) {
  const std::optional<SuperblockQ4> fitted = fit_q4(x);
  if (!fitted) return BlockFault::kScaleTooLarge;
  if (!store_half(fitted->d, codes) || !store_half(fitted->dmin, codes + 2)) {
    return BlockFault::kScaleTooLarge;
  }
  pack_scales(*fitted, codes + kQ4Scales);
  for (std::size_t i = 0; i < kSuperblockSize / 2; ++i) {
    const std::size_t low = i / 32 * 64 + i % 32;
    codes[kQ4Codes + i] = static_cast<std::uint8_t>(fitted->q[low] | unsigned{fitted->q[low + 32]} << 4U);
  }
  return BlockFault::kNone;
}

void decode_q4(const std::uint8_t* codes, const std::uint8_t* /*scales*/, std::span<float> y,
               const BlockCoding& /*coding*/) {
  SuperblockQ4 block;
  block.d = load_half(codes);
  block.dmin = load_half(codes + 2);
  unpack_scales(codes + kQ4Scales, block);
  for (std::size_t i = 0; i < kSuperblockSize / 2; ++i) {
    const std::size_t low = i / 32 * 64 + i % 32;
    block.q[low] = codes[kQ4Codes + i] & 15U;
    block.q[low + 32] = static_cast<std::uint8_t>(codes[kQ4Codes + i] >> 4U);
  }
  for (std::size_t i = 0; i < kSuperblockSize; ++i) y[i] = block.value(i);
}

constexpr std::size_t kQ6High = 128;
constexpr std::size_t kQ6Scales = 192;
constexpr std::size_t kQ6Scale = 208;

// Where element `index` has its bits: four low bits in a nibble, two high ones elsewhere.
struct Q6Place {
  std::size_t low_byte;
  unsigned low_shift;
  std::size_t high_byte;
  unsigned high_shift;
};

Q6Place q6_place(std::size_t index) {
  const std::size_t half = index / 128;
  const std::size_t quarter = index % 128 / 32;
  const std::size_t i = index % 32;
  return {64 * half + i + 32 * (quarter % 2), quarter < 2 ? 0U : 4U, kQ6High + 32 * half + i,
          static_cast<unsigned>(2 * quarter)};
}

BlockFault encode_q6(std::span<const float> x, std::uint8_t* codes, std::uint8_t* /*scales*/,
                     const BlockCoding& /*coding*/) {
  const std::optional<SuperblockQ6> fitted = fit_q6(x);
  if (!fitted || !store_half(fitted->d, codes + kQ6Scale)) return BlockFault::kScaleTooLarge;
  std::memset(codes, 0, kQ6Scales);
  std::memcpy(codes + kQ6Scales, fitted->sc.data(), fitted->sc.size());
  for (std::size_t index = 0; index < kSuperblockSize; ++index) {
    const auto code = static_cast<unsigned>(fitted->q[index] - SuperblockQ6::kLowestCode);
    const Q6Place place = q6_place(index);
    std::uint8_t& low = codes[place.low_byte];
    std::uint8_t& high = codes[place.high_byte];
    low = static_cast<std::uint8_t>(low | (code & 15U) << place.low_shift);
    high = static_cast<std::uint8_t>(high | (code >> 4U) << place.high_shift);
  }
  return BlockFault::kNone;
}

void decode_q6(const std::uint8_t* codes, const std::uint8_t* /*scales*/, std::span<float> y,
               const BlockCoding& /*coding*/) {
  SuperblockQ6 block;
  block.d = load_half(codes + kQ6Scale);
  std::memcpy(block.sc.data(), codes + kQ6Scales, block.sc.size());
  for (std::size_t index = 0; index < kSuperblockSize; ++index) {
    const Q6Place place = q6_place(index);
    const unsigned low = codes[place.low_byte] >> place.low_shift & 15U;
    const unsigned high = codes[place.high_byte] >> place.high_shift & 3U;
    block.q[index] = static_cast<std::int8_t>(static_cast<int>(high << 4U | low) + SuperblockQ6::kLowestCode);
    y[index] = block.value(index);
  }
}

}  // namespace

BlockCoder gguf_superblock_coder(BlockFormat format) {
  if (format == BlockFormat::kGgufQ4K) return {encode_q4, decode_q4};
  return {encode_q6, decode_q6};
}

}  // namespace halftone::codec
