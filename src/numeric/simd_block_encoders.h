// What computes the codes of kStep values at a time. Included once per instruction set, after Highway's
// headers.
//
// Each encoder computes in float32 and says which codes it can't answer for: those near a tie, where the
// quotient's error of less than 2^-22 of it (the reciprocal and the product are rounded) could matter.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "numeric/block_codes.h"
#include "numeric/kernel_set.h"

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

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::ScalableTag<std::int32_t>;
using ShortTag = hn::ScalableTag<std::int16_t>;
using ByteTag = hn::ScalableTag<std::uint8_t>;
using SignedByteTag = hn::ScalableTag<std::int8_t>;
using FloatVec = hn::Vec<FloatTag>;
using IntVec = hn::Vec<IntTag>;
using ShortVec = hn::Vec<ShortTag>;
using ByteVec = hn::Vec<ByteTag>;
using FloatMask = hn::Mask<FloatTag>;

constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
constexpr std::size_t kStep = 4 * kLanes;  // codes that fill one vector of bytes
constexpr float kRounder = 12582912.0F;    // 1.5 * 2^23: added to less than 2^22, it rounds to whole numbers
constexpr std::int32_t kRounderBits = 0x4B400000;
constexpr std::int32_t kMagnitudeBits = 0x7FFFFFFF;

HWY_INLINE FloatVec floats(float value) { return hn::Set(FloatTag(), value); }
HWY_INLINE IntVec ints(std::int32_t value) { return hn::Set(IntTag(), value); }
HWY_INLINE IntVec as_bits(FloatVec value) { return hn::BitCast(IntTag(), value); }
HWY_INLINE FloatVec as_floats(IntVec bits) { return hn::BitCast(FloatTag(), bits); }

HWY_INLINE FloatVec load_floats(const std::uint8_t* from, std::size_t vector) {
  return hn::LoadU(FloatTag(), reinterpret_cast<const float*>(from) + vector * kLanes);
}

// Whether a reciprocal, and products of it with floats, are accurate: away from denormals and infinity.
HWY_INLINE bool is_ordinary_scale(double scale) { return scale >= 0x1p-100 && scale <= 0x1p100; }

// What an encoder is made from, and what answers for a value that it can't.
struct AffineSource {
  AffineBlock block;
  [[nodiscard]] bool is_ordinary() const { return block.offset == 0.0 && is_ordinary_scale(block.scale); }
  [[nodiscard]] std::optional<std::uint8_t> code(float value) const {
    return static_cast<std::uint8_t>(affine_code(static_cast<double>(value), block));
  }
};

struct TableSource {
  const CodeTable* table;
  double scale;
  [[nodiscard]] bool is_ordinary() const { return is_ordinary_scale(scale); }
  [[nodiscard]] std::optional<std::uint8_t> code(float value) const {
    return table_code(static_cast<double>(value), scale, *table);
  }
};

HWY_INLINE ByteVec bytes_of(IntVec a, IntVec b, IntVec c, IntVec d) {
  const auto low = hn::OrderedDemote2To(ShortTag(), a, b);
  const auto high = hn::OrderedDemote2To(ShortTag(), c, d);
  return hn::OrderedDemote2To(ByteTag(), low, high);
}

HWY_INLINE ByteVec signed_bytes_of(IntVec a, IntVec b, IntVec c, IntVec d) {
  const auto low = hn::OrderedDemote2To(ShortTag(), a, b);
  const auto high = hn::OrderedDemote2To(ShortTag(), c, d);
  return hn::BitCast(ByteTag(), hn::OrderedDemote2To(SignedByteTag(), low, high));
}

// One vector's codes, and which of them are in doubt.
struct Lanes {
  IntVec codes;
  FloatMask doubt;
};

HWY_INLINE IntVec mask_bits(FloatMask mask) { return as_bits(hn::VecFromMask(FloatTag(), mask)); }

