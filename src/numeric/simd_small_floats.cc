// Kernels for float8 and float4 formats on vectors of any width. This file is compiled once per instruction
// set.
//
// How a magnitude is rounded without looking at its mantissa of m bits: below 2^(e+1) the format's steps are
// 2^(e-m), with e at least 1 - bias, where the denormals begin. Adding 1.5 * 2^(e-m+23), a float32 whose unit
// in the last place is just that step, rounds half to even in the addition itself, and the low bits of the
// sum count the steps. Codes are consecutive in steps and exponents, so code = steps + 2^m (e - (1 - bias)).
#include "numeric/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numeric/simd_small_floats.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <limits>

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
constexpr std::int32_t kMagnitudeBits = 0x7FFFFFFF;
constexpr std::int32_t kExponentBits = 0x7F800000;  // also those of infinity: more is NaN
constexpr std::int32_t kQuietNan = 0x7FC00000;

// What codes there are beside finite numbers.
enum class Specials : std::uint8_t {
  kNan,          // a NaN of either sign above the largest number: "fn"
  kInfinityNan,  // infinity above the largest number, and three NaNs above that, of which the last is written
  kUnsignedZero,  // NaN in place of -0: "fnuz"
  kNone,
};

template <int bits, int mantissa_bits, int bias, int twice_largest, Specials specials>
struct Format {
  static constexpr int kBits = bits;
  static constexpr int kMantissaBits = mantissa_bits;
  static constexpr Specials kSpecials = specials;
  static constexpr float kLargest = twice_largest / 2.0F;
  static constexpr std::int32_t kSignCode = 1 << (bits - 1);
  static constexpr std::int32_t kLastCode = kSignCode - 1;      // without sign
  static constexpr std::int32_t kInfinityCode = kLastCode - 3;  // where there is one
  static constexpr int kLowestBits = 128 - bias;  // the exponent field of 2^(1 - bias) in float32
  static constexpr std::int32_t kSmallestNormal = kLowestBits << 23;
  // From the bits of 2^e to those of 1.5 * 2^(e + 23 - mantissa_bits).
  static constexpr std::int32_t kToRounder = ((23 - mantissa_bits) << 23) | 0x400000;
};

using E4M3Fn = Format<8, 3, 7, 2 * 448, Specials::kNan>;
using E4M3Fnuz = Format<8, 3, 8, 2 * 240, Specials::kUnsignedZero>;
using E5M2 = Format<8, 2, 15, 2 * 57344, Specials::kInfinityNan>;
using E5M2Fnuz = Format<8, 2, 16, 2 * 57344, Specials::kUnsignedZero>;
using E3M2 = Format<6, 2, 3, 2 * 28, Specials::kNone>;
using E2M3 = Format<6, 3, 1, 15, Specials::kNone>;
using E2M1 = Format<4, 1, 1, 2 * 6, Specials::kNone>;

HWY_INLINE IntVec ints(std::int32_t value) { return hn::Set(IntTag(), value); }

HWY_INLINE FloatVec as_floats(IntVec bits) { return hn::BitCast(FloatTag(), bits); }

HWY_INLINE IntVec as_bits(FloatVec value) { return hn::BitCast(IntTag(), value); }

HWY_INLINE FloatVec load_floats(const std::uint8_t* from) {
  return hn::LoadU(FloatTag(), reinterpret_cast<const float*>(from));
}

// x / scale without its sign, rounded to the format. NaN has to be put in afterwards: where it is is known
// from x, and its sign too, while the sign of a NaN that a division makes differs between machines.
struct Rounded {
  FloatVec magnitude;  // before rounding, but not above the largest value
  FloatVec rounder;
  FloatVec sum;     // the rounded magnitude plus `rounder`
  IntVec exponent;  // the bits of 2^e
  IntVec sign;      // of x: its highest bit
  hn::Mask<IntTag> is_nan;
};

