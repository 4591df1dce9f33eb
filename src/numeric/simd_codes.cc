// Kernels for codes on vectors of any width. This file is compiled once per instruction set.
//
// How a code is made without an integer overflow or a slow float-to-int conversion: clamp the quotient to
// [lowest - zero_point, highest - zero_point] (whole numbers below 2^17, so clamping before rounding changes
// nothing), then add 1.5 * 2^23. The sum has a unit in the last place of exactly 1, so the addition itself
// rounds half to even, and the low bits of the sum are the rounded integer.
#include "numeric/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numeric/simd_codes.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstring>

#include "numeric/kernel_set.h"
#include "numeric/simd_small_floats.h"

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
constexpr std::size_t kStep = 4 * kLanes;  // elements per iteration: what fills one vector of bytes
constexpr float kRounder = 12582912.0F;    // 1.5 * 2^23
constexpr std::int32_t kRounderBits = 0x4B400000;

HWY_INLINE FloatVec load_floats(const std::uint8_t* from) {
  return hn::LoadU(FloatTag(), reinterpret_cast<const float*>(from));
}

HWY_INLINE void store_floats(FloatVec value, std::uint8_t* to) {
  hn::StoreU(value, FloatTag(), reinterpret_cast<float*>(to));
}

// The quotient within bounds, rounded, plus kRounder. Max and Min return their second operand if the first is
// NaN, on every target: NaN becomes the lowest code.
HWY_INLINE FloatVec rounded(FloatVec x, FloatVec scale, FloatVec low, FloatVec high) {
  const FloatVec bounded = hn::Min(hn::Max(hn::Div(x, scale), low), high);
  return hn::Add(bounded, hn::Set(FloatTag(), kRounder));
}

// One row's constants, ready in registers.
struct RowVectors {
  FloatVec scale;
  FloatVec low;
  FloatVec high;
  IntVec bias;  // bits of kRounder minus the zero point
};

HWY_INLINE RowVectors row_vectors(const RowGrid& grid, std::size_t row) {
  const std::int32_t zero_point = grid.zero_points == nullptr ? 0 : grid.zero_points[row];
  const FloatTag df;
  return {hn::Set(df, grid.scales[row]), hn::Set(df, static_cast<float>(grid.lowest - zero_point)),
          hn::Set(df, static_cast<float>(grid.highest - zero_point)),
          hn::Set(IntTag(), kRounderBits - zero_point)};
}

HWY_INLINE IntVec row_codes(const std::uint8_t* x, std::size_t vector, const RowVectors& row) {
  const FloatVec sum =
      rounded(load_floats(x + vector * kLanes * sizeof(float)), row.scale, row.low, row.high);
  return hn::Sub(hn::BitCast(IntTag(), sum), row.bias);
}

// Four vectors of codes, already in range, to consecutive memory. The narrowing instructions saturate and
// never have to.
template <typename T>
HWY_INLINE void store_codes(IntVec a, IntVec b, IntVec c, IntVec d, std::uint8_t* to) {
  T* out = reinterpret_cast<T*>(to);
  if constexpr (sizeof(T) == 2) {
    const hn::ScalableTag<T> dt;
    hn::StoreU(hn::OrderedDemote2To(dt, a, b), dt, out);
    hn::StoreU(hn::OrderedDemote2To(dt, c, d), dt, out + 2 * kLanes);
  } else {
    const hn::ScalableTag<std::int16_t> d16;
    const hn::ScalableTag<T> dt;
    hn::StoreU(hn::OrderedDemote2To(dt, hn::OrderedDemote2To(d16, a, b), hn::OrderedDemote2To(d16, c, d)), dt,
               out);
  }
}

template <typename T>
HWY_INLINE void quantize_step(const std::uint8_t* x, const RowVectors& row, std::uint8_t* codes) {
  store_codes<T>(row_codes(x, 0, row), row_codes(x, 1, row), row_codes(x, 2, row), row_codes(x, 3, row),
                 codes);
}

// A whole step's worth of memory for the tail of a row, so that tails run the same instructions as everything
// else.
struct Scratch {
  HWY_ALIGN std::uint8_t in[kStep * sizeof(float)];
  HWY_ALIGN std::uint8_t out[kStep * sizeof(float)];
};

