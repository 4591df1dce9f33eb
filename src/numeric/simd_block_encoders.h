// What computes the codes of kStep values at a time. Included once per instruction set, after Highway's
// headers.
//
// Each encoder computes in float32 and tells which codes it can't answer for: those near a tie, where the
// quotient's error of less than 2^-22 of it (the reciprocal and the product are rounded) could matter. For
// that it yields a "slack" beside each code: an unsigned number, at most kDoubt where there is doubt. The
// smallest of many is enough to know that there is none.
//
// An encoder is used where can_code() says so of the block's largest magnitude; values are finite.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "numeric/block_codes.h"

#if defined(HALFTONE_SIMD_BLOCK_ENCODERS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HALFTONE_SIMD_BLOCK_ENCODERS_H
#undef HALFTONE_SIMD_BLOCK_ENCODERS_H
#else
#define HALFTONE_SIMD_BLOCK_ENCODERS_H
#endif

HWY_BEFORE_NAMESPACE();
namespace halftone::numeric {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// At most 32 bytes: blocks are often of 64 codes, which have to be a whole number of steps to be fast.
template <typename T>
using Tag = hn::CappedTag<T, 32 / sizeof(T)>;

using FloatTag = Tag<float>;
using IntTag = Tag<std::int32_t>;
using UnsignedTag = Tag<std::uint32_t>;
using ShortTag = Tag<std::int16_t>;
using UnsignedShortTag = Tag<std::uint16_t>;
using ByteTag = Tag<std::uint8_t>;
using SignedByteTag = Tag<std::int8_t>;
using FloatVec = hn::Vec<FloatTag>;
using IntVec = hn::Vec<IntTag>;
using UnsignedVec = hn::Vec<UnsignedTag>;
using ShortVec = hn::Vec<ShortTag>;
using UnsignedShortVec = hn::Vec<UnsignedShortTag>;
using ByteVec = hn::Vec<ByteTag>;

inline constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
inline constexpr std::size_t kStep = 4 * kLanes;  // codes that fill one vector of bytes
inline constexpr float kRounder =
    12582912.0F;  // 1.5 * 2^23: added to less than 2^22, it rounds to whole numbers
inline constexpr std::int32_t kRounderBits = 0x4B400000;

HWY_INLINE FloatVec floats(float value) { return hn::Set(FloatTag(), value); }
HWY_INLINE IntVec ints(std::int32_t value) { return hn::Set(IntTag(), value); }
HWY_INLINE IntVec as_bits(FloatVec value) { return hn::BitCast(IntTag(), value); }
HWY_INLINE FloatVec as_floats(IntVec bits) { return hn::BitCast(FloatTag(), bits); }
HWY_INLINE UnsignedVec as_unsigned(IntVec value) { return hn::BitCast(UnsignedTag(), value); }

HWY_INLINE FloatVec load_floats(const std::uint8_t* from, std::size_t vector) {
  return hn::LoadU(FloatTag(), reinterpret_cast<const float*>(from) + vector * kLanes);
}

// Whether a reciprocal, and products of it with floats, are accurate: away from denormals and infinity.
HWY_INLINE bool is_ordinary_scale(double scale) { return scale >= 0x1p-100 && scale <= 0x1p100; }

// What an encoder is made from, and what answers for a value that it can't.
struct AffineSource {
  AffineBlock block;
  [[nodiscard]] std::optional<std::uint8_t> code(float value) const {
    return static_cast<std::uint8_t>(affine_code(static_cast<double>(value), block));
  }
};

struct TableSource {
  const CodeTable* table;
  double scale;
  [[nodiscard]] std::optional<std::uint8_t> code(float value) const {
    return table_code(static_cast<double>(value), scale, *table);
  }
};

// One vector's codes and their slack.
struct Lanes {
  IntVec codes;
  UnsignedVec slack;
};

// Narrowing saturates.
template <typename NarrowTag>
HWY_INLINE hn::Vec<NarrowTag> narrowed(IntVec a, IntVec b, IntVec c, IntVec d) {
  const auto low = hn::OrderedDemote2To(ShortTag(), a, b);
  const auto high = hn::OrderedDemote2To(ShortTag(), c, d);
  return hn::OrderedDemote2To(NarrowTag(), low, high);
}

// The part of an encoder that works on lanes: four of them make a step.
template <typename Encoder, typename NarrowTag>
struct StepByLanes {
  using Slack = UnsignedVec;

