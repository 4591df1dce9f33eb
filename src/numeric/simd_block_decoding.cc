// Values of blocks on vectors of any width. This file is compiled once per instruction set.
//
// What is defined as float32(code * scale), with a scale in double, is computed in double; where a block has
// at most 16 different codes, once for each of them, and looked up then, byte by byte, in registers.
#include "numeric/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numeric/simd_block_decoding.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "numeric/block_codes.h"
#include "numeric/code_packing.h"
#include "numeric/simd_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace halftone::numeric {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::ScalableTag<std::int32_t>;
using ShortTag = hn::ScalableTag<std::int16_t>;
using DoubleTag = hn::ScalableTag<double>;
using ByteTag = hn::ScalableTag<std::uint8_t>;
using PairTag = hn::ScalableTag<std::uint16_t>;
using FloatVec = hn::Vec<FloatTag>;
using IntVec = hn::Vec<IntTag>;
using ShortVec = hn::Vec<ShortTag>;
using DoubleVec = hn::Vec<DoubleTag>;
using ByteVec = hn::Vec<ByteTag>;

constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
constexpr std::size_t kDoubles = hn::MaxLanes(DoubleTag());
constexpr std::size_t kStep = 4 * kLanes;  // codes that fill one vector of bytes
constexpr std::size_t kChunk = 640;  // codes unpacked at a time: whole steps, whole bytes of any packing

static_assert(kChunk % kStep == 0);

void unpack(const std::uint8_t* packed, std::size_t count, CodePacking packing, std::uint8_t* codes) {
  if (!packing.base3 && packing.bits == 8) {
    std::memcpy(codes, packed, count);
    return;
  }
  if (!packing.base3 && packing.bits == 4) return code_kernels()->unpack_nibbles(packed, count, false, codes);
  if (!packing.base3 && packing.bits == 2) {
    return code_kernels()->unpack_quarters(packed, count, false, codes);
  }
  unpack_codes(packed, count, packing, codes);
}

// The values of up to 16 codes as four tables of bytes.
struct Planes {
  ByteVec byte[4];
};

struct CodeValues {
  HWY_ALIGN float value[16];
  [[nodiscard]] bool all_finite() const {
    IntVec largest = hn::Zero(IntTag());
    for (std::size_t i = 0; i < 16; i += kLanes) {
      const IntVec bits = hn::BitCast(IntTag(), hn::Load(FloatTag(), value + i));
      largest = hn::Max(largest, hn::And(bits, hn::Set(IntTag(), 0x7FFFFFFF)));
    }
    return hn::ReduceMax(IntTag(), largest) < kInfinityBits;
  }
};

HWY_INLINE Planes planes_of(const CodeValues& values) {
  const hn::CappedTag<std::uint8_t, 16> d16;
  hn::Vec<decltype(d16)> a;
  hn::Vec<decltype(d16)> b;
  hn::Vec<decltype(d16)> c;
  hn::Vec<decltype(d16)> d;
  hn::LoadInterleaved4(d16, reinterpret_cast<const std::uint8_t*>(values.value), a, b, c, d);
  HWY_ALIGN std::uint8_t bytes[4][16];
  hn::Store(a, d16, bytes[0]);
  hn::Store(b, d16, bytes[1]);
  hn::Store(c, d16, bytes[2]);
  hn::Store(d, d16, bytes[3]);
  return {{hn::LoadDup128(ByteTag(), bytes[0]), hn::LoadDup128(ByteTag(), bytes[1]),
           hn::LoadDup128(ByteTag(), bytes[2]), hn::LoadDup128(ByteTag(), bytes[3])}};
}

HWY_INLINE void look_up(const Planes& planes, ByteVec codes, std::uint8_t* y) {
  hn::StoreInterleaved4(
      hn::TableLookupBytes(planes.byte[0], codes), hn::TableLookupBytes(planes.byte[1], codes),
      hn::TableLookupBytes(planes.byte[2], codes), hn::TableLookupBytes(planes.byte[3], codes), ByteTag(), y);
}

