// Kernels for statistics on vectors of any width. This file is compiled once per instruction set.
//
// Minimum and maximum are exact, so they may be taken in any order. Sums are not: eight partial sums in
// double, filled by element i % 8, whatever the width of a vector; see error_partials.h.
#include "numeric/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numeric/simd_statistics.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstring>
#include <limits>

#include "numeric/error_partials.h"
#include "numeric/kernel_set.h"

HWY_BEFORE_NAMESPACE();
namespace halftone::numeric {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::ScalableTag<std::int32_t>;
using FloatVec = hn::Vec<FloatTag>;
using IntVec = hn::Vec<IntTag>;

constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

HWY_INLINE FloatVec load_floats(const std::uint8_t* from) {
  return hn::LoadU(FloatTag(), reinterpret_cast<const float*>(from));
}

HWY_INLINE IntVec magnitude_bits(FloatVec value) {
  return hn::And(hn::BitCast(IntTag(), value), hn::Set(IntTag(), 0x7FFFFFFF));
}

struct RangeVectors {
  FloatVec min;
  FloatVec max;
  IntVec magnitude_bits;
};

HWY_INLINE void widen(RangeVectors& range, FloatVec value) {
  range.min = hn::Min(value, range.min);
  range.max = hn::Max(value, range.max);
  range.magnitude_bits = hn::Max(magnitude_bits(value), range.magnitude_bits);
}

HWY_INLINE void widen(RangeVectors& range, const RangeVectors& other) {
  range.min = hn::Min(other.min, range.min);
  range.max = hn::Max(other.max, range.max);
  range.magnitude_bits = hn::Max(other.magnitude_bits, range.magnitude_bits);
}

RawRange range(const std::uint8_t* x, std::size_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const RangeVectors empty = {hn::Set(FloatTag(), kInfinity), hn::Set(FloatTag(), -kInfinity),
                              hn::Zero(IntTag())};
  RangeVectors a = empty;
  RangeVectors b = empty;
  RangeVectors c = empty;
  RangeVectors d = empty;
  constexpr std::size_t kVectorBytes = kLanes * sizeof(float);
  std::size_t left = count;
  for (; left >= 4 * kLanes; left -= 4 * kLanes) {
    widen(a, load_floats(x));
    widen(b, load_floats(x + kVectorBytes));
    widen(c, load_floats(x + 2 * kVectorBytes));
    widen(d, load_floats(x + 3 * kVectorBytes));
    x += 4 * kVectorBytes;
  }
  for (; left >= kLanes; left -= kLanes) {
    widen(a, load_floats(x));
    x += kVectorBytes;
  }
  widen(a, b);
  widen(c, d);
  widen(a, c);
  const RawRange tail = reference_statistic_kernels().range(x, left);
  const float min = hn::ReduceMin(FloatTag(), a.min) + 0.0F;  // -0 becomes +0
  const float max = hn::ReduceMax(FloatTag(), a.max) + 0.0F;
  const std::int32_t bits = hn::ReduceMax(IntTag(), a.magnitude_bits);
  return {tail.min < min ? tail.min : min, tail.max > max ? tail.max : max,
          tail.magnitude_bits > bits ? tail.magnitude_bits : bits};
}

// Rows `rows` (1 to 4) of one vector's columns into the accumulators, so that those are loaded and stored
// once per block.
HWY_INLINE void widen_columns(const std::uint8_t* x, std::size_t rows, std::size_t row_bytes, float* min,
                              float* max, std::int32_t* bits) {
  RangeVectors range = {hn::LoadU(FloatTag(), min), hn::LoadU(FloatTag(), max), hn::LoadU(IntTag(), bits)};
  for (std::size_t row = 0; row < rows; ++row) widen(range, load_floats(x + row * row_bytes));
  hn::StoreU(range.min, FloatTag(), min);
  hn::StoreU(range.max, FloatTag(), max);
  hn::StoreU(range.magnitude_bits, IntTag(), bits);
}

void column_ranges(const std::uint8_t* x, std::size_t rows, std::size_t columns, float* min, float* max,
                   std::int32_t* bits) {
  constexpr std::size_t kBlock = 4;
  const std::size_t row_bytes = columns * sizeof(float);
  for (std::size_t row = 0; row < rows; row += kBlock) {
    const std::size_t block = rows - row < kBlock ? rows - row : kBlock;
    const std::uint8_t* from = x + row * row_bytes;
    std::size_t column = 0;
    if (block == kBlock) {
      for (; column + kLanes <= columns; column += kLanes) {
        widen_columns(from + column * sizeof(float), kBlock, row_bytes, min + column, max + column,
                      bits + column);
      }
    } else {
      for (; column + kLanes <= columns; column += kLanes) {
        widen_columns(from + column * sizeof(float), block, row_bytes, min + column, max + column,
                      bits + column);
      }
    }
    for (std::size_t r = 0; column < columns && r < block; ++r) {
      const std::uint8_t* rest = from + r * row_bytes + column * sizeof(float);
      reference_statistic_kernels().column_ranges(rest, 1, columns - column, min + column, max + column,
                                                  bits + column);
    }
  }
}

// The eight partial sums as 8, 4, 2 or 1 vectors, whatever fits.
using DoubleTag = hn::CappedTag<double, kErrorPartials>;
using DoubleVec = hn::Vec<DoubleTag>;
using HalfTag = hn::Rebind<float, DoubleTag>;
constexpr std::size_t kDoubles = hn::MaxLanes(DoubleTag());
constexpr std::size_t kVectors = kErrorPartials / kDoubles;

HWY_INLINE DoubleVec load_doubles(const std::uint8_t* from, std::size_t vector) {
  return hn::PromoteTo(DoubleTag(),
                       hn::LoadU(HalfTag(), reinterpret_cast<const float*>(from) + vector * kDoubles));
}

struct ErrorVectors {
  DoubleVec error_squares[kVectors];
  DoubleVec expected_squares[kVectors];
  DoubleVec actual_squares[kVectors];
  DoubleVec products[kVectors];
  DoubleVec max_abs_error[kVectors];
};

HWY_INLINE void add_eight(ErrorVectors& sums, const std::uint8_t* expected, const std::uint8_t* actual) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    const DoubleVec e = load_doubles(expected, v);
    const DoubleVec a = load_doubles(actual, v);
    const DoubleVec error = hn::Sub(e, a);
    sums.error_squares[v] = hn::Add(sums.error_squares[v], hn::Mul(error, error));
    sums.expected_squares[v] = hn::Add(sums.expected_squares[v], hn::Mul(e, e));
    sums.actual_squares[v] = hn::Add(sums.actual_squares[v], hn::Mul(a, a));
    sums.products[v] = hn::Add(sums.products[v], hn::Mul(e, a));
    sums.max_abs_error[v] = hn::Max(hn::Abs(error), sums.max_abs_error[v]);
  }
}

