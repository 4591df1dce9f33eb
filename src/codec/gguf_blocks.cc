// GGUF's blocks of 32 with one float16 scale, as ggml's quantize_row_*_ref and dequantize_row_* compute them:
// in float32, by the reciprocal of the scale before it is rounded to float16.
#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "codec/block_coder.h"
#include "codec/gguf_half.h"

namespace halftone::codec {
namespace {

constexpr std::size_t kSize = 32;
constexpr std::size_t kHalf = kSize / 2;

constexpr std::array<std::int8_t, 16> kIq4Table = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                   1,    13,   25,  38,  53,  69,  89,  113};

// The value of largest magnitude, with its sign; the first of equals. 0 for zeros.
float signed_extreme(std::span<const float> x) {
  float magnitude = 0.0F;
  float extreme = 0.0F;
  for (const float v : x) {
    if (magnitude < std::fabs(v)) {
      magnitude = std::fabs(v);
      extreme = v;
    }
  }
  return extreme;
}

struct Range {
  float lowest = FLT_MAX;
  float highest = -FLT_MAX;
};

Range range_of(std::span<const float> x) {
  Range range;
  for (const float v : x) {
    if (v < range.lowest) range.lowest = v;
    if (v > range.highest) range.highest = v;
  }
  return range;
}

// 1 / d. A denormal d has no reciprocal in float32; its float16 is 0, and so is all that it scales.
float reciprocal(float d) {
  const float inverse = d != 0.0F ? 1.0F / d : 0.0F;
  return std::isfinite(inverse) ? inverse : 0.0F;
}

std::uint8_t truncated(float x, int highest) {
  return static_cast<std::uint8_t>(std::clamp(static_cast<int>(x), 0, highest));
}

void pack_nibbles(const std::array<std::uint8_t, kSize>& q, std::uint8_t* to) {
  for (std::size_t j = 0; j < kHalf; ++j) {
    to[j] = static_cast<std::uint8_t>((q[j] & 15U) | (q[j + kHalf] & 15U) << 4U);
  }
}

void unpack_nibbles(const std::uint8_t* from, std::array<std::uint8_t, kSize>& q) {
  for (std::size_t j = 0; j < kHalf; ++j) {
    q[j] = from[j] & 15U;
    q[j + kHalf] = static_cast<std::uint8_t>(from[j] >> 4U);
  }
}

// The fifth bits: bit j of 32 little endian bits is element j's.
void pack_fifth_bits(const std::array<std::uint8_t, kSize>& q, std::uint8_t* to) {
  std::memset(to, 0, 4);
  for (std::size_t j = 0; j < kSize; ++j) {
    to[j / 8] = static_cast<std::uint8_t>(to[j / 8] | (q[j] >> 4U & 1U) << j % 8);
  }
}

void add_fifth_bits(const std::uint8_t* from, std::array<std::uint8_t, kSize>& q) {
  for (std::size_t j = 0; j < kSize; ++j) {
    q[j] = static_cast<std::uint8_t>(q[j] | (from[j / 8] >> j % 8 & 1U) << 4U);
  }
}

// Q4_0 and Q5_0: the extreme gets the lowest code.
template <int kBits>
BlockFault encode_symmetric(std::span<const float> x, std::uint8_t* codes, std::uint8_t* /*scales*/,
                            const BlockCoding& /*coding*/) {
  constexpr int kOffset = 1 << (kBits - 1);
  const float d = signed_extreme(x) / static_cast<float>(-kOffset);
  if (!store_half(d, codes)) return BlockFault::kScaleTooLarge;
  const float inverse = reciprocal(d);
  std::array<std::uint8_t, kSize> q = {};
  for (std::size_t j = 0; j < kSize; ++j) {
    const float scaled = x[j] * inverse;
    q[j] = truncated(scaled + (static_cast<float>(kOffset) + 0.5F), 2 * kOffset - 1);
  }
  if (kBits == 5) pack_fifth_bits(q, codes + 2);
  pack_nibbles(q, codes + (kBits == 5 ? 6 : 2));
  return BlockFault::kNone;
}

template <int kBits>
void decode_symmetric(const std::uint8_t* codes, const std::uint8_t* /*scales*/, std::span<float> y,
                      const BlockCoding& /*coding*/) {
  const float d = load_half(codes);
  std::array<std::uint8_t, kSize> q = {};
  unpack_nibbles(codes + (kBits == 5 ? 6 : 2), q);
  if (kBits == 5) add_fifth_bits(codes + 2, q);
  for (std::size_t j = 0; j < kSize; ++j) {
    y[j] = static_cast<float>(static_cast<int>(q[j]) - (1 << (kBits - 1))) * d;
  }
}

// Q4_1 and Q5_1: from the minimum m in steps of d.
template <int kBits>
BlockFault encode_affine(std::span<const float> x, std::uint8_t* codes, std::uint8_t* /*scales*/,
                         const BlockCoding& /*coding*/) {
  constexpr int kHighest = (1 << kBits) - 1;
  const Range range = range_of(x);
  const float d = (range.highest - range.lowest) / static_cast<float>(kHighest);
  if (!store_half(d, codes) || !store_half(range.lowest, codes + 2)) return BlockFault::kScaleTooLarge;
  const float inverse = reciprocal(d);
  std::array<std::uint8_t, kSize> q = {};
  for (std::size_t j = 0; j < kSize; ++j) {
    const float scaled = (x[j] - range.lowest) * inverse;
    q[j] = truncated(scaled + 0.5F, kHighest);
  }
  if (kBits == 5) pack_fifth_bits(q, codes + 4);
  pack_nibbles(q, codes + (kBits == 5 ? 8 : 4));
  return BlockFault::kNone;
}

template <int kBits>
void decode_affine(const std::uint8_t* codes, const std::uint8_t* /*scales*/, std::span<float> y,
                   const BlockCoding& /*coding*/) {
  const float d = load_half(codes);
  const float m = load_half(codes + 2);
  std::array<std::uint8_t, kSize> q = {};
  unpack_nibbles(codes + (kBits == 5 ? 8 : 4), q);
  if (kBits == 5) add_fifth_bits(codes + 4, q);
  for (std::size_t j = 0; j < kSize; ++j) y[j] = static_cast<float>(q[j]) * d + m;
}

BlockFault encode_q8_0(std::span<const float> x, std::uint8_t* codes, std::uint8_t* /*scales*/,
                       const BlockCoding& /*coding*/) {
  const float d = std::fabs(signed_extreme(x)) / 127.0F;
  if (!store_half(d, codes)) return BlockFault::kScaleTooLarge;
  const float inverse = reciprocal(d);
  for (std::size_t j = 0; j < kSize; ++j) {
    const int q = static_cast<int>(std::round(x[j] * inverse));
    codes[2 + j] = static_cast<std::uint8_t>(static_cast<std::int8_t>(std::clamp(q, -127, 127)));
  }
  return BlockFault::kNone;
}

void decode_q8_0(const std::uint8_t* codes, const std::uint8_t* /*scales*/, std::span<float> y,
                 const BlockCoding& /*coding*/) {
  const float d = load_half(codes);
  for (std::size_t j = 0; j < kSize; ++j) {
    y[j] = static_cast<float>(static_cast<std::int8_t>(codes[2 + j])) * d;
  }
}

// The nearest entry; of two equally near ones the higher.
std::uint8_t nearest_iq4(float x) {
  if (x <= static_cast<float>(kIq4Table.front())) return 0;
  if (x >= static_cast<float>(kIq4Table.back())) return 15;
  std::size_t above = 1;
  while (!(x < static_cast<float>(kIq4Table[above]))) ++above;
  const float down = x - static_cast<float>(kIq4Table[above - 1]);
  const float up = static_cast<float>(kIq4Table[above]) - x;
  return static_cast<std::uint8_t>(down < up ? above - 1 : above);
}

constexpr std::uint8_t kIq4Smallest = 8;  // 1: what a block without a scale gets

// The extreme gets the code of -127; then the scale is fitted to the codes, weighted by the squares of the
// values. That is what ggml does where it has no importances of its own.
BlockFault encode_iq4(std::span<const float> x, std::uint8_t* codes, std::uint8_t* /*scales*/,
                      const BlockCoding& /*coding*/) {
  constexpr float kTooSmall = 1e-15F;
  std::array<std::uint8_t, kSize> q = {};
  q.fill(kIq4Smallest);
  const float extreme = signed_extreme(x);
  float d = 0.0F;
  if (std::fabs(extreme) >= kTooSmall) {
    const float inverse = 1.0F / (extreme / static_cast<float>(kIq4Table[0]));
    float values_by_entries = 0.0F;
    float entries_squared = 0.0F;
    for (std::size_t j = 0; j < kSize; ++j) {
      q[j] = nearest_iq4(inverse * x[j]);
      const float entry = static_cast<float>(kIq4Table[q[j]]);
      const float weight = x[j] * x[j];
      values_by_entries += weight * entry * x[j];
      entries_squared += weight * entry * entry;
    }
    d = values_by_entries / entries_squared;
  }
  if (!store_half(d, codes)) return BlockFault::kScaleTooLarge;
  pack_nibbles(q, codes + 2);
  return BlockFault::kNone;
}

void decode_iq4(const std::uint8_t* codes, const std::uint8_t* /*scales*/, std::span<float> y,
                const BlockCoding& /*coding*/) {
  const float d = load_half(codes);
  std::array<std::uint8_t, kSize> q = {};
  unpack_nibbles(codes + 2, q);
  for (std::size_t j = 0; j < kSize; ++j) y[j] = d * static_cast<float>(kIq4Table[q[j]]);
}

}  // namespace

BlockCoder gguf_coder(BlockFormat format) {
  switch (format) {
    case BlockFormat::kGgufQ4_0:
      return {encode_symmetric<4>, decode_symmetric<4>};
    case BlockFormat::kGgufQ4_1:
      return {encode_affine<4>, decode_affine<4>};
    case BlockFormat::kGgufQ5_0:
      return {encode_symmetric<5>, decode_symmetric<5>};
    case BlockFormat::kGgufQ5_1:
      return {encode_affine<5>, decode_affine<5>};
    case BlockFormat::kGgufQ8_0:
      return {encode_q8_0, decode_q8_0};
    default:
      return {encode_iq4, decode_iq4};
  }
}

}  // namespace halftone::codec