// The codes of kStep / 2 bytes.
HWY_INLINE ByteVec nibbles(const std::uint8_t* packed) {
  const hn::Rebind<std::uint8_t, PairTag> half;
  const auto wide = hn::PromoteTo(PairTag(), hn::LoadU(half, packed));
  const auto low = hn::And(wide, hn::Set(PairTag(), std::uint16_t{0x000F}));
  const auto high = hn::And(hn::ShiftLeft<4>(wide), hn::Set(PairTag(), std::uint16_t{0x0F00}));
  return hn::BitCast(ByteTag(), hn::Or(low, high));
}

void look_up_bytes(const CodeValues& values, const std::uint8_t* codes, std::size_t count, std::uint8_t* y) {
  const Planes planes = planes_of(values);
  std::size_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    look_up(planes, hn::LoadU(ByteTag(), codes + at), y + at * sizeof(float));
  }
  for (; at < count; ++at) std::memcpy(y + at * sizeof(float), values.value + codes[at], sizeof(float));
}

void look_up_nibbles(const CodeValues& values, const std::uint8_t* packed, std::size_t count,
                     std::uint8_t* y) {
  const Planes planes = planes_of(values);
  std::size_t at = 0;
  for (; at + kStep <= count; at += kStep) look_up(planes, nibbles(packed + at / 2), y + at * sizeof(float));
  for (; at < count; ++at) {
    const std::size_t code = at % 2 == 0 ? packed[at / 2] & 0xFU : packed[at / 2] >> 4U;
    std::memcpy(y + at * sizeof(float), values.value + code, sizeof(float));
  }
}

bool within(const std::uint8_t* codes, std::size_t count, std::size_t entries) {
  std::uint8_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = codes[i] > largest ? codes[i] : largest;
  return largest < entries;
}

// Blocks of up to 16 codes, whose values are finite. False for a code that isn't one of the first `entries`.
bool look_up_block(const CodeValues& values, std::size_t entries, const std::uint8_t* packed,
                   std::size_t count, CodePacking packing, std::uint8_t* y) {
  if (packing.bits == 4 && !packing.base3 && entries == 16) {
    look_up_nibbles(values, packed, count, y);
    return true;
  }
  HWY_ALIGN std::uint8_t codes[kChunk];
  while (count > 0) {
    const std::size_t chunk = count < kChunk ? count : kChunk;
    unpack(packed, chunk, packing, codes);
    if (!within(codes, chunk, entries)) return false;
    look_up_bytes(values, codes, chunk, y);
    packed += packed_byte_count(packing, chunk);
    y += chunk * sizeof(float);
    count -= chunk;
  }
  return true;
}

// One value after the other; of what may be out of range.
template <typename ValueOf>
bool decode_by_values(const ValueOf& value_of, std::size_t entries, const std::uint8_t* packed,
                      std::size_t count, CodePacking packing, std::uint8_t* y) {
  std::uint8_t codes[kChunk];
  while (count > 0) {
    const std::size_t chunk = count < kChunk ? count : kChunk;
    unpack(packed, chunk, packing, codes);
    for (std::size_t i = 0; i < chunk; ++i) {
      if (codes[i] >= entries) return false;
      const float value = value_of(codes[i]);
      if (!std::isfinite(value)) return false;
      std::memcpy(y + i * sizeof(value), &value, sizeof(value));
    }
    packed += packed_byte_count(packing, chunk);
    y += chunk * sizeof(float);
    count -= chunk;
  }
  return true;
}

// Codes in double. `kOffset`: without one, nothing is added, which changes nothing: no product is -0.
template <bool kOffset>
class AffineDecoder {
 public:
  explicit AffineDecoder(const AffineBlock& block)
      : zero_point_(hn::Set(ShortTag(), static_cast<std::int16_t>(block.zero_point))),
        scale_(hn::Set(DoubleTag(), block.scale)),
        offset_(hn::Set(DoubleTag(), block.offset)) {}

