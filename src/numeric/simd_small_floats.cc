// Kernels for float8e4m3fn on vectors of any width. This file is compiled once per instruction set.
//
// How a magnitude is rounded without looking at its mantissa: below 2^(e+1) the format's steps are 2^(e-3),
// with e at least -6, where the denormals begin. Adding 1.5 * 2^(e+20), a float32 whose unit in the last
// place is just that step, rounds half to even in the addition itself, and the low bits of the sum count the
// steps. Codes are consecutive in steps and exponents, so code = steps + 8 (e + 6).
#include "numeric/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numeric/simd_float8.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstring>

#include "numeric/simd_float8.h"

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
constexpr float kLargest = 448.0F;
constexpr std::int32_t kMagnitudeBits = 0x7FFFFFFF;
constexpr std::int32_t kExponentBits = 0x7F800000;  // also those of infinity: more is NaN
constexpr std::int32_t kQuietNan = 0x7FC00000;
constexpr std::int32_t kSmallestNormal = 121 << 23;         // 2^-6
constexpr std::int32_t kToRounder = (20 << 23) | 0x400000;  // from the bits of 2^e to those of 1.5 * 2^(e+20)
constexpr std::int32_t kNanCode = 0x7F;

HWY_INLINE IntVec ints(std::int32_t value) { return hn::Set(IntTag(), value); }

HWY_INLINE FloatVec as_floats(IntVec bits) { return hn::BitCast(FloatTag(), bits); }

HWY_INLINE IntVec as_bits(FloatVec value) { return hn::BitCast(IntTag(), value); }

HWY_INLINE FloatVec load_floats(const std::uint8_t* from) {
  return hn::LoadU(FloatTag(), reinterpret_cast<const float*>(from));
}

// x / scale without its sign, rounded to the format. NaN has to be put in afterwards: where it is is known
// from x, and its sign too, while the sign of a NaN that a division makes differs between machines.
struct Rounded {
  FloatVec rounder;
  FloatVec sum;     // the rounded magnitude plus `rounder`
  IntVec exponent;  // the bits of 2^e
  IntVec sign;      // of x: its highest bit
  hn::Mask<IntTag> is_nan;
};

HWY_INLINE Rounded rounded(const std::uint8_t* from, FloatVec scale) {
  const IntVec bits = as_bits(load_floats(from));
  const IntVec magnitude_bits = hn::And(bits, ints(kMagnitudeBits));
  const FloatVec quotient = hn::Div(as_floats(magnitude_bits), scale);
  const FloatVec magnitude = hn::Min(quotient, hn::Set(FloatTag(), kLargest));
  const IntVec exponent = hn::And(hn::Max(as_bits(magnitude), ints(kSmallestNormal)), ints(kExponentBits));
  const FloatVec rounder = as_floats(hn::Add(exponent, ints(kToRounder)));
  return {rounder, hn::Add(magnitude, rounder), exponent, hn::Xor(bits, magnitude_bits),
          hn::Gt(magnitude_bits, ints(kExponentBits))};
}

HWY_INLINE IntVec encoded(const std::uint8_t* from, FloatVec scale) {
  const Rounded got = rounded(from, scale);
  const IntVec steps = hn::Sub(as_bits(got.sum), as_bits(got.rounder));
  const IntVec code = hn::Add(steps, hn::ShiftRight<20>(hn::Sub(got.exponent, ints(kSmallestNormal))));
  const IntVec sign = hn::And(hn::ShiftRight<24>(got.sign), ints(0x80));
  return hn::Or(hn::IfThenElse(got.is_nan, ints(kNanCode), code), sign);
}

HWY_INLINE FloatVec finished(FloatVec magnitude, hn::Mask<IntTag> is_nan, IntVec sign) {
  return as_floats(hn::Or(hn::IfThenElse(is_nan, ints(kQuietNan), as_bits(magnitude)), sign));
}

HWY_INLINE FloatVec fake_quantized(const std::uint8_t* from, FloatVec scale) {
  const Rounded got = rounded(from, scale);
  return finished(hn::Mul(hn::Sub(got.sum, got.rounder), scale), got.is_nan, got.sign);
}

// steps * 2^(e-3) as two factors, of which neither is denormal: machines are slow with those.
HWY_INLINE FloatVec decoded(const std::uint8_t* from, FloatVec scale) {
  const hn::Rebind<std::uint8_t, IntTag> dt;
  const IntVec code = hn::PromoteTo(IntTag(), hn::LoadU(dt, from));
  const IntVec magnitude = hn::And(code, ints(kNanCode));
  const IntVec exponent = hn::Max(hn::ShiftRight<3>(magnitude), ints(1));  // e + 7
  const IntVec steps = hn::Sub(magnitude, hn::ShiftLeft<3>(hn::Sub(exponent, ints(1))));
  const FloatVec unit = as_floats(hn::ShiftLeft<23>(hn::Add(exponent, ints(127 - 10))));
  const FloatVec value = hn::Mul(hn::ConvertTo(FloatTag(), steps), unit);
  const IntVec sign = hn::ShiftLeft<24>(hn::Xor(code, magnitude));
  return finished(hn::Mul(value, scale), hn::Eq(magnitude, ints(kNanCode)), sign);
}

