// The scales of blocks. Included once per instruction set, behind simd_block_encoders.h.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "numeric/block_codes.h"
#include "numeric/simd_block_encoders.h"

#if defined(HALFTONE_SIMD_BLOCK_SCALES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HALFTONE_SIMD_BLOCK_SCALES_H
#undef HALFTONE_SIMD_BLOCK_SCALES_H
#else
#define HALFTONE_SIMD_BLOCK_SCALES_H
#endif

HWY_BEFORE_NAMESPACE();
namespace halftone::numeric {
namespace HWY_NAMESPACE {
namespace {

// What values are multiplied with in place of dividing them.
HWY_INLINE float factor_of(double numerator, double scale) { return static_cast<float>(numerator / scale); }

using PairTag = hn::Full128<double>;
using PairVec = hn::Vec<PairTag>;

using QuarterTag = hn::Full128<std::int32_t>;

// Of vectors of one or two times 128 bits.
template <typename D>
HWY_INLINE hn::Vec<QuarterTag> largest_quarter(D d, hn::Vec<D> bits) {
  if constexpr (hn::MaxLanes(d) == hn::MaxLanes(QuarterTag())) {
    return bits;
  } else {
    const hn::Half<D> half;
    return hn::Max(hn::LowerHalf(half, bits), hn::UpperHalf(half, bits));
  }
}

// Bits of the largest positive value and of the magnitude of the lowest negative one, side by side and once
// more; 0 where there is none. Bits of floats have the order of their magnitudes: as signed integers those of
// positive ones are above all of negative ones, as unsigned integers below; NaN is above infinity.
HWY_INLINE hn::Vec<QuarterTag> extremes_of(const std::uint8_t* x, std::size_t count) {
  IntVec positive = hn::Zero(IntTag());
  UnsignedVec negative = hn::Zero(UnsignedTag());
  std::size_t at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    const IntVec bits = hn::LoadU(IntTag(), reinterpret_cast<const std::int32_t*>(x) + at);
    positive = hn::Max(positive, bits);
    negative = hn::Max(negative, as_unsigned(bits));
  }
  if (at < count) {
    HWY_ALIGN std::int32_t rest[kLanes] = {};
    std::memcpy(rest, x + at * sizeof(float), (count - at) * sizeof(float));
    const IntVec bits = hn::Load(IntTag(), rest);
    positive = hn::Max(positive, bits);
    negative = hn::Max(negative, as_unsigned(bits));
  }
  // Without its sign, a negative value's bits are positive; what has no sign becomes negative.
  const IntVec signless =
      hn::Xor(hn::BitCast(IntTag(), negative), hn::Set(IntTag(), hwy::LimitsMin<std::int32_t>()));
  const IntVec magnitude = hn::Max(signless, hn::Zero(IntTag()));
  const IntVec quarters = hn::Max(hn::InterleaveLower(IntTag(), positive, magnitude),
                                  hn::InterleaveUpper(IntTag(), positive, magnitude));
  const IntVec halves = hn::Max(quarters, hn::Shuffle1032(quarters));
  return largest_quarter(IntTag(), halves);
}

// What a scale is chosen by. Infinity divides the values on a side that has no codes.
struct ScaleRule {
  HWY_INLINE ScaleRule(CodeReach reach, double the_offset) : codes(reach), offset(the_offset) {
    HWY_ALIGN const double reaches[2] = {reach.high > 0.0 ? reach.high : HUGE_VAL,
                                         reach.low < 0.0 ? -reach.low : HUGE_VAL};
    divisors = hn::Load(PairTag(), reaches);
  }
  CodeReach codes;
  double offset;
  PairVec divisors;
};

// Dividing is monotone: the largest quotient is that of the largest value. Without branches, which would be
// taken for every other block.
HWY_INLINE double scale_of(hn::Vec<QuarterTag> extremes, PairVec divisors) {
  const hn::Full64<float> two;
  const PairVec values =
      hn::PromoteTo(PairTag(), hn::BitCast(two, hn::LowerHalf(hn::Full64<std::int32_t>(), extremes)));
  const PairVec quotients = hn::Div(values, divisors);
  const PairVec others = hn::Shuffle01(quotients);
  const PairVec larger = hn::IfThenElse(hn::Lt(quotients, others), others, quotients);
  return hn::GetLane(hn::IfThenElse(hn::Eq(larger, hn::Zero(PairTag())), hn::Set(PairTag(), 1.0), larger));
}

struct ScaledBlock {
  double scale;
  double largest;  // magnitude of the values
  float factor;
};

// The scale of a block, chosen or read. False if it isn't finite, or a value isn't.
HWY_INLINE bool find_scale(const std::uint8_t* x, const BlockRun& run, std::size_t block,
                           const ScaleRule& rule, AutomaticScales automatic, ScaledBlock& scaled) {
  constexpr std::int32_t kInfinity = 0x7F800000;
  const auto extremes = extremes_of(x, run.count);
  const std::int32_t bits = hn::GetLane(hn::Max(extremes, hn::Shuffle2301(extremes)));
  float largest = 0.0F;
  std::memcpy(&largest, &bits, sizeof(bits));
  scaled.largest = static_cast<double>(largest);
  if (bits >= kInfinity) return false;
  if (automatic.first == nullptr) {
    scaled.scale = block_double(run.scales, block);
    return true;
  }
  scaled.scale = rule.offset == 0.0 ? scale_of(extremes, rule.divisors)
                                    : *automatic_scale(x, run.count, rule.offset, rule.codes);
  return std::isfinite(scaled.scale);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();

#endif