  static HWY_INLINE Slack no_doubt() { return hn::Set(UnsignedTag(), 0xFFFFFFFFU); }
  static HWY_INLINE bool is_doubtful(Slack slack) {
    return !hn::AllFalse(UnsignedTag(), hn::Le(slack, hn::Set(UnsignedTag(), Encoder::kDoubt)));
  }
  static HWY_INLINE ByteVec codes(const Encoder& encoder, const std::uint8_t* x, Slack& slack) {
    const Lanes a = encoder.lanes(load_floats(x, 0));
    const Lanes b = encoder.lanes(load_floats(x, 1));
    const Lanes c = encoder.lanes(load_floats(x, 2));
    const Lanes d = encoder.lanes(load_floats(x, 3));
    slack = hn::Min(slack, hn::Min(hn::Min(a.slack, b.slack), hn::Min(c.slack, d.slack)));
    return encoder.finished(narrowed<NarrowTag>(a.codes, b.codes, c.codes, d.codes));
  }
  // A nonzero byte for each code that is in doubt.
  static HWY_INLINE ByteVec marks(const Encoder& encoder, const std::uint8_t* x) {
    const auto mark = [&encoder, x](std::size_t vector) HWY_ATTR {
      const UnsignedVec slack = encoder.lanes(load_floats(x, vector)).slack;
      return hn::BitCast(
          IntTag(), hn::VecFromMask(UnsignedTag(), hn::Le(slack, hn::Set(UnsignedTag(), Encoder::kDoubt))));
    };
    return hn::BitCast(ByteTag(), narrowed<SignedByteTag>(mark(0), mark(1), mark(2), mark(3)));
  }
};

// Integers without an offset, as whole numbers of 2^-14: one addition to 1.5 * 2^9 rounds to those. With
// quotients below 256 they are off by less than 1, and by 1/2 for their own rounding. `kLimited`: quotients
// are limited first, to whole numbers. Otherwise the codes are, after rounding: the same but for ties, which
// are in doubt.
template <bool kSigned, bool kLimited>
class AffineEncoder : public StepByLanes<AffineEncoder<kSigned, kLimited>,
                                         std::conditional_t<kSigned, SignedByteTag, ByteTag>> {
 public:
  static constexpr std::uint32_t kDoubt = 4;
  using CodeTag = std::conditional_t<kSigned, SignedByteTag, ByteTag>;

  static HWY_INLINE bool can_code(const AffineSource& source, double largest) {
    const AffineBlock& block = source.block;
    return block.offset == 0.0 && is_ordinary_scale(block.scale) &&
           (kLimited || largest <= 255.0 * block.scale);
  }

  HWY_INLINE explicit AffineEncoder(const AffineSource& source)
      : reciprocal_(floats(static_cast<float>(1.0 / source.block.scale))),
        low_(floats(static_cast<float>(source.block.lowest - source.block.zero_point))),
        high_(floats(static_cast<float>(source.block.highest - source.block.zero_point))),
        bias_(ints((static_cast<std::int32_t>(source.block.zero_point) * kUnits) + kUnits / 2 + 2 -
                   kFineRounderBits)),
        lowest_(hn::Set(CodeTag(), static_cast<Code>(source.block.lowest))),
        highest_(hn::Set(CodeTag(), static_cast<Code>(source.block.highest))) {}

  HWY_INLINE Lanes lanes(FloatVec x) const {
    FloatVec quotient = hn::Mul(x, reciprocal_);
    if constexpr (kLimited) quotient = hn::Min(hn::Max(quotient, low_), high_);
    // Half a unit more, so that ties are multiples of kUnits, and 2, so that what is near one is just above
    // it.
    const IntVec units = hn::Add(as_bits(hn::Add(quotient, floats(kFineRounder))), bias_);
    return {hn::ShiftRight<kUnitBits>(units), as_unsigned(hn::And(units, ints(kUnits - 1)))};
  }
  HWY_INLINE ByteVec finished(hn::Vec<CodeTag> codes) const {
    return hn::BitCast(ByteTag(), hn::Min(hn::Max(codes, lowest_), highest_));
  }

 private:
  using Code = hn::TFromD<CodeTag>;
  static constexpr int kUnitBits = 14;
  static constexpr std::int32_t kUnits = 1 << kUnitBits;
  static constexpr float kFineRounder = 768.0F;
  static constexpr std::int32_t kFineRounderBits = 0x44400000;

  FloatVec reciprocal_;
  FloatVec low_;
  FloatVec high_;
  IntVec bias_;
  hn::Vec<CodeTag> lowest_;
  hn::Vec<CodeTag> highest_;
};

HWY_INLINE ByteVec table_of(const std::array<std::uint8_t, 16>& bytes) {
  return hn::LoadDup128(ByteTag(), bytes.data());
}

HWY_INLINE ByteVec codes_of_levels(const CodeTable& table) {
  return hn::LoadDup128(ByteTag(), table.code.data());
}

// See TableCells.
class CellEncoder {
 public:
  using Slack = UnsignedShortVec;