ErrorSums error_sums(const std::uint8_t* expected, const std::uint8_t* actual, std::size_t count) {
  ErrorVectors sums;
  for (std::size_t v = 0; v < kVectors; ++v) {
    const DoubleVec zero = hn::Zero(DoubleTag());
    sums.error_squares[v] = sums.expected_squares[v] = sums.actual_squares[v] = zero;
    sums.products[v] = sums.max_abs_error[v] = zero;
  }
  constexpr std::size_t kBytes = kErrorPartials * sizeof(float);
  std::size_t left = count;
  for (; left >= kErrorPartials; left -= kErrorPartials) {
    add_eight(sums, expected, actual);
    expected += kBytes;
    actual += kBytes;
  }
  if (left > 0) {
    // Zeros add nothing: a partial sum is never -0.
    std::uint8_t e[kBytes] = {};
    std::uint8_t a[kBytes] = {};
    std::memcpy(e, expected, left * sizeof(float));
    std::memcpy(a, actual, left * sizeof(float));
    add_eight(sums, e, a);
  }
  ErrorPartials partials;
  for (std::size_t v = 0; v < kVectors; ++v) {
    hn::StoreU(sums.error_squares[v], DoubleTag(), partials.error_squares + v * kDoubles);
    hn::StoreU(sums.expected_squares[v], DoubleTag(), partials.expected_squares + v * kDoubles);
    hn::StoreU(sums.actual_squares[v], DoubleTag(), partials.actual_squares + v * kDoubles);
    hn::StoreU(sums.products[v], DoubleTag(), partials.products + v * kDoubles);
    hn::StoreU(sums.max_abs_error[v], DoubleTag(), partials.max_abs_error + v * kDoubles);
  }
  return combine(partials, count);
}

}  // namespace

const StatisticKernelSet* statistic_kernels() {
  static const StatisticKernelSet kSet = {hwy::TargetName(HWY_TARGET), range, column_ranges, error_sums};
  return &kSet;
}

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace halftone::numeric {

HWY_EXPORT(statistic_kernels);

const StatisticKernelSet& simd_statistic_kernels() { return *HWY_DYNAMIC_DISPATCH(statistic_kernels)(); }

}  // namespace halftone::numeric

#endif  // HWY_ONCE