  // Two vectors of values.
  template <typename T>
  HWY_INLINE void vectors(const std::uint8_t* codes, std::uint8_t* y) const {
    const hn::Rebind<T, ShortTag> dt;
    const ShortVec wide = hn::PromoteTo(ShortTag(), hn::LoadU(dt, reinterpret_cast<const T*>(codes)));
    const ShortVec steps = hn::Sub(wide, zero_point_);
    auto* to = reinterpret_cast<float*>(y);
    hn::StoreU(values(hn::PromoteLowerTo(IntTag(), steps)), FloatTag(), to);
    hn::StoreU(values(hn::PromoteUpperTo(IntTag(), steps)), FloatTag(), to + kLanes);
  }

 private:
  HWY_INLINE FloatVec values(IntVec steps) const {
    const hn::Half<FloatTag> half;
    const auto lower = hn::DemoteTo(half, value(hn::PromoteLowerTo(DoubleTag(), steps)));
    const auto upper = hn::DemoteTo(half, value(hn::PromoteUpperTo(DoubleTag(), steps)));
    return hn::Combine(FloatTag(), upper, lower);
  }
  HWY_INLINE DoubleVec value(DoubleVec steps) const {
    const DoubleVec product = hn::Mul(steps, scale_);
    return kOffset ? hn::Add(product, offset_) : product;
  }

  ShortVec zero_point_;
  DoubleVec scale_;
  DoubleVec offset_;
};

template <bool kOffset, typename T>
void decode_bytes_by(const AffineBlock& block, const std::uint8_t* codes, std::size_t count,
                     std::uint8_t* y) {
  const AffineDecoder<kOffset> decoder(block);
  std::size_t at = 0;
  for (; at + 2 * kLanes <= count; at += 2 * kLanes) {
    decoder.template vectors<T>(codes + at, y + at * sizeof(float));
  }
  for (; at < count; ++at) {
    const float value = affine_value(static_cast<T>(codes[at]), block);
    std::memcpy(y + at * sizeof(value), &value, sizeof(value));
  }
}

template <typename T>
void decode_bytes(const AffineBlock& block, const std::uint8_t* codes, std::size_t count, std::uint8_t* y) {
  return block.offset == 0.0 ? decode_bytes_by<false, T>(block, codes, count, y)
                             : decode_bytes_by<true, T>(block, codes, count, y);
}

// Codes of 5 to 8 bits, whose values are finite.
void decode_wide_block(const AffineBlock& block, const AffineCodes& affine, const std::uint8_t* packed,
                       std::size_t count, std::uint8_t* y) {
  if (affine.bits == 8) {
    return affine.is_signed ? decode_bytes<std::int8_t>(block, packed, count, y)
                            : decode_bytes<std::uint8_t>(block, packed, count, y);
  }
  const CodePacking packing = {affine.bits, false};
  const int sign = affine.is_signed ? 1 << (affine.bits - 1) : 0;
  HWY_ALIGN std::uint8_t codes[kChunk];
  while (count > 0) {
    const std::size_t chunk = count < kChunk ? count : kChunk;
    unpack(packed, chunk, packing, codes);
    for (std::size_t i = 0; i < chunk; ++i) codes[i] = static_cast<std::uint8_t>((codes[i] ^ sign) - sign);
    decode_bytes<std::int8_t>(block, codes, chunk, y);  // codes of 7 bits without a sign are in there, too
    packed += packed_byte_count(packing, chunk);
    y += chunk * sizeof(float);
    count -= chunk;
  }
}

HWY_INLINE void set_code_values(CodeValues& values, const AffineBlock& block, const AffineCodes& affine) {
  HWY_ALIGN double codes[16];
  const int count = 1 << affine.bits;
  const int sign = affine.is_signed ? count / 2 : 0;
  for (int i = 0; i < 16; ++i) codes[i] = ((i & (count - 1)) ^ sign) - sign;
  const DoubleVec zero_point = hn::Set(DoubleTag(), block.zero_point);
  const DoubleVec scale = hn::Set(DoubleTag(), block.scale);
  const DoubleVec offset = hn::Set(DoubleTag(), block.offset);
  const hn::Rebind<float, DoubleTag> df;
  for (std::size_t i = 0; i < 16; i += kDoubles) {
    const DoubleVec steps = hn::Sub(hn::Load(DoubleTag(), codes + i), zero_point);
    hn::Store(hn::DemoteTo(df, hn::Add(hn::Mul(steps, scale), offset)), df, values.value + i);
  }
}

