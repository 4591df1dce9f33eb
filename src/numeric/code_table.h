// A scalar code book, prepared for finding the nearest entry. Independent of scales: one serves all blocks
// that have the same entries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone::numeric {

inline constexpr std::size_t kTableEntries = 256;  // at most

// Which vector code finds the nearest entry.
enum class TableShape : std::uint8_t {
  kNone,   // none does
  kCells,  // up to 16 levels, so evenly spread that 16 equal cells hold at most two thresholds each
  kFew,    // up to 16 levels
  kE4M3,   // the 254 finite values of float8e4m3fn, in the order of their codes
  kE3M2,   // the 64 values of float6e3m2
};

// Positions of quotients in whole steps: rounded(quotient * per_unit) + origin, limited to 0 .. 2^16 - 1. A
// cell is 4096 of them; its number, the highest four bits, is the index of the tables below. A threshold is
// listed in each cell from which it is at most kNear steps away.
struct TableCells {
  static constexpr int kCellBits = 12;
  static constexpr std::int32_t kNear = 1;  // positions and thresholds are each rounded: off by 1.01 together

  float per_unit;
  std::int32_t origin;
  std::array<std::uint8_t, 16> level;  // below the cell's two thresholds
  // Low and high bytes of the first threshold minus kNear, then of the second. "None" lies half a cell or
  // more above the cell, modulo 2^16.
  std::array<std::array<std::uint8_t, 16>, 4> thresholds;
};

// Levels are the different values of entries in ascending order; -0 and +0 are one.
struct CodeTable {
  std::size_t count;  // entries, 1 to kTableEntries
  std::array<double, kTableEntries> entries;
  std::size_t levels;
  std::array<double, kTableEntries> midpoint;    // of levels i and i + 1; levels - 1 of them
  std::array<std::uint8_t, kTableEntries> code;  // of each level: the first entry that has its value
  double lowest;
  double highest;
  double largest;  // magnitude

  // A quotient of a magnitude up to `farthest` (negative: none) that is further than `guard` from every
  // midpoint has the code of its level, also by the definition (block_codes.h). Its distances differ there by
  // more than their rounding: by a relative 2^-60 at least, as levels are 2^-30 * largest apart or more,
  // midpoints 2^-40 * largest away, and distances at most 2^21 * largest. Far outside all distances are equal
  // after rounding, and the definition takes the first entry.
  double guard;
  double farthest;

  bool is_ordered;  // code[i] is i
  TableShape shape;
  TableCells cells;  // for kCells
};

// Entries are finite, 1 to kTableEntries of them.
CodeTable make_code_table(std::span<const double> entries);

}  // namespace halftone::numeric
