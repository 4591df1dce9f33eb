// Codes of blocks on vectors of any width. This file is compiled once per instruction set.
//
// A block is read twice, the second time from the cache: for its extremes, which give the scale and tell
// which encoder can be used, and for its codes. Values that the encoder is in doubt about are computed again
// by block_codes.h, one at a time: about one in a thousand of ordinary ones. A block that no encoder can code
// is computed there as a whole.
#include "numeric/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numeric/simd_block_encoding.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "numeric/block_codes.h"
#include "numeric/code_packing.h"
#include "numeric/simd_block_encoders.h"
#include "numeric/simd_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace halftone::numeric {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kChunk =
    640;  // values coded between checks: whole steps, and whole bytes of any packing

static_assert(kChunk % (2 * kStep) == 0);

float load_float(const std::uint8_t* from, std::size_t index) {
  float value = 0.0F;
  std::memcpy(&value, from + index * sizeof(value), sizeof(value));
  return value;
}

// Packs what the vector code packs fast, and leaves the rest.
void pack(const std::uint8_t* codes, std::size_t count, CodePacking packing, std::uint8_t* packed) {
  if (!packing.base3 && packing.bits == 8) {
    std::memcpy(packed, codes, count);
  } else if (!packing.base3 && packing.bits == 4) {
    code_kernels()->pack_nibbles(codes, count, packed);
  } else if (!packing.base3 && packing.bits == 2) {
    code_kernels()->pack_quarters(codes, count, packed);
  } else {
    pack_codes(codes, count, packing, packed);
  }
}

// kBits is 4 for nibbles, anything else for a code a byte.
template <int kBits>
HWY_INLINE void replace_code(std::uint8_t* codes, std::size_t index, std::uint8_t code) {
  if constexpr (kBits != 4) {
    codes[index] = code;
  } else {
    const unsigned shift = index % 2 == 0 ? 0 : 4;
    const unsigned others = codes[index / 2] & (0xF0U >> shift);
    codes[index / 2] = static_cast<std::uint8_t>(others | ((code & 0xFU) << shift));
  }
}

// Answers for each value of a step that is in doubt.
template <int kBits, typename Encoder, typename Source>
HWY_NOINLINE void settle_step(const Source& source, const std::uint8_t* x, std::size_t at, std::size_t count,
                              std::uint8_t* codes) {
  HWY_ALIGN std::uint8_t values[kStep * sizeof(float)] = {};
  HWY_ALIGN std::uint8_t marks[kStep];
  const std::size_t some = std::min(kStep, count - at);
  std::memcpy(values, x + at * sizeof(float), some * sizeof(float));
  hn::StoreU(Encoder::marks(Encoder(source), values), ByteTag(), marks);
  for (std::size_t i = 0; i < some; ++i) {
    // A quotient is finite where an encoder is used: its scale isn't extreme for a double.
    if (marks[i] != 0) replace_code<kBits>(codes, at + i, source.code(load_float(values, i)).value_or(0));
  }
}

// Goes over the chunk once more. Makes an encoder of its own: if this had the address of the caller's, that
// would have to live in memory, and be read again after every store.
template <int kBits, typename Encoder, typename Source>
HWY_NOINLINE void settle(const Source& source, const std::uint8_t* x, std::size_t count,
                         std::uint8_t* codes) {
  const Encoder encoder(source);
  std::size_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    auto slack = Encoder::no_doubt();
    Encoder::codes(encoder, x + at * sizeof(float), slack);
    if (Encoder::is_doubtful(slack)) settle_step<kBits, Encoder>(source, x, at, count, codes);
  }
  if (at < count) settle_step<kBits, Encoder>(source, x, at, count, codes);
}

// Two steps of codes of 4 bits.
HWY_INLINE ByteVec nibbles_of(ByteVec first, ByteVec second) {
  const UnsignedShortTag dp;
  const auto pairs = [dp](ByteVec codes) HWY_ATTR {
    const auto wide = hn::BitCast(dp, codes);
    const auto low = hn::And(wide, hn::Set(dp, std::uint16_t{0x000F}));
    const auto high = hn::And(hn::ShiftRight<4>(wide), hn::Set(dp, std::uint16_t{0x00F0}));
    return hn::BitCast(ShortTag(), hn::Or(low, high));
  };
  return hn::OrderedDemote2To(ByteTag(), pairs(first), pairs(second));
}

