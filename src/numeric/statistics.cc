#include "halftone/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "numeric/error_partials.h"
#include "numeric/grid_checks.h"
#include "numeric/kernel_set.h"

namespace halftone {
namespace {

// As in grid_walk.cc: below this, whole columns at a time are faster than row by row.
constexpr std::size_t kShortRow = 64;
constexpr std::size_t kLongPeriod = 1024;

void add_value(RangeStatistics& range, float value) {
  if (std::isfinite(value)) {
    range.min = std::min(range.min, value + 0.0F);  // -0 becomes +0
    range.max = std::max(range.max, value + 0.0F);
  } else {
    if (range.all_finite()) range.first_non_finite = range.count;
    (std::isnan(value) ? range.nan_count : range.infinity_count) += 1;
  }
  range.count += 1;
}

RangeStatistics range_with_care(FloatView x) {
  RangeStatistics range;
  for (std::size_t i = 0; i < x.size(); ++i) add_value(range, x[i]);
  return range;
}

// Where an element's scale is; see GridLayout.
std::size_t scale_index(const GridLayout& layout, std::size_t element) {
  const std::size_t channel = element / layout.inner % layout.channels;
  if (layout.block_size == 0) return channel;
  const std::size_t blocks = (layout.channels - 1) / layout.block_size + 1;
  const std::size_t outer = element / layout.inner / layout.channels;
  return (outer * blocks + channel / layout.block_size) * layout.inner + element % layout.inner;
}

void channel_ranges_with_care(FloatView x, const GridLayout& layout, std::span<RangeStatistics> out) {
  for (std::size_t i = 0; i < x.size(); ++i) add_value(out[scale_index(layout, i)], x[i]);
}

void channel_ranges_by_row(FloatView x, const GridLayout& layout, std::span<RangeStatistics> out) {
  for (std::size_t row = 0; row < layout.outer * layout.channels; ++row) {
    out[row % layout.channels].merge(range_of(x.subview(row * layout.inner, layout.inner)));
  }
}

// Ranges of the columns of x seen as a matrix of `columns` columns, folded to channels. False if something is
// not finite.
class ColumnRanges {
 public:
  ColumnRanges(const GridLayout& layout, std::size_t repeats)
      : layout_(layout),
        columns_(layout.channels * layout.inner * repeats),
        min_(columns_, std::numeric_limits<float>::infinity()),
        max_(columns_, -std::numeric_limits<float>::infinity()),
        bits_(columns_, 0) {}

  [[nodiscard]] std::size_t columns() const { return columns_; }

  void add(FloatView x, std::size_t rows, std::size_t columns) {
    numeric::simd_statistic_kernels().column_ranges(x.bytes(), rows, columns, min_.data(), max_.data(),
                                                    bits_.data());
  }
  [[nodiscard]] bool all_finite() const {
    return std::all_of(bits_.begin(), bits_.end(),
                       [](std::int32_t bits) { return bits < numeric::kInfinityBits; });
  }
  void fold(std::span<RangeStatistics> out) const {
    for (std::size_t column = 0; column < columns_; ++column) {
      RangeStatistics& range = out[column / layout_.inner % layout_.channels];
      range.min = std::min(range.min, min_[column] + 0.0F);
      range.max = std::max(range.max, max_[column] + 0.0F);
    }
    for (RangeStatistics& range : out) range.count = layout_.outer * layout_.inner;
  }

