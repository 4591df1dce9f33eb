// What computes the codes of kStep values at a time. Included once per instruction set, after Highway's
// headers.
//
// Each encoder computes in float32 and tells which codes it can't answer for: those near a tie, where the
// quotient's error of less than 2^-22 of it (the reciprocal and the product are rounded) could matter. For
// that it yields a "slack" beside each code: an unsigned number, at most kDoubt where there is doubt. The
// smallest of many is enough to know that there is none.
//
// `kPlace` says where in its byte a code of 4 bits is.
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
  [[nodiscard]] HWY_INLINE CodeReach shared() const { return {block.lowest, block.highest}; }
  [[nodiscard]] HWY_INLINE double scale() const { return block.scale; }
  [[nodiscard]] HWY_INLINE double numerator() const { return 1.0; }
  [[nodiscard]] std::optional<std::uint8_t> code(float value) const {
    return static_cast<std::uint8_t>(affine_code(static_cast<double>(value), block));
  }
};

struct TableSource {
  const CodeTable* table;
  double the_scale;
  [[nodiscard]] HWY_INLINE const CodeTable& shared() const { return *table; }
  [[nodiscard]] HWY_INLINE double scale() const { return the_scale; }
  [[nodiscard]] HWY_INLINE double numerator() const {
    return table->shape == TableShape::kCells ? static_cast<double>(table->cells.per_unit) : 1.0;
  }
  [[nodiscard]] std::optional<std::uint8_t> code(float value) const {
    return table_code(static_cast<double>(value), the_scale, *table);
  }
};

// A code of 4 bits: the other half of the byte is 0, or anything; or, in kByte, the higher half is anything.
enum class CodePlace : std::uint8_t { kLowerHalf, kHigherHalf, kByte };

// One vector's codes and their slack.
struct Lanes {
  IntVec codes;
  UnsignedVec slack;
};

// Narrowing happens within 128 bits, and this puts what became of four vectors of 32 bits into their order.
HWY_INLINE ByteVec in_order(ByteVec codes) {
  if constexpr (kLanes > 4) {
    constexpr std::uint32_t kOrder[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    const auto order = hn::SetTableIndices(UnsignedTag(), kOrder);
    return hn::BitCast(ByteTag(), hn::TableLookupLanes(hn::BitCast(UnsignedTag(), codes), order));
  } else {
    return codes;
  }
}

// Narrowing saturates. The order is left to in_order().
template <typename NarrowTag>
HWY_INLINE hn::Vec<NarrowTag> narrowed(IntVec a, IntVec b, IntVec c, IntVec d) {
  const auto low = hn::ReorderDemote2To(ShortTag(), a, b);
  const auto high = hn::ReorderDemote2To(ShortTag(), c, d);
  return hn::ReorderDemote2To(NarrowTag(), low, high);
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
    return in_order(encoder.finished(narrowed<NarrowTag>(a.codes, b.codes, c.codes, d.codes)));
  }
  // A nonzero byte for each code that is in doubt.
  static HWY_INLINE ByteVec marks(const Encoder& encoder, const std::uint8_t* x) {
    const auto mark = [&encoder, x](std::size_t vector) HWY_ATTR {
      const UnsignedVec slack = encoder.lanes(load_floats(x, vector)).slack;
      return hn::BitCast(
          IntTag(), hn::VecFromMask(UnsignedTag(), hn::Le(slack, hn::Set(UnsignedTag(), Encoder::kDoubt))));
    };
    return in_order(hn::BitCast(ByteTag(), narrowed<SignedByteTag>(mark(0), mark(1), mark(2), mark(3))));
  }
};