bool decode_affine_block(const AffineBlock& block, const AffineCodes& affine, const std::uint8_t* packed,
                         std::size_t count, std::uint8_t* y) {
  // Values grow with their codes.
  const bool finite = std::isfinite(affine_value(static_cast<std::int32_t>(block.lowest), block)) &&
                      std::isfinite(affine_value(static_cast<std::int32_t>(block.highest), block));
  const CodePacking packing = {affine.bits, false};
  if (!finite) {
    const int sign = affine.is_signed ? 1 << (affine.bits - 1) : 0;
    return decode_by_values([&block, sign](int code) { return affine_value((code ^ sign) - sign, block); },
                            256, packed, count, packing, y);
  }
  if (affine.bits > 4) {
    decode_wide_block(block, affine, packed, count, y);
    return true;
  }
  CodeValues values;
  set_code_values(values, block, affine);
  return look_up_block(values, std::size_t{1} << affine.bits, packed, count, packing, y);
}

HWY_INLINE void set_code_values(CodeValues& values, const std::uint8_t* table, std::size_t entries,
                                double scale) {
  HWY_ALIGN double padded[16] = {};
  const auto* from = reinterpret_cast<const double*>(table);
  if (entries < 16) {
    std::memcpy(padded, table, entries * sizeof(double));
    from = padded;
  }
  const hn::Rebind<float, DoubleTag> df;
  const DoubleVec factor = hn::Set(DoubleTag(), scale);
  for (std::size_t i = 0; i < 16; i += kDoubles) {
    const DoubleVec entry = hn::Add(hn::LoadU(DoubleTag(), from + i), hn::Zero(DoubleTag()));
    hn::Store(hn::DemoteTo(df, hn::Mul(entry, factor)), df, values.value + i);
  }
}

bool decode_table_block(const std::uint8_t* table, std::size_t entries, double scale,
                        const std::uint8_t* packed, std::size_t count, CodePacking packing, std::uint8_t* y) {
  if (entries <= 16) {
    CodeValues values;
    set_code_values(values, table, entries, scale);
    if (values.all_finite()) return look_up_block(values, entries, packed, count, packing, y);
  }
  const BlockDoubles doubles = {table, sizeof(double)};
  return decode_by_values(
      [doubles, scale](std::uint8_t code) { return table_value(block_double(doubles, code), scale); },
      entries, packed, count, packing, y);
}

}  // namespace

std::size_t decode_affine_blocks(PackedBlocks<const std::uint8_t> codes, const BlockRun& run,
                                 const AffineCodes& affine, std::uint8_t* y) {
  for (std::size_t block = 0; block < run.blocks; ++block) {
    AffineBlock parameters = affine_block(affine, block);
    parameters.scale = block_double(run.scales, block);
    if (!decode_affine_block(parameters, affine, codes.first + block * codes.stride, run.count, y)) {
      return block;
    }
    y += run.count * sizeof(float);
  }
  return run.blocks;
}

std::size_t decode_table_blocks(PackedBlocks<const std::uint8_t> codes, const BlockRun& run,
                                BlockDoubles tables, std::size_t entries, CodePacking packing,
                                std::uint8_t* y) {
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const double scale = block_double(run.scales, block);
    const std::uint8_t* table = tables.first + block * tables.stride;
    const std::uint8_t* packed = codes.first + block * codes.stride;
    if (!decode_table_block(table, entries, scale, packed, run.count, packing, y)) return block;
    y += run.count * sizeof(float);
  }
  return run.blocks;
}

const BlockKernelSet* block_kernels() {
  static const BlockKernelSet kSet = {hwy::TargetName(HWY_TARGET), encode_affine_blocks, encode_table_blocks,
                                      decode_affine_blocks, decode_table_blocks};
  return &kSet;
}

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace halftone::numeric {

HWY_EXPORT(block_kernels);

const BlockKernelSet& simd_block_kernels() { return *HWY_DYNAMIC_DISPATCH(block_kernels)(); }

}  // namespace halftone::numeric

#endif  // HWY_ONCE