HWY_INLINE void fill_scratch(Scratch& scratch, const std::uint8_t* from, std::size_t bytes) {
  std::memset(scratch.in, 0, sizeof(scratch.in));
  std::memcpy(scratch.in, from, bytes);
}

template <typename T>
void quantize_rows(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                   std::uint8_t* codes) {
  for (std::size_t row = 0; row < rows; ++row) {
    const RowVectors vectors = row_vectors(grid, row);
    std::size_t left = length;
    for (; left >= kStep; left -= kStep) {
      quantize_step<T>(x, vectors, codes);
      x += kStep * sizeof(float);
      codes += kStep * sizeof(T);
    }
    if (left == 0) continue;
    Scratch scratch;
    fill_scratch(scratch, x, left * sizeof(float));
    quantize_step<T>(scratch.in, vectors, scratch.out);
    std::memcpy(codes, scratch.out, left * sizeof(T));
    x += left * sizeof(float);
    codes += left * sizeof(T);
  }
}

// A place in a repeating list of scales, and the constants that all of it shares. A local copy of what
// PeriodicGrid says: codes are bytes, which may alias anything, so the compiler would read a grid behind a
// reference again after every store.
struct PeriodicVectors {
  const float* scales;
  const float* zero_points;
  FloatVec lowest;
  FloatVec highest;
};

HWY_INLINE PeriodicVectors periodic_vectors(const PeriodicGrid& grid) {
  const FloatTag df;
  return {grid.scales, grid.zero_points, hn::Set(df, static_cast<float>(grid.lowest)),
          hn::Set(df, static_cast<float>(grid.highest))};
}

HWY_INLINE PeriodicVectors at_element(const PeriodicVectors& grid, std::size_t at) {
  return {grid.scales + at, grid.zero_points + at, grid.lowest, grid.highest};
}

struct PeriodicSum {
  FloatVec sum;
  FloatVec scale;
  FloatVec zero_point;
};

HWY_INLINE PeriodicSum periodic_sum(const std::uint8_t* x, std::size_t vector, const PeriodicVectors& grid) {
  const FloatVec scale = hn::LoadU(FloatTag(), grid.scales + vector * kLanes);
  const FloatVec zero_point = hn::LoadU(FloatTag(), grid.zero_points + vector * kLanes);
  const FloatVec value = load_floats(x + vector * kLanes * sizeof(float));
  return {rounded(value, scale, hn::Sub(grid.lowest, zero_point), hn::Sub(grid.highest, zero_point)), scale,
          zero_point};
}

HWY_INLINE IntVec periodic_codes(const std::uint8_t* x, std::size_t vector, const PeriodicVectors& grid) {
  const PeriodicSum got = periodic_sum(x, vector, grid);
  // Both addends are whole numbers below 2^24: exact.
  return hn::Sub(hn::BitCast(IntTag(), hn::Add(got.sum, got.zero_point)), hn::Set(IntTag(), kRounderBits));
}

template <typename T>
HWY_INLINE void quantize_periodic_step(const std::uint8_t* x, const PeriodicVectors& grid,
                                       std::uint8_t* codes) {
  store_codes<T>(periodic_codes(x, 0, grid), periodic_codes(x, 1, grid), periodic_codes(x, 2, grid),
                 periodic_codes(x, 3, grid), codes);
}

// The last `left` elements of a period as a grid that may be read a whole step far.
struct GridScratch {
  HWY_ALIGN float scales[kStep];
  HWY_ALIGN float zero_points[kStep];
};

HWY_INLINE PeriodicVectors tail_grid(GridScratch& scratch, const PeriodicVectors& grid, std::size_t at,
                                     std::size_t left) {
  for (std::size_t i = 0; i < kStep; ++i) {
    scratch.scales[i] = i < left ? grid.scales[at + i] : 1.0F;
    scratch.zero_points[i] = i < left ? grid.zero_points[at + i] : 0.0F;
  }
  return {scratch.scales, scratch.zero_points, grid.lowest, grid.highest};
}

HWY_INLINE std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

