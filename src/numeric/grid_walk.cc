#include "numeric/grid_walk.h"

#include <algorithm>
#include <vector>

namespace halftone::numeric {
namespace {

// Shorter rows than this cost more to start than to compute, so that a repeating list of scales is faster.
constexpr std::size_t kShortRow = 64;
// A repeating list is made at least this long, so that a period ends rarely.
constexpr std::size_t kLongPeriod = 1024;

class Walker {
 public:
  Walker(const QuantGrid& grid, PieceVisitor& visitor) : grid_(grid), visitor_(visitor) {
    const NumberFormatInfo& info = number_format_info(grid.format);
    lowest_ = info.lowest;
    highest_ = info.highest;
  }

  void walk() {
    const GridLayout& layout = grid_.layout;
    if (layout.element_count() == 0) return;
    if (layout.block_size != 0) return walk_blocks();
    if (layout.channels == 1) return rows(0, 1, layout.element_count());
    if (layout.outer > 1 ? layout.inner < kShortRow : layout.inner == 1) return walk_short_rows();
    for (std::size_t o = 0; o < layout.outer; ++o) rows(0, layout.channels, layout.inner);
  }

 private:
  // `first` is the index of the first row's scale.
  void rows(std::size_t first, std::size_t count, std::size_t length) {
    while (count > 0) {
      const std::size_t room = visitor_.room();
      if (room < length) {
        split_row(first, length, room);
        ++first;
        --count;
        continue;
      }
      const std::size_t fitting = std::min(count, room / length);
      visitor_.rows(fitting, length, row_grid(first));
      first += fitting;
      count -= fitting;
    }
  }

  void split_row(std::size_t row, std::size_t length, std::size_t room) {
    while (length > 0) {
      const std::size_t part = std::min(length, room);
      visitor_.rows(1, part, row_grid(row));
      length -= part;
      if (length > 0) room = visitor_.room();
    }
  }

  void periodic(std::size_t count, const PeriodicGrid& grid) {
    std::size_t phase = 0;
    while (count > 0) {
      const std::size_t room = visitor_.room();
      PeriodicGrid part = {grid.scales + phase, grid.zero_points + phase, grid.period - phase, lowest_,
                           highest_};
      std::size_t length = std::min({count, room, part.period});
      if (phase == 0) length = std::min(count, std::max(length, room / grid.period * grid.period));
      visitor_.periodic(length, part);
      phase = (phase + length) % grid.period;
      count -= length;
    }
  }

  void walk_short_rows() {
    const GridLayout& layout = grid_.layout;
    const std::size_t period = layout.channels * layout.inner;
    const std::size_t repeats = std::min(layout.outer, (kLongPeriod + period - 1) / period);
    std::vector<float> scales;
    std::vector<float> zero_points;
    scales.reserve(period * repeats);
    zero_points.reserve(period * repeats);
    for (std::size_t row = 0; row < layout.channels * repeats; ++row) {
      const std::size_t channel = row % layout.channels;
      scales.insert(scales.end(), layout.inner, grid_.scales[channel]);
      zero_points.insert(zero_points.end(), layout.inner, zero_point(channel));
    }
    periodic(layout.element_count(), {scales.data(), zero_points.data(), scales.size(), lowest_, highest_});
  }

  void walk_blocks() {
    const GridLayout& layout = grid_.layout;
    const std::size_t blocks = (layout.channels - 1) / layout.block_size + 1;
    const std::size_t last = layout.channels - (blocks - 1) * layout.block_size;
    if (layout.inner == 1) {
      if (last == layout.block_size) return rows(0, layout.outer * blocks, last);
      for (std::size_t o = 0; o < layout.outer; ++o) {
        rows(o * blocks, blocks - 1, layout.block_size);
        rows(o * blocks + blocks - 1, 1, last);
      }
      return;
    }
    std::vector<float> zero_points;
    zero_points.reserve(grid_.scales.size());
    for (std::size_t i = 0; i < grid_.scales.size(); ++i) zero_points.push_back(zero_point(i));
    for (std::size_t block = 0; block < layout.outer * blocks; ++block) {
      const std::size_t length = block % blocks == blocks - 1 ? last : layout.block_size;
      const std::size_t at = block * layout.inner;
      periodic(length * layout.inner,
               {grid_.scales.data() + at, zero_points.data() + at, layout.inner, lowest_, highest_});
    }
  }

  [[nodiscard]] float zero_point(std::size_t index) const {
    return grid_.zero_points.empty() ? 0.0F : static_cast<float>(grid_.zero_points[index]);
  }

  [[nodiscard]] RowGrid row_grid(std::size_t first) const {
    return {grid_.scales.data() + first,
            grid_.zero_points.empty() ? nullptr : grid_.zero_points.data() + first, lowest_, highest_};
  }

  const QuantGrid& grid_;
  PieceVisitor& visitor_;
  std::int32_t lowest_ = 0;
  std::int32_t highest_ = 0;
};

}  // namespace

void walk_grid(const QuantGrid& grid, PieceVisitor& visitor) { Walker(grid, visitor).walk(); }

}  // namespace halftone::numeric