// What whole steps of a chunk become, and how many values they were. kBits: 8, 4, or 0 for anything else,
// whose codes go to `packed` unpacked.
template <int kBits, typename Encoder>
HWY_INLINE std::size_t encode_steps(const Encoder& encoder, const std::uint8_t* x, std::size_t count,
                                    std::uint8_t* packed, typename Encoder::Slack& slack) {
  constexpr std::size_t kValues = kBits == 4 ? 2 * kStep : kStep;
  std::size_t at = 0;
  for (; at + kValues <= count; at += kValues) {
    const std::uint8_t* from = x + at * sizeof(float);
    if constexpr (kBits == 4) {
      const ByteVec first = Encoder::codes(encoder, from, slack);
      const ByteVec second = Encoder::codes(encoder, from + kStep * sizeof(float), slack);
      hn::StoreU(nibbles_of(first, second), ByteTag(), packed + at / 2);
    } else {
      hn::StoreU(Encoder::codes(encoder, from, slack), ByteTag(), packed + at);
    }
  }
  if (kBits == 4 && at + kStep <= count) {
    const ByteVec last = Encoder::codes(encoder, x + at * sizeof(float), slack);
    const hn::Half<ByteTag> half;
    hn::StoreU(hn::LowerHalf(half, nibbles_of(last, last)), half, packed + at / 2);
    at += kStep;
  }
  return at;
}

// The rest of a chunk, less than a step.
template <typename Encoder>
HWY_INLINE void encode_rest(const Encoder& encoder, const std::uint8_t* x, std::size_t count,
                            CodePacking packing, std::uint8_t* packed, typename Encoder::Slack& slack) {
  HWY_ALIGN std::uint8_t values[kStep * sizeof(float)] = {};
  HWY_ALIGN std::uint8_t codes[kStep];
  std::memcpy(values, x, count * sizeof(float));
  // Zeros behind the last value may be in doubt, which costs a look at the chunk and changes nothing.
  hn::StoreU(Encoder::codes(encoder, values, slack), ByteTag(), codes);
  pack(codes, count, packing, packed);
}

template <int kBits, typename Encoder, typename Source>
HWY_INLINE void encode_chunk(const Encoder& encoder, const Source& source, const std::uint8_t* x,
                             std::size_t count, CodePacking packing, std::uint8_t* packed) {
  auto slack = Encoder::no_doubt();
  if constexpr (kBits == 0) {
    HWY_ALIGN std::uint8_t codes[kChunk];
    const std::size_t at = encode_steps<kBits>(encoder, x, count, codes, slack);
    if (at < count) {
      encode_rest(encoder, x + at * sizeof(float), count - at, {8, false}, codes + at, slack);
    }
    if (HWY_UNLIKELY(Encoder::is_doubtful(slack))) settle<kBits, Encoder>(source, x, count, codes);
    pack(codes, count, packing, packed);
  } else {
    const std::size_t at = encode_steps<kBits>(encoder, x, count, packed, slack);
    if (at < count) {
      encode_rest(encoder, x + at * sizeof(float), count - at, packing, packed + at * kBits / 8, slack);
    }
    if (HWY_UNLIKELY(Encoder::is_doubtful(slack))) settle<kBits, Encoder>(source, x, count, packed);
  }
}

template <int kBits, typename Encoder, typename Source>
HWY_INLINE void encode_block_as(const Source& source, const std::uint8_t* x, std::size_t count,
                                CodePacking packing, std::uint8_t* packed) {
  const Encoder encoder(source);
  while (count > 0) {
    const std::size_t chunk = std::min(count, kChunk);
    encode_chunk<kBits>(encoder, source, x, chunk, packing, packed);
    x += chunk * sizeof(float);
    packed += packed_byte_count(packing, chunk);
    count -= chunk;
  }
}

// A block without vector code. False if a quotient isn't finite.
template <typename Source>
bool encode_by_values(const Source& source, const std::uint8_t* x, std::size_t count, CodePacking packing,
                      std::uint8_t* packed) {
  std::uint8_t codes[kChunk];
  while (count > 0) {
    const std::size_t chunk = std::min(count, kChunk);
    for (std::size_t i = 0; i < chunk; ++i) {
      const std::optional<std::uint8_t> code = source.code(load_float(x, i));
      if (!code) return false;
      codes[i] = *code;
    }
    pack(codes, chunk, packing, packed);
    x += chunk * sizeof(float);
    packed += packed_byte_count(packing, chunk);
    count -= chunk;
  }
  return true;
}

// False if the encoder can't.
template <typename Encoder, typename Source>
HWY_INLINE bool encode_by(const Source& source, double largest, const std::uint8_t* x, std::size_t count,
                          CodePacking packing, std::uint8_t* packed) {
  if (!Encoder::can_code(source, largest)) return false;
  if (packing.bits == 8 && !packing.base3) {
    encode_block_as<8, Encoder>(source, x, count, packing, packed);
  } else if (packing.bits == 4 && !packing.base3) {
    encode_block_as<4, Encoder>(source, x, count, packing, packed);
  } else {
    encode_block_as<0, Encoder>(source, x, count, packing, packed);
  }
  return true;
}

// By the first encoder that can, if any. False if a quotient isn't finite.
template <typename... Encoders, typename Source>
HWY_INLINE bool encode_block(const Source& source, [[maybe_unused]] double largest, const std::uint8_t* x,
                             std::size_t count, CodePacking packing, std::uint8_t* packed) {
  return (encode_by<Encoders>(source, largest, x, count, packing, packed) || ...) ||
         encode_by_values(source, x, count, packing, packed);
}