template <typename T>
void quantize_periodic(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                       std::uint8_t* codes) {
  const PeriodicVectors vectors = periodic_vectors(grid);
  const std::size_t period = grid.period;
  while (count > 0) {
    const std::size_t run = smaller(count, period);
    std::size_t at = 0;
    for (; at + kStep <= run; at += kStep) {
      quantize_periodic_step<T>(x + at * sizeof(float), at_element(vectors, at), codes + at * sizeof(T));
    }
    if (at < run) {
      Scratch scratch;
      GridScratch grid_scratch;
      fill_scratch(scratch, x + at * sizeof(float), (run - at) * sizeof(float));
      quantize_periodic_step<T>(scratch.in, tail_grid(grid_scratch, vectors, at, run - at), scratch.out);
      std::memcpy(codes + at * sizeof(T), scratch.out, (run - at) * sizeof(T));
    }
    x += run * sizeof(float);
    codes += run * sizeof(T);
    count -= run;
  }
}

template <typename T>
HWY_INLINE FloatVec dequantized(const std::uint8_t* codes, std::size_t vector, IntVec zero_point,
                                FloatVec scale) {
  const hn::Rebind<T, IntTag> dt;
  const IntVec wide =
      hn::PromoteTo(IntTag(), hn::LoadU(dt, reinterpret_cast<const T*>(codes) + vector * kLanes));
  return hn::Mul(hn::ConvertTo(FloatTag(), hn::Sub(wide, zero_point)), scale);
}

template <typename T>
HWY_INLINE void dequantize_step(const std::uint8_t* codes, IntVec zero_point, FloatVec scale,
                                std::uint8_t* y) {
  for (std::size_t vector = 0; vector < 4; ++vector) {
    store_floats(dequantized<T>(codes, vector, zero_point, scale), y + vector * kLanes * sizeof(float));
  }
}

template <typename T>
void dequantize_rows(const std::uint8_t* codes, std::size_t rows, std::size_t length, const RowGrid& grid,
                     std::uint8_t* y) {
  for (std::size_t row = 0; row < rows; ++row) {
    const FloatVec scale = hn::Set(FloatTag(), grid.scales[row]);
    const IntVec zero_point = hn::Set(IntTag(), grid.zero_points == nullptr ? 0 : grid.zero_points[row]);
    std::size_t left = length;
    for (; left >= kStep; left -= kStep) {
      dequantize_step<T>(codes, zero_point, scale, y);
      codes += kStep * sizeof(T);
      y += kStep * sizeof(float);
    }
    if (left == 0) continue;
    Scratch scratch;
    fill_scratch(scratch, codes, left * sizeof(T));
    dequantize_step<T>(scratch.in, zero_point, scale, scratch.out);
    std::memcpy(y, scratch.out, left * sizeof(float));
    codes += left * sizeof(T);
    y += left * sizeof(float);
  }
}

template <typename T>
HWY_INLINE void dequantize_periodic_step(const std::uint8_t* codes, const PeriodicVectors& grid,
                                         std::uint8_t* y) {
  for (std::size_t vector = 0; vector < 4; ++vector) {
    const FloatVec scale = hn::LoadU(FloatTag(), grid.scales + vector * kLanes);
    const IntVec zero_point =
        hn::ConvertTo(IntTag(), hn::LoadU(FloatTag(), grid.zero_points + vector * kLanes));
    store_floats(dequantized<T>(codes, vector, zero_point, scale), y + vector * kLanes * sizeof(float));
  }
}

template <typename T>
void dequantize_periodic(const std::uint8_t* codes, std::size_t count, const PeriodicGrid& grid,
                         std::uint8_t* y) {
  const PeriodicVectors vectors = periodic_vectors(grid);
  const std::size_t period = grid.period;
  while (count > 0) {
    const std::size_t run = smaller(count, period);
    std::size_t at = 0;
    for (; at + kStep <= run; at += kStep) {
      dequantize_periodic_step<T>(codes + at * sizeof(T), at_element(vectors, at), y + at * sizeof(float));
    }
    if (at < run) {
      Scratch scratch;
      GridScratch grid_scratch;
      fill_scratch(scratch, codes + at * sizeof(T), (run - at) * sizeof(T));
      dequantize_periodic_step<T>(scratch.in, tail_grid(grid_scratch, vectors, at, run - at), scratch.out);
      std::memcpy(y + at * sizeof(float), scratch.out, (run - at) * sizeof(float));
    }
    codes += run * sizeof(T);
    y += run * sizeof(float);
    count -= run;
  }
}

// sum - kRounder is float32(code - zero_point), exactly.
HWY_INLINE FloatVec fake_quantized(FloatVec sum, FloatVec scale) {
  return hn::Mul(hn::Sub(sum, hn::Set(FloatTag(), kRounder)), scale);
}