 private:
  const GridLayout& layout_;
  std::size_t columns_;
  std::vector<float> min_;
  std::vector<float> max_;
  std::vector<std::int32_t> bits_;
};

void channel_ranges_by_column(FloatView x, const GridLayout& layout, std::span<RangeStatistics> out) {
  const std::size_t period = layout.channels * layout.inner;
  const std::size_t repeats = std::min(layout.outer, (kLongPeriod + period - 1) / period);
  ColumnRanges ranges(layout, repeats);
  const std::size_t rows = layout.outer / repeats;
  ranges.add(x, rows, ranges.columns());
  const std::size_t done = rows * ranges.columns();
  ranges.add(x.subview(done, x.size() - done), layout.outer % repeats, period);
  if (!ranges.all_finite()) return channel_ranges_with_care(x, layout, out);
  ranges.fold(out);
}

// Blocks of a matrix's rows are its column ranges; blocks of single values in a row (inner 1) are plain
// ranges.
void channel_ranges_by_block(FloatView x, const GridLayout& layout, std::span<RangeStatistics> out) {
  std::size_t at = 0;
  std::size_t scale = 0;
  std::vector<float> min(layout.inner);
  std::vector<float> max(layout.inner);
  std::vector<std::int32_t> bits(layout.inner);
  for (std::size_t outer = 0; outer < layout.outer; ++outer) {
    for (std::size_t first = 0; first < layout.channels; first += layout.block_size) {
      const std::size_t rows = std::min(layout.block_size, layout.channels - first);
      const FloatView block = x.subview(at, rows * layout.inner);
      at += block.size();
      if (layout.inner == 1) {
        out[scale++] = range_of(block);
        continue;
      }
      std::fill(min.begin(), min.end(), std::numeric_limits<float>::infinity());
      std::fill(max.begin(), max.end(), -std::numeric_limits<float>::infinity());
      std::fill(bits.begin(), bits.end(), 0);
      numeric::simd_statistic_kernels().column_ranges(block.bytes(), rows, layout.inner, min.data(),
                                                      max.data(), bits.data());
      for (std::size_t column = 0; column < layout.inner; ++column, ++scale) {
        if (bits[column] >= numeric::kInfinityBits) {
          std::fill(out.begin(), out.end(), RangeStatistics{});
          return channel_ranges_with_care(x, layout, out);
        }
        out[scale].min = min[column] + 0.0F;
        out[scale].max = max[column] + 0.0F;
        out[scale].count = rows;
      }
    }
  }
}

double canonical(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

double combined(const double (&p)[numeric::kErrorPartials]) {
  return canonical(((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7])));
}

}  // namespace

namespace numeric {

ErrorSums combine(const ErrorPartials& partials, std::uint64_t count) {
  ErrorSums sums;
  sums.count = count;
  sums.error_squares = combined(partials.error_squares);
  sums.expected_squares = combined(partials.expected_squares);
  sums.actual_squares = combined(partials.actual_squares);
  sums.products = combined(partials.products);
  const double* largest =
      std::max_element(std::begin(partials.max_abs_error), std::end(partials.max_abs_error));
  sums.max_abs_error = std::isfinite(sums.error_squares) ? *largest : sums.error_squares;
  return sums;
}

}  // namespace numeric

float RangeStatistics::magnitude() const {
  return has_range() ? std::max(std::fabs(min), std::fabs(max)) : 0.0F;
}

void RangeStatistics::merge(const RangeStatistics& next) {
  min = std::min(min, next.min);
  max = std::max(max, next.max);
  if (all_finite() && !next.all_finite()) first_non_finite = count + next.first_non_finite;
  count += next.count;
  nan_count += next.nan_count;
  infinity_count += next.infinity_count;
}

RangeStatistics range_of(FloatView x) {
  const numeric::RawRange raw = numeric::simd_statistic_kernels().range(x.bytes(), x.size());
  if (raw.magnitude_bits >= numeric::kInfinityBits) return range_with_care(x);
  RangeStatistics range;
  range.min = raw.min;
  range.max = raw.max;
  range.count = x.size();
  return range;
}

Result<std::vector<RangeStatistics>> channel_ranges(FloatView x, const GridLayout& layout) {
  const Result<void> checked = check_layout(layout, x.size());
  if (!checked.ok()) return checked.error();
  std::vector<RangeStatistics> out(layout.scale_count());
  if (x.size() == 0) return out;
  if (layout.block_size != 0) {
    channel_ranges_by_block(x, layout, out);
  } else if (layout.channels == 1) {
    out[0] = range_of(x);
  } else if (layout.outer > 1 && layout.inner < kShortRow) {
    channel_ranges_by_column(x, layout, out);
  } else {
    channel_ranges_by_row(x, layout, out);
  }
  return out;
}

void ErrorSums::merge(const ErrorSums& other) {
  count += other.count;
  error_squares = canonical(error_squares + other.error_squares);
  expected_squares = canonical(expected_squares + other.expected_squares);
  actual_squares = canonical(actual_squares + other.actual_squares);
  products = canonical(products + other.products);
  max_abs_error = std::isfinite(error_squares) ? std::max(max_abs_error, other.max_abs_error) : error_squares;
}

Result<ErrorSums> error_sums(FloatView expected, FloatView actual) {
  if (expected.size() != actual.size()) {
    return Error{ErrorCode::kShapeMismatch,
                 "Two tensors can't be compared: one has " + std::to_string(expected.size()) +
                     " elements, the other " + std::to_string(actual.size()) + ".",
                 "", "Compare outputs of the same shape."};
  }
  return numeric::simd_statistic_kernels().error_sums(expected.bytes(), actual.bytes(), expected.size());
}

Result<HistogramRemainder> add_to_histogram(FloatView x, float low, float high,
                                            std::span<std::uint64_t> bins) {
  constexpr std::size_t kMostBins = 65536;
  if (bins.empty() || bins.size() > kMostBins) {
    return Error{ErrorCode::kInvalidPolicy,
                 "A histogram can't have " + std::to_string(bins.size()) + " bins.", "",
                 "Use 1 to 65536 bins."};
  }
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
    return Error{ErrorCode::kInvalidPolicy,
                 "A histogram needs a finite range whose low end is below its high end.", "",
                 "Give the tensor's own minimum and maximum."};
  }
  const double width = static_cast<double>(high) - static_cast<double>(low);
  const auto count = static_cast<double>(bins.size());
  HistogramRemainder out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float value = x[i];
    if (!std::isfinite(value)) {
      out.not_finite += 1;
    } else if (value < low) {
      out.below += 1;
    } else if (value > high) {
      out.above += 1;
    } else {
      const double at = (static_cast<double>(value) - static_cast<double>(low)) * count / width;
      bins[std::min(static_cast<std::size_t>(at), bins.size() - 1)] += 1;
    }
  }
  return out;
}

std::string_view active_instruction_set() { return numeric::simd_code_kernels().instruction_set; }

}  // namespace halftone
