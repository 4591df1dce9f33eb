// The code of one value in a block: its definition, and a faster way to the same answer.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "numeric/block_kernels.h"
#include "numeric/code_table.h"
#include "numeric/extended.h"

namespace halftone::numeric {

// The parameters of one block of integers. `lowest` and `highest` are whole.
struct AffineBlock {
  double scale;  // positive and finite
  double zero_point;
  double offset;
  double lowest;
  double highest;
};

// Of 1 to 16 bits.
inline double lowest_code(std::uint32_t bits, bool is_signed) {
  return is_signed ? -static_cast<double>(1U << (bits - 1)) : 0.0;
}

inline double highest_code(std::uint32_t bits, bool is_signed) {
  return static_cast<double>((1U << (is_signed ? bits - 1 : bits)) - 1U);
}

// The double of block `block`.
inline double block_double(BlockDoubles doubles, std::size_t block) {
  double value = 0.0;
  std::memcpy(&value, doubles.first + block * doubles.stride, sizeof(value));
  return value;
}

// In pieces of a known size, which are stores in place of a call; the last overlaps the one before.
inline void write_head(BlockHeads heads, std::uint8_t* codes) {
  std::uint8_t* to = codes - heads.size;
  const auto copy = [&heads, to](auto piece) {
    constexpr std::size_t kPiece = piece.value;
    const std::size_t last = heads.size - kPiece;
    for (std::size_t at = 0; at < last; at += kPiece) std::memcpy(to + at, heads.bytes + at, kPiece);
    std::memcpy(to + last, heads.bytes + last, kPiece);
  };
  if (heads.size >= 32) {
    copy(std::integral_constant<std::size_t, 32>());
  } else if (heads.size >= 8) {
    copy(std::integral_constant<std::size_t, 8>());
  } else {
    for (std::size_t at = 0; at < heads.size; ++at) to[at] = heads.bytes[at];
  }
}

// With scale 1.
inline AffineBlock affine_block(const AffineCodes& affine, std::size_t block) {
  return {1.0, block_double(affine.zero_points, block), block_double(affine.offsets, block),
          lowest_code(affine.bits, affine.is_signed), highest_code(affine.bits, affine.is_signed)};
}

// The definition: (value - offset) / scale + zero_point, three roundings to extended precision, limited, one
// rounding to double, one half to even. `value` is finite. The type is a parameter for the tests.
template <typename E>
std::int32_t exact_affine_code(double value, const AffineBlock& block) {
  const E sum = (E(value) - E(block.offset)) / E(block.scale) + E(block.zero_point);
  const E lowest(block.lowest);
  const E highest(block.highest);
  const E limited = sum < lowest ? lowest : highest < sum ? highest : sum;
  return static_cast<std::int32_t>(std::nearbyint(static_cast<double>(limited)));
}

// The definition: the entry with the smallest square of the distance, in extended precision, from a quotient
// in double (finite); of equal ones the first.
template <typename E>
std::uint8_t exact_table_code(double quotient, const CodeTable& table) {
  std::size_t best = 0;
  E smallest{};
  for (std::size_t i = 0; i < table.count; ++i) {
    const E distance = E(quotient) - E(table.entries[i]);
    const E square = distance * distance;
    if (i != 0 && !(square < smallest)) continue;
    smallest = square;
    best = i;
  }
  return static_cast<std::uint8_t>(best);
}

// Decoding: each step rounded to double, then to float32. An entry's -0 becomes +0.
inline float affine_value(std::int32_t code, const AffineBlock& block) {
  return static_cast<float>((static_cast<double>(code) - block.zero_point) * block.scale + block.offset);
}

inline float table_value(double entry, double scale) { return static_cast<float>((0.0 + entry) * scale); }

inline CodeReach affine_reach(const AffineBlock& block) {
  return {block.lowest - block.zero_point, block.highest - block.zero_point};
}

inline CodeReach table_reach(const CodeTable& table) { return {table.lowest, table.highest}; }

// See AutomaticScales. Nothing if a value isn't finite.
std::optional<double> automatic_scale(const std::uint8_t* x, std::size_t count, double offset,
                                      CodeReach reach);

// The same codes in double arithmetic, where that is provably enough, else by the definition.
std::int32_t affine_code(double value, const AffineBlock& block);

// Nothing if value / scale isn't finite.
std::optional<std::uint8_t> table_code(double value, double scale, const CodeTable& table);

}  // namespace halftone::numeric