HWY_INLINE void fake_quantize_step(const std::uint8_t* x, const RowVectors& row, std::uint8_t* y) {
  for (std::size_t vector = 0; vector < 4; ++vector) {
    const std::size_t offset = vector * kLanes * sizeof(float);
    store_floats(fake_quantized(rounded(load_floats(x + offset), row.scale, row.low, row.high), row.scale),
                 y + offset);
  }
}

void fake_quantize_rows(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                        std::uint8_t* y) {
  for (std::size_t row = 0; row < rows; ++row) {
    const RowVectors vectors = row_vectors(grid, row);
    std::size_t left = length;
    for (; left >= kStep; left -= kStep) {
      fake_quantize_step(x, vectors, y);
      x += kStep * sizeof(float);
      y += kStep * sizeof(float);
    }
    if (left == 0) continue;
    Scratch scratch;
    fill_scratch(scratch, x, left * sizeof(float));
    fake_quantize_step(scratch.in, vectors, scratch.out);
    std::memcpy(y, scratch.out, left * sizeof(float));
    x += left * sizeof(float);
    y += left * sizeof(float);
  }
}

HWY_INLINE void fake_quantize_periodic_step(const std::uint8_t* x, const PeriodicVectors& grid,
                                            std::uint8_t* y) {
  for (std::size_t vector = 0; vector < 4; ++vector) {
    const PeriodicSum got = periodic_sum(x, vector, grid);
    store_floats(fake_quantized(got.sum, got.scale), y + vector * kLanes * sizeof(float));
  }
}

void fake_quantize_periodic(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                            std::uint8_t* y) {
  const PeriodicVectors vectors = periodic_vectors(grid);
  const std::size_t period = grid.period;
  while (count > 0) {
    const std::size_t run = smaller(count, period);
    std::size_t at = 0;
    for (; at + kStep <= run; at += kStep) {
      fake_quantize_periodic_step(x + at * sizeof(float), at_element(vectors, at), y + at * sizeof(float));
    }
    if (at < run) {
      Scratch scratch;
      GridScratch grid_scratch;
      fill_scratch(scratch, x + at * sizeof(float), (run - at) * sizeof(float));
      fake_quantize_periodic_step(scratch.in, tail_grid(grid_scratch, vectors, at, run - at), scratch.out);
      std::memcpy(y + at * sizeof(float), scratch.out, (run - at) * sizeof(float));
    }
    x += run * sizeof(float);
    y += run * sizeof(float);
    count -= run;
  }
}

using ByteTag = hn::ScalableTag<std::uint8_t>;
using PairTag = hn::ScalableTag<std::uint16_t>;  // two codes seen as one number, the first in the low byte
constexpr std::size_t kPairs = hn::MaxLanes(PairTag());

HWY_INLINE hn::Vec<PairTag> packed_pairs(const std::uint8_t* codes) {
  const PairTag dp;
  const auto pairs = hn::BitCast(dp, hn::LoadU(ByteTag(), codes));
  const auto low = hn::And(pairs, hn::Set(dp, std::uint16_t{0x000F}));
  const auto high = hn::And(hn::ShiftRight<4>(pairs), hn::Set(dp, std::uint16_t{0x00F0}));
  return hn::Or(low, high);
}

void pack_nibbles(const std::uint8_t* codes, std::size_t count, std::uint8_t* packed) {
  const hn::ScalableTag<std::int16_t> d16;
  for (; count >= 4 * kPairs; count -= 4 * kPairs) {
    const auto first = hn::BitCast(d16, packed_pairs(codes));
    const auto second = hn::BitCast(d16, packed_pairs(codes + 2 * kPairs));
    hn::StoreU(hn::OrderedDemote2To(ByteTag(), first, second), ByteTag(), packed);
    codes += 4 * kPairs;
    packed += 2 * kPairs;
  }
  reference_code_kernels().pack_nibbles(codes, count, packed);
}

