// A scalar code book, prepared for finding the nearest entry. Independent of scales: one serves all blocks
// that have the same entries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone::numeric {

inline constexpr std::size_t kTableEntries = 256;  // at most

// Which fast path a table has.
enum class TableShape : std::uint8_t {
  kNone,   // only the definition
  kCells,  // up to 16 levels, so evenly spread that 16 equal cells hold at most two thresholds each
  kFew,    // up to 16 levels
  kE4M3,   // the 254 finite values of float8e4m3fn, in the order of their codes
  kE3M2,   // the 64 values of float6e3m2
};

// Thresholds in steps of 1/per_unit from `origin`, in cells of kCellSteps.
struct TableCells {
  static constexpr int kSteps = 2048;                // to a cell
  float per_unit;                                    // steps to 1.0
  std::int32_t origin;                               // the step of 0.0
  std::array<std::uint8_t, 16> base;                 // levels below the cell's thresholds
  std::array<std::array<std::uint8_t, 16>, 4> step;  // first threshold's low and high byte, second's
};

struct CodeTable {
  std::size_t count;                             // entries, 1 to kTableEntries
  std::array<double, kTableEntries> entries;     // as they are stored
  std::size_t levels;                            // different values
  std::array<double, kTableEntries> level;       // ascending; -0 and +0 are one
  std::array<std::uint8_t, kTableEntries> code;  // of each level: the first entry that has its value
  double largest;                                // magnitude
  TableShape shape;
  TableCells cells;                  // for kCells
  std::array<float, 15> thresholds;  // for kFew and kCells: halfway between levels, rest +infinity
};

// Entries are finite, 1 to kTableEntries of them.
CodeTable make_code_table(std::span<const double> entries);

}  // namespace halftone::numeric
