#include "numeric/code_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "halftone/small_floats.h"

namespace halftone::numeric {
namespace {

// What keeps all products and quotients of the vector code well inside float32.
constexpr double kSmallestForVectors = 0x1p-40;
constexpr double kLargestForVectors = 0x1p40;

struct Level {
  double value;
  std::size_t entry;
};

void find_levels(CodeTable& table) {
  std::array<Level, kTableEntries> sorted = {};
  for (std::size_t i = 0; i < table.count; ++i) sorted[i] = {table.entries[i], i};
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(table.count);
  std::sort(sorted.begin(), end, [](const Level& a, const Level& b) {
    return a.value < b.value || (a.value == b.value && a.entry < b.entry);
  });
  const auto levels =
      std::unique(sorted.begin(), end, [](const Level& a, const Level& b) { return a.value == b.value; });
  table.levels = static_cast<std::size_t>(levels - sorted.begin());
  table.is_ordered = true;
  table.lowest = sorted[0].value;
  table.highest = sorted[table.levels - 1].value;
  table.largest = std::max(std::abs(table.lowest), std::abs(table.highest));
  double gap = table.largest;
  for (std::size_t i = 0; i < table.levels; ++i) {
    table.code[i] = static_cast<std::uint8_t>(sorted[i].entry);
    table.is_ordered = table.is_ordered && sorted[i].entry == i;
    if (i + 1 == table.levels) break;
    // Halves first: the sum of two doubles can overflow.
    table.midpoint[i] = sorted[i].value / 2.0 + sorted[i + 1].value / 2.0;
    gap = std::min(gap, sorted[i + 1].value / 2.0 - sorted[i].value / 2.0);
  }
  const bool ordinary =
      table.largest >= 0x1p-400 && table.largest <= 0x1p400 && gap >= table.largest * 0x1p-30;
  table.guard = table.largest * 0x1p-40;
  table.farthest = ordinary ? table.largest * 0x1p20 : -1.0;
}

// The finite values of a small float, in the order of its codes, all that `count` names.
bool holds_small_float(const CodeTable& table, SmallFloat type, std::size_t count) {
  if (table.count != count) return false;
  std::size_t entry = 0;
  for (const float value : small_float_values(type)) {
    if (!std::isfinite(value)) continue;
    if (entry == count || table.entries[entry] != static_cast<double>(value)) return false;
    ++entry;
  }
  return entry == count;
}

// What cell number `cell` (0 .. 15) lists; false for more than two thresholds.
bool fill_cell(const CodeTable& table, std::int32_t cell, TableCells& cells) {
  constexpr std::int32_t kSize = 1 << TableCells::kCellBits;
  const std::int32_t begin = cell * kSize;
  const std::int32_t end = begin + kSize;
  std::array<std::int32_t, 2> listed = {end + kSize, end + kSize};
  std::size_t count = 0;
  std::size_t below = 0;
  for (std::size_t i = 0; i + 1 < table.levels; ++i) {
    const auto step =
        static_cast<std::int32_t>(std::nearbyint(table.midpoint[i] * cells.per_unit)) + cells.origin;
    if (step < begin - TableCells::kNear) {
      ++below;
    } else if (step < end + TableCells::kNear) {
      if (count == listed.size()) return false;
      listed[count++] = step - TableCells::kNear;
    }
  }
  const auto at = static_cast<std::size_t>(cell);
  cells.level[at] = static_cast<std::uint8_t>(below);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    cells.thresholds[2 * i][at] = static_cast<std::uint8_t>(listed[i] & 0xFF);
    cells.thresholds[2 * i + 1][at] = static_cast<std::uint8_t>((listed[i] >> 8) & 0xFF);
  }
  return true;
}

// Spreads the levels over all positions but some room at each end.
bool fill_cells(CodeTable& table) {
  TableCells& cells = table.cells;
  constexpr double kRoom = 256.0;
  cells.per_unit = static_cast<float>((65536.0 - 2.0 * kRoom) / (table.highest - table.lowest));
  cells.origin = static_cast<std::int32_t>(std::nearbyint(kRoom - table.lowest * cells.per_unit));
  if (std::abs(cells.origin) > (1 << 17)) return false;  // all levels on one side of 0, far off
  for (std::int32_t cell = 0; cell < 16; ++cell) {
    if (!fill_cell(table, cell, cells)) return false;
  }
  return true;
}

TableShape shape_of(CodeTable& table) {
  const bool ordinary = table.farthest > 0.0 && table.largest >= kSmallestForVectors &&
                        table.largest <= kLargestForVectors && table.levels > 1;
  if (!ordinary) return TableShape::kNone;
  if (holds_small_float(table, SmallFloat::kFloat8E4M3Fn, 254)) return TableShape::kE4M3;
  if (holds_small_float(table, SmallFloat::kFloat6E3M2, 64)) return TableShape::kE3M2;
  if (table.levels > 16) return TableShape::kNone;
  return fill_cells(table) ? TableShape::kCells : TableShape::kFew;
}

}  // namespace

CodeTable make_code_table(std::span<const double> entries) {
  CodeTable table = {};
  table.count = entries.size();
  std::copy(entries.begin(), entries.end(), table.entries.begin());
  find_levels(table);
  table.shape = shape_of(table);
  return table;
}

}  // namespace halftone::numeric
