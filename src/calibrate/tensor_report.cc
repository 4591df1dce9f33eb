#include "halftone/tensor_report.h"

#include <cmath>
#include <utility>

#include "halftone/quant_grid.h"

namespace halftone {
namespace {

constexpr std::size_t kMostBins = 65536;

// The real numbers that an encoding's lowest and highest code stand for, and half the step next to them: what
// is that near is rounded, not clipped.
struct Reach {
  float lowest;
  float highest;
  float half_step;
};

Reach reach_of(const QuantGrid& grid, std::size_t scale_index) {
  const NumberFormatInfo& format = number_format_info(grid.format);
  const float scale = grid.scales[scale_index];
  if (const std::optional<SmallFloat> type = small_float_of(grid.format)) {
    const SmallFloatInfo& info = small_float_info(*type);
    const float before = small_float_values(*type)[info.largest - 1U];
    return {-info.largest_value * scale, info.largest_value * scale,
            (info.largest_value - before) / 2 * scale};
  }
  const std::int64_t zero = grid.zero_points.empty() ? 0 : grid.zero_points[scale_index];
  return {static_cast<float>(format.lowest - zero) * scale, static_cast<float>(format.highest - zero) * scale,
          scale / 2};
}

bool outside(float value, Reach reach) {
  return value < reach.lowest - reach.half_step || value > reach.highest + reach.half_step;
}

std::uint64_t count_clipped(FloatView values, const QuantGrid& grid) {
  std::uint64_t clipped = 0;
  std::size_t index = 0;
  for (std::size_t outer = 0; outer < grid.layout.outer; ++outer) {
    for (std::size_t channel = 0; channel < grid.layout.channels; ++channel) {
      const Reach reach = reach_of(grid, channel);
      for (std::size_t inner = 0; inner < grid.layout.inner; ++inner, ++index) {
        if (outside(values[index], reach)) ++clipped;
      }
    }
  }
  return clipped;
}

}  // namespace

TensorReporter::TensorReporter(MinMax range, std::size_t bins, std::optional<Encoding> encoding)
    : range_(range), bins_(bins, 0), encoding_(std::move(encoding)) {}

Result<TensorReporter> TensorReporter::create(MinMax range, std::size_t bins,
                                              std::optional<Encoding> encoding) {
  if (bins == 0 || bins > kMostBins) {
    return Error{ErrorCode::kInvalidPolicy, "A histogram has 1 to 65536 bins.", "",
                 "Choose a number in that range."};
  }
  if (range.empty() || !std::isfinite(range.min) || !std::isfinite(range.max)) {
    return Error{ErrorCode::kNonFinite, "There is no finite value to make a histogram of.", "", ""};
  }
  return TensorReporter(range, bins, std::move(encoding));
}

Result<void> TensorReporter::add(FloatView values, std::span<const std::int64_t> dims) {
  if (values.size() == 0) return {};
  if (encoding_) {
    if (const Result<void> added = add_noise(values, dims); !added.ok()) return added;
  }
  count_ += values.size();
  if (range_.min < range_.max) {
    const Result<HistogramRemainder> rest = add_to_histogram(values, range_.min, range_.max, bins_);
    return rest.ok() ? Result<void>() : rest.error();
  }
  bins_.front() += values.size();
  return {};
}

Result<void> TensorReporter::add_noise(FloatView values, std::span<const std::int64_t> dims) {
  const std::optional<std::int64_t> axis =
      encoding_->axis < 0 ? std::nullopt : std::optional<std::int64_t>(encoding_->axis);
  const Result<QuantGrid> grid =
      quant_grid(encoding_->format, dims, axis, encoding_->scale, encoding_->zero_point);
  if (!grid.ok()) return grid.error();
  quantized_.resize(values.size());
  const MutableFloatView quantized{std::span<float>(quantized_)};
  if (const Result<void> done = fake_quantize(values, grid.value(), quantized); !done.ok()) return done;
  const Result<ErrorSums> sums = error_sums(values, std::span<const float>(quantized_));
  if (!sums.ok()) return sums.error();
  noise_.merge(sums.value());
  clipped_ += count_clipped(values, grid.value());
  return {};
}

TensorReport TensorReporter::report() const {
  TensorReport report;
  report.count = count_;
  report.range = range_;
  report.histogram = bins_;
  if (encoding_ && count_ > 0) {
    report.clipped = static_cast<double>(clipped_) / static_cast<double>(count_);
    if (noise_.error_squares > 0 && std::isfinite(noise_.error_squares)) {
      report.sqnr = 10 * std::log10(noise_.expected_squares / noise_.error_squares);
    }
  }
  return report;
}

}  // namespace halftone