template <typename F>
HWY_INLINE Rounded rounded(const std::uint8_t* from, FloatVec scale) {
  const IntVec bits = as_bits(load_floats(from));
  const IntVec magnitude_bits = hn::And(bits, ints(kMagnitudeBits));
  const FloatVec quotient = hn::Div(as_floats(magnitude_bits), scale);
  const FloatVec magnitude = hn::Min(quotient, hn::Set(FloatTag(), F::kLargest));
  const IntVec exponent = hn::And(hn::Max(as_bits(magnitude), ints(F::kSmallestNormal)), ints(kExponentBits));
  const FloatVec rounder = as_floats(hn::Add(exponent, ints(F::kToRounder)));
  return {magnitude,
          rounder,
          hn::Add(magnitude, rounder),
          exponent,
          hn::Xor(bits, magnitude_bits),
          hn::Gt(magnitude_bits, ints(kExponentBits))};
}

// The sign, but none for a quotient of exactly 0: what a zero point of 0 makes of -0 in onnx.reference.
HWY_INLINE IntVec sign_unless_zero(const Rounded& got) {
  return hn::IfThenZeroElse(hn::Eq(as_bits(got.magnitude), hn::Zero(IntTag())), got.sign);
}

template <typename F>
HWY_INLINE IntVec encoded(const std::uint8_t* from, FloatVec scale) {
  const Rounded got = rounded<F>(from, scale);
  const IntVec steps = hn::Sub(as_bits(got.sum), as_bits(got.rounder));
  const IntVec above = hn::Sub(got.exponent, ints(F::kSmallestNormal));
  const IntVec code = hn::Add(steps, hn::ShiftRight<23 - F::kMantissaBits>(above));
  const IntVec sign_bit = F::kSpecials == Specials::kNone ? sign_unless_zero(got) : got.sign;
  const IntVec sign = hn::And(hn::ShiftRight<32 - F::kBits>(sign_bit), ints(F::kSignCode));
  if constexpr (F::kSpecials == Specials::kUnsignedZero) {
    const IntVec with_sign = hn::IfThenZeroElse(hn::Eq(code, hn::Zero(IntTag())), hn::Or(code, sign));
    return hn::IfThenElse(got.is_nan, ints(F::kSignCode), with_sign);
  } else if constexpr (F::kSpecials == Specials::kNone) {
    return hn::IfThenElse(got.is_nan, ints(F::kSignCode), hn::Or(code, sign));
  } else {
    return hn::Or(hn::IfThenElse(got.is_nan, ints(F::kLastCode), code), sign);
  }
}

HWY_INLINE FloatVec finished(FloatVec magnitude, hn::Mask<IntTag> is_nan, IntVec sign) {
  return as_floats(hn::Or(hn::IfThenElse(is_nan, ints(kQuietNan), as_bits(magnitude)), sign));
}

template <typename F>
HWY_INLINE FloatVec fake_quantized(const std::uint8_t* from, FloatVec scale) {
  const Rounded got = rounded<F>(from, scale);
  const FloatVec magnitude = hn::Sub(got.sum, got.rounder);
  const FloatVec value = hn::Mul(magnitude, scale);
  if constexpr (F::kSpecials == Specials::kUnsignedZero) {
    const auto unsigned_code = hn::Or(got.is_nan, hn::Eq(as_bits(magnitude), hn::Zero(IntTag())));
    return finished(value, got.is_nan, hn::IfThenZeroElse(unsigned_code, got.sign));
  } else if constexpr (F::kSpecials == Specials::kNone) {
    const IntVec minus_zero = ints(std::numeric_limits<std::int32_t>::min());
    return as_floats(hn::IfThenElse(got.is_nan, minus_zero, hn::Or(as_bits(value), sign_unless_zero(got))));
  } else {
    return finished(value, got.is_nan, got.sign);
  }
}