// The largest positive value, and the magnitude of the lowest negative one; 0 if there is none.
struct Extremes {
  double positive;
  double negative;
};

double double_of_bits(std::uint32_t bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof(value));
  return static_cast<double>(value);
}

// Bits of floats have the order of their magnitudes, as signed integers those of positive ones are above all
// of negative ones, as unsigned integers below; NaN is above infinity. Nothing if a value isn't finite.
HWY_INLINE std::optional<Extremes> extremes_of(const std::uint8_t* x, std::size_t count) {
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
  constexpr std::uint32_t kSign = 0x80000000U;
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  const auto highest = static_cast<std::uint32_t>(hn::ReduceMax(IntTag(), positive));
  const std::uint32_t lowest = hn::ReduceMax(UnsignedTag(), negative);
  if (highest >= kInfinity || lowest >= (kSign | kInfinity)) return std::nullopt;
  return Extremes{double_of_bits(highest), lowest > kSign ? double_of_bits(lowest & ~kSign) : 0.0};
}

// Dividing is monotone: the largest quotient is that of the largest value.
double scale_of(Extremes extremes, CodeReach reach) {
  double scale = 0.0;
  if (reach.high > 0.0) scale = extremes.positive / reach.high;
  if (reach.low < 0.0) scale = std::max(scale, extremes.negative / -reach.low);
  return scale == 0.0 ? 1.0 : scale;
}

// The scale of a block, chosen or read. Nothing if it isn't finite.
HWY_INLINE std::optional<double> scale_of_block(const std::uint8_t* x, const BlockRun& run, std::size_t block,
                                                Extremes extremes, double offset, CodeReach reach,
                                                AutomaticScales automatic) {
  if (automatic.first == nullptr) return block_double(run.scales, block);
  const double scale =
      offset == 0.0 ? scale_of(extremes, reach) : *automatic_scale(x, run.count, offset, reach);
  std::memcpy(automatic.first + block * automatic.stride, &scale, sizeof(scale));
  return std::isfinite(scale) ? std::optional<double>(scale) : std::nullopt;
}

template <bool kSigned>
std::size_t encode_affine_run(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                              AutomaticScales automatic, PackedBlocks<std::uint8_t> codes) {
  const CodePacking packing = {affine.bits, false};
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const std::optional<Extremes> extremes = extremes_of(x, run.count);
    if (!extremes) return block;
    AffineSource source = {affine_block(affine, block)};
    const std::optional<double> scale =
        scale_of_block(x, run, block, *extremes, source.block.offset, affine_reach(source.block), automatic);
    if (!scale) return block;
    source.block.scale = *scale;
    encode_block<AffineEncoder<kSigned, false>, AffineEncoder<kSigned, true>>(
        source, std::max(extremes->positive, extremes->negative), x, run.count, packing,
        codes.first + block * codes.stride);
    x += run.count * sizeof(float);
  }
  return run.blocks;
}

// `Encoder`: none or one.
template <typename... Encoder>
std::size_t encode_table_run(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                             AutomaticScales automatic, CodePacking packing,
                             PackedBlocks<std::uint8_t> codes) {
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const std::optional<Extremes> extremes = extremes_of(x, run.count);
    if (!extremes) return block;
    const std::optional<double> scale =
        scale_of_block(x, run, block, *extremes, 0.0, table_reach(table), automatic);
    if (!scale) return block;
    const bool coded = encode_block<Encoder...>(TableSource{&table, *scale},
                                                std::max(extremes->positive, extremes->negative), x,
                                                run.count, packing, codes.first + block * codes.stride);
    if (!coded) return block;
    x += run.count * sizeof(float);
  }
  return run.blocks;
}

}  // namespace

std::size_t encode_affine_blocks(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                                 AutomaticScales automatic, PackedBlocks<std::uint8_t> codes) {
  return affine.is_signed ? encode_affine_run<true>(x, run, affine, automatic, codes)
                          : encode_affine_run<false>(x, run, affine, automatic, codes);
}

std::size_t encode_table_blocks(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                                AutomaticScales automatic, CodePacking packing,
                                PackedBlocks<std::uint8_t> codes) {
  switch (table.shape) {
    case TableShape::kCells:
      return encode_table_run<CellEncoder>(x, run, table, automatic, packing, codes);
    case TableShape::kFew:
      return encode_table_run<FewEncoder>(x, run, table, automatic, packing, codes);
    case TableShape::kE4M3:
      return encode_table_run<SmallFloatEncoder<E4M3>>(x, run, table, automatic, packing, codes);
    case TableShape::kE3M2:
      return encode_table_run<SmallFloatEncoder<E3M2>>(x, run, table, automatic, packing, codes);
    case TableShape::kNone:
      break;
  }
  return encode_table_run<>(x, run, table, automatic, packing, codes);
}

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();