// Integers without an offset, as whole numbers of 2^-14: one addition to 1.5 * 2^9 rounds to those. With
// quotients below 256 they are off by less than 1, and by 1/2 for their own rounding: what is 2 or more from
// a tie is on its side of it. `kLimited`: quotients are limited first, to whole numbers. Otherwise the codes
// are, after rounding: the same but for ties, which are in doubt.
//
// Narrowing limits codes of 8 bits, and those of 4 if they are in the higher half of a byte. `kBits` is 0 for
// others, which are limited in the end.
template <int kBits, bool kSigned, bool kLimited>
class AffineEncoder : public StepByLanes<AffineEncoder<kBits, kSigned, kLimited>,
                                         std::conditional_t<kSigned, SignedByteTag, ByteTag>> {
 public:
  static constexpr std::uint32_t kDoubt = 2;
  static constexpr CodePlace kPlace = kBits == 4 ? CodePlace::kHigherHalf : CodePlace::kByte;
  using CodeTag = std::conditional_t<kSigned, SignedByteTag, ByteTag>;

  static HWY_INLINE bool can_code(const AffineSource& source, double largest) {
    const AffineBlock& block = source.block;
    return block.offset == 0.0 && is_ordinary_scale(block.scale) &&
           (kLimited || largest <= 255.0 * block.scale);
  }

  // The lowest and the highest code.
  HWY_INLINE explicit AffineEncoder(CodeReach codes)
      : lowest_(hn::Set(CodeTag(), static_cast<Code>(codes.low))),
        highest_(hn::Set(CodeTag(), static_cast<Code>(codes.high))) {}

  HWY_INLINE void prepare(const AffineSource& source) {
    const AffineBlock& block = source.block;
    bias_ = ints((static_cast<std::int32_t>(block.zero_point) * kUnits) + kUnits / 2 + 1 - kFineRounderBits);
    if constexpr (kLimited) {
      low_ = floats(static_cast<float>(block.lowest - block.zero_point));
      high_ = floats(static_cast<float>(block.highest - block.zero_point));
    }
  }
  HWY_INLINE void set_factor(float factor) { reciprocal_ = floats(factor); }

  HWY_INLINE Lanes lanes(FloatVec x) const {
    FloatVec quotient = hn::Mul(x, reciprocal_);
    if constexpr (kLimited) quotient = hn::Min(hn::Max(quotient, low_), high_);
    // Half of kUnits more, so that ties are multiples of it, and 1, so that what is near one isn't below it.
    const IntVec units = hn::Add(as_bits(hn::Add(quotient, floats(kFineRounder))), bias_);
    constexpr int kLowerBits = kBits == 4 ? kUnitBits - 4 : kUnitBits;
    return {hn::ShiftRight<kLowerBits>(units), as_unsigned(hn::And(units, ints(kUnits - 1)))};
  }
  HWY_INLINE ByteVec finished(hn::Vec<CodeTag> codes) const {
    if constexpr (kBits == 0) codes = hn::Min(hn::Max(codes, lowest_), highest_);
    return hn::BitCast(ByteTag(), codes);
  }

 private:
  using Code = hn::TFromD<CodeTag>;
  static constexpr int kUnitBits = 14;
  static constexpr std::int32_t kUnits = 1 << kUnitBits;
  static constexpr float kFineRounder = 768.0F;
  static constexpr std::int32_t kFineRounderBits = 0x44400000;

  FloatVec reciprocal_ = hn::Zero(FloatTag());
  FloatVec low_ = hn::Zero(FloatTag());
  FloatVec high_ = hn::Zero(FloatTag());
  IntVec bias_ = hn::Zero(IntTag());
  hn::Vec<CodeTag> lowest_;
  hn::Vec<CodeTag> highest_;
};

HWY_INLINE ByteVec table_of(const std::array<std::uint8_t, 16>& bytes) {
  return hn::LoadDup128(ByteTag(), bytes.data());
}

HWY_INLINE ByteVec codes_of_levels(const CodeTable& table) {
  return hn::LoadDup128(ByteTag(), table.code.data());
}

// See TableCells. `kOrdered`: codes are the numbers of levels.
template <bool kOrdered>
class CellEncoder {
 public:
  static constexpr CodePlace kPlace = CodePlace::kLowerHalf;
  using Slack = ByteVec;

  // Positions have to be whole numbers below 2^22. A table may be as small as 2^-40, and has then so many
  // steps per unit that with a small scale the factor would leave float32.
  static HWY_INLINE bool can_code(const TableSource& source, double largest) {
    const double per_unit = source.table->cells.per_unit;
    return is_ordinary_scale(source.the_scale) && per_unit <= 0x1p120 * source.the_scale &&
           largest * per_unit <= 0x1p20 * source.the_scale;
  }

  HWY_INLINE explicit CellEncoder(const CodeTable& table)
      : bias_(ints(table.cells.origin - kRounderBits)),
        level_(table_of(table.cells.level)),
        first_low_(table_of(table.cells.thresholds[0])),
        first_high_(table_of(table.cells.thresholds[1])),
        second_low_(table_of(table.cells.thresholds[2])),
        second_high_(table_of(table.cells.thresholds[3])),
        codes_(codes_of_levels(table)) {}

  HWY_INLINE void prepare(const TableSource& /*source*/) {}
  HWY_INLINE void set_factor(float factor) { factor_ = floats(factor); }

  static HWY_INLINE Slack no_doubt() { return hn::Set(ByteTag(), std::uint8_t{0xFF}); }
  static HWY_INLINE bool is_doubtful(Slack slack) {
    return !hn::AllFalse(ByteTag(), hn::Le(slack, hn::Set(ByteTag(), kDoubt)));
  }
  static HWY_INLINE ByteVec codes(const CellEncoder& encoder, const std::uint8_t* x, Slack& slack) {
    const Above above = encoder.above(x);
    slack = hn::Min(slack, above.slack());
    const ByteVec level = hn::Sub(hn::TableLookupBytes(encoder.level_, above.cell), above.minus_passed());
    return in_order(kOrdered ? level : hn::TableLookupBytes(encoder.codes_, level));
  }
  static HWY_INLINE ByteVec marks(const CellEncoder& encoder, const std::uint8_t* x) {
    const auto doubt = hn::Le(encoder.above(x).slack(), hn::Set(ByteTag(), kDoubt));
    return in_order(hn::VecFromMask(ByteTag(), doubt));
  }