// A step of an encoder that works on lanes. Returns whether there is doubt; `marks`, if wanted, gets a
// nonzero byte for each code that is in doubt.
template <bool kSigned, typename Encoder>
HWY_INLINE bool step_by_lanes(const Encoder& encoder, const std::uint8_t* x, std::uint8_t* codes,
                              std::uint8_t* marks) {
  const Lanes a = encoder.lanes(load_floats(x, 0));
  const Lanes b = encoder.lanes(load_floats(x, 1));
  const Lanes c = encoder.lanes(load_floats(x, 2));
  const Lanes d = encoder.lanes(load_floats(x, 3));
  ByteVec bytes;
  if constexpr (kSigned) {
    bytes = signed_bytes_of(a.codes, b.codes, c.codes, d.codes);
  } else {
    bytes = encoder.finished(bytes_of(a.codes, b.codes, c.codes, d.codes));
  }
  hn::StoreU(bytes, ByteTag(), codes);
  if (marks != nullptr) {
    const ByteVec doubt =
        signed_bytes_of(mask_bits(a.doubt), mask_bits(b.doubt), mask_bits(c.doubt), mask_bits(d.doubt));
    hn::StoreU(doubt, ByteTag(), marks);
  }
  const FloatMask any = hn::Or(hn::Or(a.doubt, b.doubt), hn::Or(c.doubt, d.doubt));
  return HWY_UNLIKELY(!hn::AllFalse(FloatTag(), any));
}

// Integers without an offset. The quotient is limited before the zero point is added: whole numbers, all of
// them, so that changes nothing but where ties go, and those are in doubt.
template <bool kSigned>
class AffineEncoder {
 public:
  HWY_INLINE explicit AffineEncoder(const AffineSource& source)
      : reciprocal_(floats(static_cast<float>(1.0 / source.block.scale))),
        low_(floats(static_cast<float>(source.block.lowest - source.block.zero_point))),
        high_(floats(static_cast<float>(source.block.highest - source.block.zero_point))),
        bias_(ints(kRounderBits - static_cast<std::int32_t>(source.block.zero_point))) {}

  HWY_INLINE Lanes lanes(FloatVec x) const {
    const FloatVec rounder = floats(kRounder);
    const FloatVec limited = hn::Min(hn::Max(hn::Mul(x, reciprocal_), low_), high_);
    const FloatVec sum = hn::Add(limited, rounder);
    const FloatVec rest = hn::Abs(hn::Sub(limited, hn::Sub(sum, rounder)));
    // Quotients up to 256 are off by less than 2^-15.
    return {hn::Sub(as_bits(sum), bias_), hn::Gt(rest, floats(0.5F - 0x1p-14F))};
  }
  HWY_INLINE ByteVec finished(ByteVec codes) const { return codes; }
  HWY_INLINE bool step(const std::uint8_t* x, std::uint8_t* codes, std::uint8_t* marks) const {
    return step_by_lanes<kSigned>(*this, x, codes, marks);
  }

 private:
  FloatVec reciprocal_;
  FloatVec low_;
  FloatVec high_;
  IntVec bias_;
};

// The largest magnitude that a table's fast path answers for, as the bits of a float32.
HWY_INLINE std::int32_t farthest_bits(const CodeTable& table, double scale) {
  const double farthest = table.farthest * scale * (1.0 - 0x1p-20);
  if (farthest >= static_cast<double>(std::numeric_limits<float>::max())) return kInfinityBits - 1;
  std::int32_t bits = 0;
  const auto rounded = static_cast<float>(farthest);
  std::memcpy(&bits, &rounded, sizeof(bits));
  return bits;
}

HWY_INLINE FloatMask is_too_far(FloatVec x, IntVec farthest) {
  return hn::RebindMask(FloatTag(), hn::Gt(hn::And(as_bits(x), ints(kMagnitudeBits)), farthest));
}

HWY_INLINE ByteVec table_of(const std::array<std::uint8_t, 16>& bytes) {
  return hn::LoadDup128(ByteTag(), bytes.data());
}

HWY_INLINE ByteVec codes_of_levels(const CodeTable& table) {
  return hn::LoadDup128(ByteTag(), table.code.data());
}

// See TableCells.
class CellEncoder {
 public:
  HWY_INLINE explicit CellEncoder(const TableSource& source) : CellEncoder(*source.table, source.scale) {}
  HWY_INLINE CellEncoder(const CodeTable& table, double scale)
      : factor_(floats(static_cast<float>(static_cast<double>(table.cells.per_unit) / scale))),
        low_(floats(static_cast<float>(-table.cells.origin))),
        high_(floats(static_cast<float>(TableCells::kLastStep - kClear - table.cells.origin))),
        rounder_(floats(kRounder + static_cast<float>(table.cells.origin))),
        farthest_(ints(farthest_bits(table, scale))),
        base_(table_of(table.cells.base)),
        first_low_(table_of(table.cells.thresholds[0])),
        first_high_(table_of(table.cells.thresholds[1])),
        second_low_(table_of(table.cells.thresholds[2])),
        second_high_(table_of(table.cells.thresholds[3])),
        codes_(codes_of_levels(table)) {}