  // Positions have to be whole numbers below 2^22.
  static HWY_INLINE bool can_code(const TableSource& source, double largest) {
    const double per_unit = source.table->cells.per_unit;
    return is_ordinary_scale(source.scale) && largest * per_unit <= 0x1p20 * source.scale;
  }

  HWY_INLINE explicit CellEncoder(const TableSource& source) : CellEncoder(*source.table, source.scale) {}
  HWY_INLINE CellEncoder(const CodeTable& table, double scale)
      : factor_(floats(static_cast<float>(static_cast<double>(table.cells.per_unit) / scale))),
        bias_(ints(table.cells.origin - kRounderBits)),
        level_(table_of(table.cells.level)),
        first_low_(table_of(table.cells.thresholds[0])),
        first_high_(table_of(table.cells.thresholds[1])),
        second_low_(table_of(table.cells.thresholds[2])),
        second_high_(table_of(table.cells.thresholds[3])),
        codes_(codes_of_levels(table)) {}

  static HWY_INLINE Slack no_doubt() { return hn::Set(UnsignedShortTag(), std::uint16_t{0xFFFF}); }
  static HWY_INLINE bool is_doubtful(Slack slack) {
    return !hn::AllFalse(UnsignedShortTag(), hn::Le(slack, hn::Set(UnsignedShortTag(), kDoubt)));
  }
  static HWY_INLINE ByteVec codes(const CellEncoder& encoder, const std::uint8_t* x, Slack& slack) {
    const Positions got = encoder.positions(x);
    slack = hn::Min(slack, hn::Min(got.low.slack(), got.high.slack()));
    const ByteVec passed = hn::BitCast(
        ByteTag(), hn::OrderedDemote2To(SignedByteTag(), got.low.not_passed(), got.high.not_passed()));
    const ByteVec level = hn::Add(hn::TableLookupBytes(encoder.level_, got.cell), passed);
    return hn::TableLookupBytes(encoder.codes_, level);
  }
  static HWY_INLINE ByteVec marks(const CellEncoder& encoder, const std::uint8_t* x) {
    const Positions got = encoder.positions(x);
    const auto mark = [](Slack slack) HWY_ATTR {
      const auto doubt = hn::Le(slack, hn::Set(UnsignedShortTag(), kDoubt));
      return hn::BitCast(ShortTag(), hn::VecFromMask(UnsignedShortTag(), doubt));
    };
    return hn::BitCast(ByteTag(),
                       hn::OrderedDemote2To(SignedByteTag(), mark(got.low.slack()), mark(got.high.slack())));
  }

 private:
  static constexpr std::uint16_t kDoubt = 2 * TableCells::kNear;