// steps * 2^(e - mantissa_bits) as two factors, of which neither is denormal: machines are slow with those.
template <typename F>
HWY_INLINE FloatVec decoded(const std::uint8_t* from, FloatVec scale) {
  constexpr int kM = F::kMantissaBits;
  const hn::Rebind<std::uint8_t, IntTag> dt;
  const IntVec code = hn::PromoteTo(IntTag(), hn::LoadU(dt, from));
  const IntVec magnitude = hn::And(code, ints(F::kLastCode));
  const IntVec exponent = hn::Max(hn::ShiftRight<kM>(magnitude), ints(1));  // e + bias
  const IntVec steps = hn::Sub(magnitude, hn::ShiftLeft<kM>(hn::Sub(exponent, ints(1))));
  const FloatVec unit = as_floats(hn::ShiftLeft<23>(hn::Add(exponent, ints(F::kLowestBits - 1 - kM))));
  const FloatVec value = hn::Mul(hn::ConvertTo(FloatTag(), steps), unit);
  const FloatVec product = hn::Mul(value, scale);
  const IntVec sign = hn::ShiftLeft<32 - F::kBits>(hn::Xor(code, magnitude));
  if constexpr (F::kSpecials == Specials::kUnsignedZero) {
    const auto is_nan = hn::Eq(code, ints(F::kSignCode));
    return finished(product, is_nan, hn::IfThenZeroElse(is_nan, sign));
  } else if constexpr (F::kSpecials == Specials::kNone) {
    return as_floats(hn::Or(as_bits(product), sign));
  } else if constexpr (F::kSpecials == Specials::kInfinityNan) {
    const auto is_infinite = hn::Eq(magnitude, ints(F::kInfinityCode));
    const FloatVec extended = as_floats(hn::IfThenElse(is_infinite, ints(kExponentBits), as_bits(product)));
    return finished(extended, hn::Gt(magnitude, ints(F::kInfinityCode)), sign);
  } else {
    return finished(product, hn::Eq(magnitude, ints(F::kLastCode)), sign);
  }
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
template <typename F>
struct Quantize {
  static constexpr std::size_t kInBytes = sizeof(float);
  static constexpr std::size_t kOutBytes = 1;
  template <typename Scales>
  static HWY_INLINE void step(const std::uint8_t* in, const Scales& scales, std::uint8_t* out) {
    constexpr std::size_t kVector = kLanes * kInBytes;
    const hn::ScalableTag<std::int16_t> d16;
    const hn::ScalableTag<std::uint8_t> d8;
    const auto low =
        hn::OrderedDemote2To(d16, encoded<F>(in, scales.at(0)), encoded<F>(in + kVector, scales.at(1)));
    const auto high = hn::OrderedDemote2To(d16, encoded<F>(in + 2 * kVector, scales.at(2)),
                                           encoded<F>(in + 3 * kVector, scales.at(3)));
    hn::StoreU(hn::OrderedDemote2To(d8, low, high), d8, out);
  }
};

template <typename F>
struct Dequantize {
  static constexpr std::size_t kInBytes = 1;
  static constexpr std::size_t kOutBytes = sizeof(float);
  template <typename Scales>
  static HWY_INLINE void step(const std::uint8_t* in, const Scales& scales, std::uint8_t* out) {
    for (std::size_t vector = 0; vector < 4; ++vector) {
      hn::StoreU(decoded<F>(in + vector * kLanes, scales.at(vector)), FloatTag(),
                 reinterpret_cast<float*>(out) + vector * kLanes);
    }
  }
};

template <typename F>
struct FakeQuantize {
  static constexpr std::size_t kInBytes = sizeof(float);
  static constexpr std::size_t kOutBytes = sizeof(float);
  template <typename Scales>
  static HWY_INLINE void step(const std::uint8_t* in, const Scales& scales, std::uint8_t* out) {
    for (std::size_t vector = 0; vector < 4; ++vector) {
      const std::size_t offset = vector * kLanes * sizeof(float);
      hn::StoreU(fake_quantized<F>(in + offset, scales.at(vector)), FloatTag(),
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

template <typename F>
CodeKernels kernels_for() {
  return {over_rows<Quantize<F>>,      over_periods<Quantize<F>>,  over_rows<Dequantize<F>>,
          over_periods<Dequantize<F>>, over_rows<FakeQuantize<F>>, over_periods<FakeQuantize<F>>};
}

}  // namespace

CodeKernels e4m3fn_kernels() { return kernels_for<E4M3Fn>(); }
CodeKernels e4m3fnuz_kernels() { return kernels_for<E4M3Fnuz>(); }
CodeKernels e5m2_kernels() { return kernels_for<E5M2>(); }
CodeKernels e5m2fnuz_kernels() { return kernels_for<E5M2Fnuz>(); }
CodeKernels e2m1_kernels() { return kernels_for<E2M1>(); }
RowKernels e3m2_kernels() { return {over_rows<Quantize<E3M2>>, over_rows<Dequantize<E3M2>>}; }
RowKernels e2m3_kernels() { return {over_rows<Quantize<E2M3>>, over_rows<Dequantize<E2M3>>}; }

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();