  HWY_INLINE bool step(const std::uint8_t* x, std::uint8_t* codes, std::uint8_t* marks) const {
    const FloatVec a = load_floats(x, 0);
    const FloatVec b = load_floats(x, 1);
    const FloatVec c = load_floats(x, 2);
    const FloatVec d = load_floats(x, 3);
    const ShortVec low = hn::OrderedDemote2To(ShortTag(), position(a), position(b));
    const ShortVec high = hn::OrderedDemote2To(ShortTag(), position(c), position(d));
    const ByteVec cell = hn::OrderedDemote2To(ByteTag(), hn::ShiftRight<TableCells::kCellBits>(low),
                                              hn::ShiftRight<TableCells::kCellBits>(high));
    const Thresholds first(hn::TableLookupBytes(first_low_, cell), hn::TableLookupBytes(first_high_, cell));
    const Thresholds second(hn::TableLookupBytes(second_low_, cell),
                            hn::TableLookupBytes(second_high_, cell));
    const ByteVec below =
        hn::BitCast(ByteTag(), hn::OrderedDemote2To(SignedByteTag(), passed(low, first.low, second.low),
                                                    passed(high, first.high, second.high)));
    const ByteVec level = hn::Sub(hn::TableLookupBytes(base_, cell), below);
    hn::StoreU(hn::TableLookupBytes(codes_, level), ByteTag(), codes);
    const ShortVec near_low = nearness(low, first.low, second.low);
    const ShortVec near_high = nearness(high, first.high, second.high);
    const ShortVec near = hn::Set(ShortTag(), TableCells::kNear);
    const IntVec magnitude =
        hn::Max(hn::Max(magnitude_of(a), magnitude_of(b)), hn::Max(magnitude_of(c), magnitude_of(d)));
    if (marks != nullptr) {
      const auto doubt = hn::OrderedDemote2To(SignedByteTag(), short_bits(hn::Le(near_low, near)),
                                              short_bits(hn::Le(near_high, near)));
      const ByteVec far = signed_bytes_of(too_far(a), too_far(b), too_far(c), too_far(d));
      hn::StoreU(hn::Or(hn::BitCast(ByteTag(), doubt), far), ByteTag(), marks);
    }
    const ShortVec doubt = short_bits(hn::Le(hn::Min(near_low, near_high), near));
    const IntVec far = hn::VecFromMask(IntTag(), hn::Gt(magnitude, farthest_));
    const IntVec any = hn::Or(hn::BitCast(IntTag(), doubt), far);
    return HWY_UNLIKELY(!hn::AllTrue(IntTag(), hn::Eq(any, hn::Zero(IntTag()))));
  }

 private:
  // From the last level to what stands for "no threshold" in the last cell.
  static constexpr std::int32_t kClear = 512;

  struct Thresholds {
    HWY_INLINE Thresholds(ByteVec low_bytes, ByteVec high_bytes)
        : low(hn::BitCast(ShortTag(), hn::InterleaveWholeLower(ByteTag(), low_bytes, high_bytes))),
          high(hn::BitCast(ShortTag(), hn::InterleaveWholeUpper(ByteTag(), low_bytes, high_bytes))) {}
    ShortVec low;
    ShortVec high;
  };

  static HWY_INLINE ShortVec short_bits(hn::Mask<ShortTag> mask) { return hn::VecFromMask(ShortTag(), mask); }
  // Minus the number of thresholds below.
  static HWY_INLINE ShortVec passed(ShortVec position, ShortVec first, ShortVec second) {
    return hn::Add(short_bits(hn::Gt(position, first)), short_bits(hn::Gt(position, second)));
  }
  static HWY_INLINE ShortVec nearness(ShortVec position, ShortVec first, ShortVec second) {
    return hn::Min(hn::Abs(hn::Sub(position, first)), hn::Abs(hn::Sub(position, second)));
  }
  static HWY_INLINE IntVec magnitude_of(FloatVec x) { return hn::And(as_bits(x), ints(kMagnitudeBits)); }
  HWY_INLINE IntVec too_far(FloatVec x) const { return mask_bits(is_too_far(x, farthest_)); }
  HWY_INLINE IntVec position(FloatVec x) const {
    const FloatVec limited = hn::Min(hn::Max(hn::Mul(x, factor_), low_), high_);
    return hn::Sub(as_bits(hn::Add(limited, rounder_)), ints(kRounderBits));
  }