  // Positions above the cell's two thresholds minus kNear, modulo 2^16.
  struct Above {
    ShortVec first;
    ShortVec second;
    HWY_INLINE Slack slack() const {
      return hn::Min(hn::BitCast(UnsignedShortTag(), first), hn::BitCast(UnsignedShortTag(), second));
    }
    // Minus the number of thresholds above the position.
    HWY_INLINE ShortVec not_passed() const {
      return hn::Add(hn::ShiftRight<15>(first), hn::ShiftRight<15>(second));
    }
  };
  struct Positions {
    ByteVec cell;
    Above low;
    Above high;
  };

  HWY_INLINE IntVec position(FloatVec x) const {
    return hn::Add(as_bits(hn::Add(hn::Mul(x, factor_), floats(kRounder))), bias_);
  }
  HWY_INLINE Positions positions(const std::uint8_t* x) const {
    const ShortVec low =
        hn::OrderedDemote2To(ShortTag(), position(load_floats(x, 0)), position(load_floats(x, 1)));
    const ShortVec high =
        hn::OrderedDemote2To(ShortTag(), position(load_floats(x, 2)), position(load_floats(x, 3)));
    const auto cell = hn::OrderedDemote2To(SignedByteTag(), hn::ShiftRight<TableCells::kCellBits>(low),
                                           hn::ShiftRight<TableCells::kCellBits>(high));
    const ByteVec index = hn::And(hn::BitCast(ByteTag(), cell), hn::Set(ByteTag(), std::uint8_t{15}));
    const ByteVec first_low = hn::TableLookupBytes(first_low_, index);
    const ByteVec first_high = hn::TableLookupBytes(first_high_, index);
    const ByteVec second_low = hn::TableLookupBytes(second_low_, index);
    const ByteVec second_high = hn::TableLookupBytes(second_high_, index);
    return {index,
            {hn::Sub(low, lower(first_low, first_high)), hn::Sub(low, lower(second_low, second_high))},
            {hn::Sub(high, upper(first_low, first_high)), hn::Sub(high, upper(second_low, second_high))}};
  }
  static HWY_INLINE ShortVec lower(ByteVec low, ByteVec high) {
    return hn::BitCast(ShortTag(), hn::InterleaveWholeLower(ByteTag(), low, high));
  }
  static HWY_INLINE ShortVec upper(ByteVec low, ByteVec high) {
    return hn::BitCast(ShortTag(), hn::InterleaveWholeUpper(ByteTag(), low, high));
  }

  FloatVec factor_;
  IntVec bias_;
  ByteVec level_;
  ByteVec first_low_;
  ByteVec first_high_;
  ByteVec second_low_;
  ByteVec second_high_;
  ByteVec codes_;
};

HWY_INLINE bool can_code_quotients(const TableSource& source, double largest) {
  // A little less than what the definition's fast path allows.
  return is_ordinary_scale(source.scale) && largest <= 0.5 * source.table->farthest * source.scale;
}

// Up to 16 levels wherever they are: counts thresholds below the quotient plus a guard, and minus it.
class FewEncoder : public StepByLanes<FewEncoder, ByteTag> {
 public:
  static constexpr std::uint32_t kDoubt = 0;
  static HWY_INLINE bool can_code(const TableSource& source, double largest) {
    return can_code_quotients(source, largest);
  }

  HWY_INLINE explicit FewEncoder(const TableSource& source) : FewEncoder(*source.table, source.scale) {}
  HWY_INLINE FewEncoder(const CodeTable& table, double scale)
      : reciprocal_(floats(static_cast<float>(1.0 / scale))),
        guard_(floats(static_cast<float>(table.largest * 0x1p-18))),
        codes_(codes_of_levels(table)),
        count_(table.levels - 1) {
    for (std::size_t i = 0; i < count_; ++i) thresholds_[i] = static_cast<float>(table.midpoint[i]);
  }