void unpack_nibbles(const std::uint8_t* packed, std::size_t count, bool sign_extend, std::uint8_t* codes) {
  const PairTag dp;
  const ByteTag db;
  const hn::Rebind<std::uint8_t, PairTag> half;
  // (n ^ 8) - 8 carries bit 3 into the upper bits; with 0 in place of 8 it changes nothing.
  const auto sign = hn::Set(db, static_cast<std::uint8_t>(sign_extend ? 8 : 0));
  for (; count >= 2 * kPairs; count -= 2 * kPairs) {
    const auto wide = hn::PromoteTo(dp, hn::LoadU(half, packed));
    const auto low = hn::And(wide, hn::Set(dp, std::uint16_t{0x000F}));
    const auto high = hn::And(hn::ShiftLeft<4>(wide), hn::Set(dp, std::uint16_t{0x0F00}));
    const auto nibbles = hn::BitCast(db, hn::Or(low, high));
    hn::StoreU(hn::Sub(hn::Xor(nibbles, sign), sign), db, codes);
    packed += kPairs;
    codes += 2 * kPairs;
  }
  reference_code_kernels().unpack_nibbles(packed, count, sign_extend, codes);
}

using QuadTag = hn::ScalableTag<std::uint32_t>;  // four codes seen as one number, the first in the low byte
constexpr std::size_t kQuads = hn::MaxLanes(QuadTag());

HWY_INLINE hn::Vec<QuadTag> packed_quads(const std::uint8_t* codes) {
  const QuadTag dq;
  const auto quads = hn::And(hn::BitCast(dq, hn::LoadU(ByteTag(), codes)), hn::Set(dq, 0x03030303U));
  const auto pairs = hn::Or(quads, hn::ShiftRight<6>(quads));
  return hn::And(hn::Or(pairs, hn::ShiftRight<12>(pairs)), hn::Set(dq, 0x000000FFU));
}

void pack_quarters(const std::uint8_t* codes, std::size_t count, std::uint8_t* packed) {
  const hn::Rebind<std::uint8_t, QuadTag> quarter;
  for (; count >= 4 * kQuads; count -= 4 * kQuads) {
    hn::StoreU(hn::TruncateTo(quarter, packed_quads(codes)), quarter, packed);
    codes += 4 * kQuads;
    packed += kQuads;
  }
  reference_code_kernels().pack_quarters(codes, count, packed);
}

void unpack_quarters(const std::uint8_t* packed, std::size_t count, bool sign_extend, std::uint8_t* codes) {
  const QuadTag dq;
  const ByteTag db;
  const hn::Rebind<std::uint8_t, QuadTag> quarter;
  const auto sign = hn::Set(db, static_cast<std::uint8_t>(sign_extend ? 2 : 0));
  for (; count >= 4 * kQuads; count -= 4 * kQuads) {
    const auto wide = hn::PromoteTo(dq, hn::LoadU(quarter, packed));
    const auto pairs = hn::Or(wide, hn::ShiftLeft<12>(wide));
    const auto quads = hn::And(hn::Or(pairs, hn::ShiftLeft<6>(pairs)), hn::Set(dq, 0x03030303U));
    hn::StoreU(hn::Sub(hn::Xor(hn::BitCast(db, quads), sign), sign), db, codes);
    packed += kQuads;
    codes += 4 * kQuads;
  }
  reference_code_kernels().unpack_quarters(packed, count, sign_extend, codes);
}

template <typename T>
constexpr CodeKernels kernels_for() {
  return {quantize_rows<T>,       quantize_periodic<T>, dequantize_rows<T>,
          dequantize_periodic<T>, fake_quantize_rows,   fake_quantize_periodic};
}

}  // namespace

const CodeKernelSet* code_kernels() {
  static const CodeKernelSet kSet = {
      hwy::TargetName(HWY_TARGET),
      {kernels_for<std::int8_t>(), kernels_for<std::uint8_t>(), kernels_for<std::int16_t>(),
       kernels_for<std::uint16_t>(), e4m3fn_kernels(), e4m3fnuz_kernels(), e5m2_kernels(), e5m2fnuz_kernels(),
       e2m1_kernels()},
      e3m2_kernels(),
      e2m3_kernels(),
      pack_nibbles,
      unpack_nibbles,
      pack_quarters,
      unpack_quarters};
  return &kSet;
}

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace halftone::numeric {

HWY_EXPORT(code_kernels);

const CodeKernelSet& simd_code_kernels() { return *HWY_DYNAMIC_DISPATCH(code_kernels)(); }

}  // namespace halftone::numeric

#endif  // HWY_ONCE