  FloatVec factor_;
  FloatVec low_;
  FloatVec high_;
  FloatVec rounder_;
  IntVec farthest_;
  ByteVec base_;
  ByteVec first_low_;
  ByteVec first_high_;
  ByteVec second_low_;
  ByteVec second_high_;
  ByteVec codes_;
};

// Up to 16 levels wherever they are: counts thresholds below the quotient plus a guard, and minus it.
class FewEncoder {
 public:
  HWY_INLINE explicit FewEncoder(const TableSource& source) : FewEncoder(*source.table, source.scale) {}
  HWY_INLINE FewEncoder(const CodeTable& table, double scale)
      : reciprocal_(floats(static_cast<float>(1.0 / scale))),
        guard_(floats(static_cast<float>(table.largest * 0x1p-18))),
        farthest_(ints(farthest_bits(table, scale))),
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
      most = hn::Add(most, mask_bits(hn::Gt(above, threshold)));
      least = hn::Add(least, mask_bits(hn::Gt(below, threshold)));
    }
    const FloatMask differ = hn::RebindMask(FloatTag(), hn::Ne(most, least));
    return {hn::Neg(most), hn::Or(differ, is_too_far(x, farthest_))};
  }
  HWY_INLINE ByteVec finished(ByteVec levels) const { return hn::TableLookupBytes(codes_, levels); }
  HWY_INLINE bool step(const std::uint8_t* x, std::uint8_t* codes, std::uint8_t* marks) const {
    return step_by_lanes<false>(*this, x, codes, marks);
  }

 private:
  FloatVec reciprocal_;
  FloatVec guard_;
  IntVec farthest_;
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
class SmallFloatEncoder {
 public:
  HWY_INLINE explicit SmallFloatEncoder(const TableSource& source)
      : reciprocal_(floats(static_cast<float>(1.0 / source.scale))),
        farthest_(ints(farthest_bits(*source.table, source.scale))) {}

  HWY_INLINE Lanes lanes(FloatVec x) const {
    constexpr int kDropped = 23 - F::kMantissaBits;
    const FloatVec magnitude = hn::Min(hn::Abs(hn::Mul(x, reciprocal_)), floats(F::kLargest));
    const IntVec exponent =
        hn::And(hn::Max(as_bits(magnitude), ints(F::kSmallestNormal)), ints(kInfinityBits));
    const FloatVec rounder = as_floats(hn::Add(exponent, ints((kDropped << 23) | 0x400000)));
    const FloatVec sum = hn::Add(magnitude, rounder);
    const FloatVec rest = hn::Abs(hn::Sub(magnitude, hn::Sub(sum, rounder)));
    // Half a step is 2^(e - mantissa bits - 1), and the quotient is off by less than 2^(e - 22).
    constexpr float kDoubt = (0.5F - 0x1p-14F) / static_cast<float>(1 << F::kMantissaBits);
    const FloatMask tie = hn::Gt(rest, hn::Mul(as_floats(exponent), floats(kDoubt)));
    const IntVec steps = hn::Sub(as_bits(sum), as_bits(rounder));
    const IntVec code = hn::Add(steps, hn::ShiftRight<kDropped>(hn::Sub(exponent, ints(F::kSmallestNormal))));
    // What rounds to 0 has the entry of +0.
    const IntVec negative =
        hn::And(hn::ShiftRight<31>(as_bits(x)), hn::VecFromMask(IntTag(), hn::Gt(code, hn::Zero(IntTag()))));
    return {hn::Add(code, hn::And(negative, ints(F::kNegative))), hn::Or(tie, is_too_far(x, farthest_))};
  }
  HWY_INLINE ByteVec finished(ByteVec codes) const { return codes; }
  HWY_INLINE bool step(const std::uint8_t* x, std::uint8_t* codes, std::uint8_t* marks) const {
    return step_by_lanes<false>(*this, x, codes, marks);
  }

 private:
  FloatVec reciprocal_;
  IntVec farthest_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();

#endif
