// What is measured of float32 values: ranges, errors between two tensors, histograms.
//
// Results are equal bit for bit in native and WebAssembly builds and on every instruction set: minima and
// maxima because they are exact, sums because their order of addition is fixed (see error_sums). All records
// merge, so long tensors and many samples need constant memory. Threading: plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "halftone/float_view.h"
#include "halftone/quant_grid.h"
#include "halftone/result.h"

namespace halftone {

// The range of the finite values among `count`, and what was not finite. An empty record is neutral in
// merge(). Zero has no sign in a range: -0 counts as +0, so that the result doesn't depend on the order.
struct RangeStatistics {
  static constexpr std::uint64_t kNoIndex = std::numeric_limits<std::uint64_t>::max();

  float min = std::numeric_limits<float>::infinity();   // +infinity if no value is finite
  float max = -std::numeric_limits<float>::infinity();  // -infinity if no value is finite
  std::uint64_t count = 0;                              // of all values
  std::uint64_t nan_count = 0;
  std::uint64_t infinity_count = 0;
  std::uint64_t first_non_finite = kNoIndex;  // index of the first NaN or infinity; kNoIndex if there is none

  [[nodiscard]] bool all_finite() const { return first_non_finite == kNoIndex; }
  [[nodiscard]] bool has_range() const { return count > nan_count + infinity_count; }
  // max(|min|, |max|); 0 if no value is finite.
  [[nodiscard]] float magnitude() const;
  // Adds the record of the values that come directly after these. Everything but first_non_finite is
  // independent of the order.
  void merge(const RangeStatistics& next);
};

// O(n), one pass; a second, slower pass only if something is not finite.
RangeStatistics range_of(FloatView x);

// One record per channel of `layout` (per tensor: one; blocked: one per block, in the order of the scales).
// The index in first_non_finite counts within the channel's own values, in row-major order.
// Errors: kShapeMismatch if x has not layout.element_count() elements.
Result<std::vector<RangeStatistics>> channel_ranges(FloatView x, const GridLayout& layout);

// Sums over pairs (e, a) of expected and actual values, in double: what PSNR, SQNR and cosine are made of.
// `expected` has something that is not finite exactly if expected_squares is not finite, and `actual` exactly
// if actual_squares is not, since squares of float32 can't overflow a double. A NaN sum is always the same
// quiet NaN. Where error_squares is not finite, max_abs_error equals it.
struct ErrorSums {
  std::uint64_t count = 0;
  double error_squares = 0.0;     // sum of (e - a)^2
  double expected_squares = 0.0;  // sum of e^2
  double actual_squares = 0.0;    // sum of a^2
  double products = 0.0;          // sum of e * a
  double max_abs_error = 0.0;     // largest |e - a|

  // Adds another record: plain double additions, so merge in a fixed order (by sample) where bits matter.
  void merge(const ErrorSums& other);
};

// Order of addition, part of the contract: element i is added to partial sum i % 8 in order of i; the eight
// partial sums p are combined as ((p0 + p1) + (p2 + p3)) + ((p4 + p5) + (p6 + p7)). No fused multiply-add.
// Errors: kShapeMismatch for unequal sizes. Zero length gives zeros.
Result<ErrorSums> error_sums(FloatView expected, FloatView actual);

// What a histogram left out.
struct HistogramRemainder {
  std::uint64_t below = 0;
  std::uint64_t above = 0;
  std::uint64_t not_finite = 0;
};

// Adds the values of `x` to `bins`, which divide [low, high] evenly: bin floor((x - low) * n / (high - low)),
// in double; x == high belongs to the last bin. Call it repeatedly to accumulate. O(n).
// Errors: kInvalidPolicy if there are no bins, more than 65536, or unless low < high and both are finite.
Result<HistogramRemainder> add_to_histogram(FloatView x, float low, float high,
                                            std::span<std::uint64_t> bins);

// The instruction set that kernels use here, by Highway's name: "WASM", "AVX2", "AVX3" (AVX-512), "SSE2",
// "NEON", …
std::string_view active_instruction_set();

}  // namespace halftone