  HWY_INLINE Lanes lanes(FloatVec x) const {
    const FloatVec quotient = hn::Mul(x, reciprocal_);
    const FloatVec above = hn::Add(quotient, guard_);
    const FloatVec below = hn::Sub(quotient, guard_);
    IntVec most = hn::Zero(IntTag());  // negative counts
    IntVec least = hn::Zero(IntTag());
    for (std::size_t i = 0; i < count_; ++i) {
      const FloatVec threshold = floats(thresholds_[i]);
      most = hn::Add(most, as_bits(hn::VecFromMask(FloatTag(), hn::Gt(above, threshold))));
      least = hn::Add(least, as_bits(hn::VecFromMask(FloatTag(), hn::Gt(below, threshold))));
    }
    return {hn::Neg(most), as_unsigned(hn::VecFromMask(IntTag(), hn::Eq(most, least)))};
  }
  HWY_INLINE ByteVec finished(ByteVec levels) const { return hn::TableLookupBytes(codes_, levels); }

 private:
  FloatVec reciprocal_;
  FloatVec guard_;
  ByteVec codes_;
  std::size_t count_;
  float thresholds_[15] = {};
};

struct E4M3 {
  static constexpr int kMantissaBits = 3;
  static constexpr float kLargest = 448.0F;
  static constexpr std::int32_t kSmallestNormal = (127 - 6) << 23;
  static constexpr std::int32_t kNegative = 127;  // from a magnitude's entry to its negative's
};

struct E3M2 {
  static constexpr int kMantissaBits = 2;
  static constexpr float kLargest = 28.0F;
  static constexpr std::int32_t kSmallestNormal = (127 - 2) << 23;
  static constexpr std::int32_t kNegative = 32;
};

// Entries are the codes of a small float: rounds magnitudes as simd_small_floats.cc does.
template <typename F>
class SmallFloatEncoder : public StepByLanes<SmallFloatEncoder<F>, ByteTag> {
 public:
  static constexpr std::uint32_t kDoubt = 0;
  static HWY_INLINE bool can_code(const TableSource& source, double largest) {
    return can_code_quotients(source, largest);
  }

  HWY_INLINE explicit SmallFloatEncoder(const TableSource& source)
      : reciprocal_(floats(static_cast<float>(1.0 / source.scale))) {}

  HWY_INLINE Lanes lanes(FloatVec x) const {
    constexpr int kDropped = 23 - F::kMantissaBits;
    const FloatVec magnitude = hn::Min(hn::Abs(hn::Mul(x, reciprocal_)), floats(F::kLargest));
    const IntVec exponent = hn::And(hn::Max(as_bits(magnitude), ints(F::kSmallestNormal)), ints(0x7F800000));
    const FloatVec rounder = as_floats(hn::Add(exponent, ints((kDropped << 23) | 0x400000)));
    const FloatVec sum = hn::Add(magnitude, rounder);
    const FloatVec rest = hn::Abs(hn::Sub(magnitude, hn::Sub(sum, rounder)));
    // Half a step is 2^(e - mantissa bits - 1), and the quotient is off by less than 2^(e - 21).
    constexpr float kClear = (0.5F - 0x1p-14F) / static_cast<float>(1 << F::kMantissaBits);
    const auto clear = hn::Le(rest, hn::Mul(as_floats(exponent), floats(kClear)));
    const IntVec steps = hn::Sub(as_bits(sum), as_bits(rounder));
    const IntVec code = hn::Add(steps, hn::ShiftRight<kDropped>(hn::Sub(exponent, ints(F::kSmallestNormal))));
    // What rounds to 0 has the entry of +0.
    const IntVec negative =
        hn::And(hn::ShiftRight<31>(as_bits(x)), hn::VecFromMask(IntTag(), hn::Gt(code, hn::Zero(IntTag()))));
    return {hn::Add(code, hn::And(negative, ints(F::kNegative))),
            as_unsigned(as_bits(hn::VecFromMask(FloatTag(), clear)))};
  }
  HWY_INLINE ByteVec finished(ByteVec codes) const { return codes; }

 private:
  FloatVec reciprocal_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();

#endif