 private:
  static constexpr std::uint8_t kDoubt = 2 * TableCells::kNear;

  // Positions above the cell's two thresholds minus kNear, limited to 8 bits.
  struct Above {
    ByteVec cell;
    hn::Vec<SignedByteTag> first;
    hn::Vec<SignedByteTag> second;
    HWY_INLINE Slack slack() const {
      return hn::Min(hn::BitCast(ByteTag(), first), hn::BitCast(ByteTag(), second));
    }
    // Minus the number of thresholds below the position. 0 is in doubt, and compared with 0 for this reason:
    // a test of the sign alone would become a shift, which bytes have none of on most machines.
    HWY_INLINE ByteVec minus_passed() const {
      const auto is_above = [](hn::Vec<SignedByteTag> value) HWY_ATTR {
        const auto zero = hn::Zero(SignedByteTag());
        return hn::BitCast(ByteTag(), hn::VecFromMask(SignedByteTag(), hn::Gt(value, zero)));
      };
      return hn::Add(is_above(first), is_above(second));
    }
  };

  HWY_INLINE IntVec position(FloatVec x) const {
    return hn::Add(as_bits(hn::Add(hn::Mul(x, factor_), floats(kRounder))), bias_);
  }
  HWY_INLINE Above above(const std::uint8_t* x) const {
    const UnsignedShortVec low =
        hn::ReorderDemote2To(UnsignedShortTag(), position(load_floats(x, 0)), position(load_floats(x, 1)));
    const UnsignedShortVec high =
        hn::ReorderDemote2To(UnsignedShortTag(), position(load_floats(x, 2)), position(load_floats(x, 3)));
    const ByteVec cell = hn::ReorderDemote2To(ByteTag(), cell_of(low), cell_of(high));
    const auto above_threshold = [&cell, &low, &high](ByteVec low_bytes, ByteVec high_bytes) HWY_ATTR {
      const ByteVec a = hn::TableLookupBytes(low_bytes, cell);
      const ByteVec b = hn::TableLookupBytes(high_bytes, cell);
      const auto of_low = hn::BitCast(UnsignedShortTag(), hn::InterleaveLower(ByteTag(), a, b));
      const auto of_high = hn::BitCast(UnsignedShortTag(), hn::InterleaveUpper(ByteTag(), a, b));
      return hn::ReorderDemote2To(SignedByteTag(), hn::BitCast(ShortTag(), hn::Sub(low, of_low)),
                                  hn::BitCast(ShortTag(), hn::Sub(high, of_high)));
    };
    return {cell, above_threshold(first_low_, first_high_), above_threshold(second_low_, second_high_)};
  }
  static HWY_INLINE ShortVec cell_of(UnsignedShortVec position) {
    return hn::BitCast(ShortTag(), hn::ShiftRight<TableCells::kCellBits>(position));
  }

  FloatVec factor_ = hn::Zero(FloatTag());
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
  return is_ordinary_scale(source.the_scale) && largest <= 0.5 * source.table->farthest * source.the_scale;
}

// Up to 16 levels wherever they are: counts thresholds below the quotient plus a guard, and minus it.
class FewEncoder : public StepByLanes<FewEncoder, ByteTag> {
 public:
  static constexpr CodePlace kPlace = CodePlace::kLowerHalf;
  static constexpr std::uint32_t kDoubt = 0;
  static HWY_INLINE bool can_code(const TableSource& source, double largest) {
    return can_code_quotients(source, largest);
  }

  HWY_INLINE explicit FewEncoder(const CodeTable& table)
      : guard_(floats(static_cast<float>(table.largest * 0x1p-18))),
        codes_(codes_of_levels(table)),
        count_(table.levels - 1) {
    for (std::size_t i = 0; i < count_; ++i) thresholds_[i] = static_cast<float>(table.midpoint[i]);
  }

  HWY_INLINE void prepare(const TableSource& /*source*/) {}
  HWY_INLINE void set_factor(float factor) { reciprocal_ = floats(factor); }

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
  FloatVec reciprocal_ = hn::Zero(FloatTag());
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
  static constexpr CodePlace kPlace = CodePlace::kByte;
  static constexpr std::uint32_t kDoubt = 0;
  static HWY_INLINE bool can_code(const TableSource& source, double largest) {
    return can_code_quotients(source, largest);
  }

  HWY_INLINE explicit SmallFloatEncoder(const CodeTable& /*table*/) {}

  HWY_INLINE void prepare(const TableSource& /*source*/) {}
  HWY_INLINE void set_factor(float factor) { reciprocal_ = floats(factor); }

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
  FloatVec reciprocal_ = hn::Zero(FloatTag());
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();

#endif