// Where the scales of four consecutive vectors come from.
struct RowScale {
  FloatVec scale;
  [[nodiscard]] HWY_INLINE FloatVec at(std::size_t /*vector*/) const { return scale; }
};

struct ScaleList {
  const float* scales;
  [[nodiscard]] HWY_INLINE FloatVec at(std::size_t vector) const {
    return hn::LoadU(FloatTag(), scales + vector * kLanes);
  }
};

// What a kernel does to kStep elements.
struct Quantize {
  static constexpr std::size_t kInBytes = sizeof(float);
  static constexpr std::size_t kOutBytes = 1;
  template <typename Scales>
  static HWY_INLINE void step(const std::uint8_t* in, const Scales& scales, std::uint8_t* out) {
    constexpr std::size_t kVector = kLanes * kInBytes;
    const hn::ScalableTag<std::int16_t> d16;
    const hn::ScalableTag<std::uint8_t> d8;
    const auto low =
        hn::OrderedDemote2To(d16, encoded(in, scales.at(0)), encoded(in + kVector, scales.at(1)));
    const auto high = hn::OrderedDemote2To(d16, encoded(in + 2 * kVector, scales.at(2)),
                                           encoded(in + 3 * kVector, scales.at(3)));
    hn::StoreU(hn::OrderedDemote2To(d8, low, high), d8, out);
  }
};

struct Dequantize {
  static constexpr std::size_t kInBytes = 1;
  static constexpr std::size_t kOutBytes = sizeof(float);
  template <typename Scales>
  static HWY_INLINE void step(const std::uint8_t* in, const Scales& scales, std::uint8_t* out) {
    for (std::size_t vector = 0; vector < 4; ++vector) {
      hn::StoreU(decoded(in + vector * kLanes, scales.at(vector)), FloatTag(),
                 reinterpret_cast<float*>(out) + vector * kLanes);
    }
  }
};

struct FakeQuantize {
  static constexpr std::size_t kInBytes = sizeof(float);
  static constexpr std::size_t kOutBytes = sizeof(float);
  template <typename Scales>
  static HWY_INLINE void step(const std::uint8_t* in, const Scales& scales, std::uint8_t* out) {
    for (std::size_t vector = 0; vector < 4; ++vector) {
      const std::size_t offset = vector * kLanes * sizeof(float);
      hn::StoreU(fake_quantized(in + offset, scales.at(vector)), FloatTag(),
                 reinterpret_cast<float*>(out + offset));
    }
  }
};

// Fewer than kStep elements, by the same instructions on a copy of them.
template <typename Kernel, typename Scales>
HWY_INLINE void tail(const std::uint8_t* in, std::size_t left, const Scales& scales, std::uint8_t* out) {
  HWY_ALIGN std::uint8_t whole_in[kStep * sizeof(float)] = {};
  HWY_ALIGN std::uint8_t whole_out[kStep * sizeof(float)];
  std::memcpy(whole_in, in, left * Kernel::kInBytes);
  Kernel::step(whole_in, scales, whole_out);
  std::memcpy(out, whole_out, left * Kernel::kOutBytes);
}

template <typename Kernel>
void over_rows(const std::uint8_t* in, std::size_t rows, std::size_t length, const RowGrid& grid,
               std::uint8_t* out) {
  for (std::size_t row = 0; row < rows; ++row) {
    const RowScale scale = {hn::Set(FloatTag(), grid.scales[row])};
    std::size_t at = 0;
    for (; at + kStep <= length; at += kStep) {
      Kernel::step(in + at * Kernel::kInBytes, scale, out + at * Kernel::kOutBytes);
    }
    if (at < length) {
      tail<Kernel>(in + at * Kernel::kInBytes, length - at, scale, out + at * Kernel::kOutBytes);
    }
    in += length * Kernel::kInBytes;
    out += length * Kernel::kOutBytes;
  }
}

template <typename Kernel>
void over_periods(const std::uint8_t* in, std::size_t count, const PeriodicGrid& grid, std::uint8_t* out) {
  const float* scales = grid.scales;  // a copy, because `out` may alias anything, the grid too
  const std::size_t period = grid.period;
  while (count > 0) {
    const std::size_t run = count < period ? count : period;
    std::size_t at = 0;
    for (; at + kStep <= run; at += kStep) {
      Kernel::step(in + at * Kernel::kInBytes, ScaleList{scales + at}, out + at * Kernel::kOutBytes);
    }
    if (at < run) {
      HWY_ALIGN float rest[kStep];
      for (std::size_t i = 0; i < kStep; ++i) rest[i] = at + i < run ? scales[at + i] : 1.0F;
      tail<Kernel>(in + at * Kernel::kInBytes, run - at, ScaleList{rest}, out + at * Kernel::kOutBytes);
    }
    in += run * Kernel::kInBytes;
    out += run * Kernel::kOutBytes;
    count -= run;
  }
}

}  // namespace

CodeKernels float8_kernels() {
  return {over_rows<Quantize>,      over_periods<Quantize>,  over_rows<Dequantize>,
          over_periods<Dequantize>, over_rows<FakeQuantize>, over_periods<FakeQuantize>};
}

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();
