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
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <tuple>
#include <type_traits>

#include "numeric/block_codes.h"
#include "numeric/code_packing.h"
#include "numeric/simd_block_encoders.h"
#include "numeric/simd_block_scales.h"
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

template <typename Encoder, typename Source>
HWY_INLINE Encoder encoder_of(const Source& source) {
  Encoder encoder(source.shared());
  encoder.prepare(source);
  encoder.set_factor(factor_of(source.numerator(), source.scale()));
  return encoder;
}

// Answers for the values of a step that are in doubt, all of them among the first `count`.
template <int kBits, typename Encoder, typename Source>
HWY_INLINE void settle_step(const Encoder& encoder, const Source& source, const std::uint8_t* x,
                            std::size_t count, std::uint8_t* codes, std::size_t first) {
  HWY_ALIGN std::uint8_t marks[kStep];
  hn::StoreU(Encoder::marks(encoder, x), ByteTag(), marks);
  for (std::size_t at = 0; at < kStep; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, marks + at, sizeof(word));
    word &= 0x0101010101010101U;  // a bit of each mark
    for (; word != 0; word &= word - 1) {
      const std::size_t i = at + static_cast<std::size_t>(std::countr_zero(word)) / 8;
      // A quotient is finite where an encoder is used: its scale isn't extreme for a double.
      if (i < count) replace_code<kBits>(codes, first + i, source.code(load_float(x, i)).value_or(0));
    }
  }
}

// Goes over the chunk once more. Makes an encoder of its own: if this had the address of the caller's, that
// would have to live in memory, and be read again after every store.
template <int kBits, typename Encoder, typename Source>
HWY_NOINLINE void settle(Source source, const std::uint8_t* x, std::size_t count, std::uint8_t* codes) {
  const auto encoder = encoder_of<Encoder>(source);
  std::size_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    settle_step<kBits>(encoder, source, x + at * sizeof(float), kStep, codes, at);
  }
  if (at == count) return;
  HWY_ALIGN std::uint8_t rest[kStep * sizeof(float)] = {};
  std::memcpy(rest, x + at * sizeof(float), (count - at) * sizeof(float));
  settle_step<kBits>(encoder, source, rest, count - at, codes, at);
}

// Two steps of codes of 4 bits.
template <CodePlace kPlace>
HWY_INLINE ByteVec nibbles_of(ByteVec first, ByteVec second) {
  const UnsignedShortTag dp;
  const auto pairs = [dp](ByteVec codes) HWY_ATTR {
    auto wide = hn::BitCast(dp, codes);
    if constexpr (kPlace == CodePlace::kHigherHalf) {
      const auto lower = hn::Set(dp, std::uint16_t{0x000F});
      return hn::BitCast(ShortTag(),
                         hn::BitwiseIfThenElse(lower, hn::ShiftRight<4>(wide), hn::ShiftRight<8>(wide)));
    } else {
      if constexpr (kPlace == CodePlace::kByte) wide = hn::And(wide, hn::Set(dp, std::uint16_t{0x0F0F}));
      const auto both = hn::And(hn::Or(wide, hn::ShiftRight<4>(wide)), hn::Set(dp, std::uint16_t{0x00FF}));
      return hn::BitCast(ShortTag(), both);
    }
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
      hn::StoreU(nibbles_of<Encoder::kPlace>(first, second), ByteTag(), packed + at / 2);
    } else {
      hn::StoreU(Encoder::codes(encoder, from, slack), ByteTag(), packed + at);
    }
  }
  if (kBits == 4 && at + kStep <= count) {
    const ByteVec last = Encoder::codes(encoder, x + at * sizeof(float), slack);
    const hn::Half<ByteTag> half;
    hn::StoreU(hn::LowerHalf(half, nibbles_of<Encoder::kPlace>(last, last)), half, packed + at / 2);
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
  if constexpr (Encoder::kPlace == CodePlace::kHigherHalf) {
    for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(code >> 4U);
  }
  pack(codes, count, packing, packed);
}

// What answers for the doubtful codes of a chunk. Called by its address, so that no optimizer copies it into
// the loop that is in need of registers.
template <typename Source>
using Settle = void (*)(Source source, const std::uint8_t* x, std::size_t count, std::uint8_t* codes);

template <int kBits, typename Encoder, typename Source>
HWY_INLINE void encode_chunk(const Encoder& encoder, const Source& source, Settle<Source> settle_chunk,
                             const std::uint8_t* x, std::size_t count, CodePacking packing,
                             std::uint8_t* packed) {
  auto slack = Encoder::no_doubt();
  if constexpr (kBits == 0) {
    HWY_ALIGN std::uint8_t codes[kChunk];
    const std::size_t at = encode_steps<kBits>(encoder, x, count, codes, slack);
    if (at < count) {
      encode_rest(encoder, x + at * sizeof(float), count - at, {8, false}, codes + at, slack);
    }
    if (HWY_UNLIKELY(Encoder::is_doubtful(slack))) settle_chunk(source, x, count, codes);
    pack(codes, count, packing, packed);
  } else {
    const std::size_t at = encode_steps<kBits>(encoder, x, count, packed, slack);
    if (at < count) {
      encode_rest(encoder, x + at * sizeof(float), count - at, packing, packed + at * kBits / 8, slack);
    }
    if (HWY_UNLIKELY(Encoder::is_doubtful(slack))) settle_chunk(source, x, count, packed);
  }
}

// A block without vector code. False if a quotient isn't finite.
template <typename Source>
bool encode_by_values(Source source, const std::uint8_t* x, std::size_t count, CodePacking packing,
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

// What the blocks of a run have in common, and what answers for one of them.
class AffineParameters {
 public:
  using Source = AffineSource;

  explicit AffineParameters(const AffineCodes& affine)
      : affine_(affine),
        lowest_(lowest_code(affine.bits, affine.is_signed)),
        highest_(highest_code(affine.bits, affine.is_signed)) {}

  [[nodiscard]] HWY_INLINE AffineSource source(std::size_t block, double scale) const {
    return {{scale, block_double(affine_.zero_points, block), block_double(affine_.offsets, block), lowest_,
             highest_}};
  }
  [[nodiscard]] HWY_INLINE ScaleRule scale_rule(std::size_t block) const {
    const AffineBlock parameters = source(block, 1.0).block;
    return {affine_reach(parameters), parameters.offset};
  }
  // But for their scales.
  [[nodiscard]] bool blocks_are_alike() const {
    return affine_.zero_points.stride == 0 && affine_.offsets.stride == 0;
  }

 private:
  AffineCodes affine_;
  double lowest_;
  double highest_;
};

class TableParameters {
 public:
  using Source = TableSource;

  explicit TableParameters(const CodeTable& table) : table_(table) {}

  [[nodiscard]] HWY_INLINE TableSource source(std::size_t /*block*/, double scale) const {
    return {&table_, scale};
  }
  [[nodiscard]] HWY_INLINE ScaleRule scale_rule(std::size_t /*block*/) const {
    return {table_reach(table_), 0.0};
  }
  [[nodiscard]] bool blocks_are_alike() const { return true; }

 private:
  const CodeTable& table_;
};

// The scales of some blocks, from block `first` of the run on. Returns how many come before one that isn't
// sound.
template <typename Parameters>
HWY_NOINLINE std::size_t find_scales(const std::uint8_t* x, const BlockRun& run, std::size_t first,
                                     std::size_t blocks, const Parameters& parameters,
                                     AutomaticScales automatic, ScaledBlock* scaled) {
  ScaleRule rule = parameters.scale_rule(first);
  const bool alike = parameters.blocks_are_alike();
  const double numerator = parameters.source(first, 1.0).numerator();
  for (std::size_t i = 0; i < blocks; ++i) {
    if (!alike) rule = parameters.scale_rule(first + i);
    if (!find_scale(x, run, first + i, rule, automatic, scaled[i])) return i;
    scaled[i].factor = factor_of(numerator, scaled[i].scale);
    x += run.count * sizeof(float);
  }
  return blocks;
}

// Blocks of a run whose scales are known.
template <typename Parameters>
struct Stretch {
  const Parameters* parameters;
  const std::uint8_t* x;
  std::size_t count;  // values of a block
  BlockHeads heads;
  std::size_t first;
  std::size_t blocks;
  const ScaledBlock* scaled;
  AutomaticScales automatic;
  CodePacking packing;
  PackedBlocks<std::uint8_t> codes;
  Settle<typename Parameters::Source> settle_chunk;
};

// False if the encoder can't. It is a copy, so that it can live in registers.
template <int kBits, typename Encoder, typename Parameters>
HWY_INLINE bool encode_by(Encoder encoder, const typename Parameters::Source& source,
                          const Stretch<Parameters>& stretch, const ScaledBlock& scaled,
                          const std::uint8_t* x, std::uint8_t* packed) {
  if (!Encoder::can_code(source, scaled.largest)) return false;
  encoder.set_factor(scaled.factor);
  std::size_t count = stretch.count;
  while (count > 0) {
    const std::size_t chunk = std::min(count, kChunk);
    encode_chunk<kBits>(encoder, source, stretch.settle_chunk, x, chunk, stretch.packing, packed);
    x += chunk * sizeof(float);
    packed += packed_byte_count(stretch.packing, chunk);
    count -= chunk;
  }
  return true;
}

// All of a block but its codes. Between blocks, so that memory has time to take it.
template <typename Parameters>
HWY_INLINE void write_numbers(const Stretch<Parameters>& stretch, std::size_t i, std::uint8_t* packed) {
  write_head(stretch.heads, packed);
  if (stretch.automatic.first == nullptr) return;
  std::uint8_t* scale = stretch.automatic.first + (stretch.first + i) * stretch.automatic.stride;
  std::memcpy(scale, &stretch.scaled[i].scale, sizeof(double));
}

// Codes each block by the first encoder that can. Returns how many blocks come before one that has a quotient
// that isn't finite.
template <int kBits, typename Parameters, typename... Encoders>
std::size_t encode_stretch(const Stretch<Parameters>& stretch) {
  [[maybe_unused]] std::tuple<Encoders...> encoders{
      Encoders(stretch.parameters->source(stretch.first, 1.0).shared())...};
  [[maybe_unused]] const bool alike = stretch.parameters->blocks_are_alike();
  const std::uint8_t* x = stretch.x;
  std::uint8_t* packed = stretch.codes.first + stretch.first * stretch.codes.stride;
  for (std::size_t i = 0; i < stretch.blocks; ++i) {
    const ScaledBlock scaled = stretch.scaled[i];
    write_numbers(stretch, i, packed);
    const typename Parameters::Source source = stretch.parameters->source(stretch.first + i, scaled.scale);
    if (i == 0 || !alike) (std::get<Encoders>(encoders).prepare(source), ...);
    const bool coded =
        (encode_by<kBits>(std::get<Encoders>(encoders), source, stretch, scaled, x, packed) || ...) ||
        encode_by_values(source, x, stretch.count, stretch.packing, packed);
    if (!coded) return i;
    x += stretch.count * sizeof(float);
    packed += stretch.codes.stride;
  }
  return stretch.blocks;
}

// What codes a stretch in one packing. Several encoders: the last can what the others can.
template <typename Parameters>
struct Coder {
  std::size_t (*encode_stretch)(const Stretch<Parameters>& stretch);
  Settle<typename Parameters::Source> settle_chunk;
};

template <int kBits, typename Parameters, typename... Encoders>
constexpr Coder<Parameters> coder_of() {
  if constexpr (sizeof...(Encoders) == 0) {
    return {encode_stretch<kBits, Parameters>, nullptr};
  } else {
    using Last = std::tuple_element_t<sizeof...(Encoders) - 1, std::tuple<Encoders...>>;
    return {encode_stretch<kBits, Parameters, Encoders...>, settle<kBits, Last, typename Parameters::Source>};
  }
}

template <typename Parameters>
Coder<Parameters> coder_for(CodePacking packing, const Coder<Parameters> (&coders)[3]) {
  return coders[packing.base3 ? 0 : packing.bits == 4 ? 1 : packing.bits == 8 ? 2 : 0];
}

// Scales of some blocks are found before the first of them is coded: a scale is long in coming, and blocks
// needn't wait for each other's. Few enough that their values stay in the cache.
constexpr std::size_t kMostTogether = 16;
constexpr std::size_t kElementsTogether = 1024;

template <typename Parameters>
std::size_t encode_run(const std::uint8_t* x, const BlockRun& run, const Parameters& parameters,
                       AutomaticScales automatic, CodePacking packing, PackedBlocks<std::uint8_t> codes,
                       const Coder<Parameters>& coder) {
  const std::size_t fitting = kElementsTogether / std::max<std::size_t>(run.count, 1);
  const std::size_t together = std::clamp<std::size_t>(fitting, 1, kMostTogether);
  ScaledBlock scaled[kMostTogether];
  for (std::size_t first = 0; first < run.blocks; first += together) {
    const std::size_t some = std::min(together, run.blocks - first);
    const std::size_t sound = find_scales(x, run, first, some, parameters, automatic, scaled);
    const std::size_t coded = coder.encode_stretch({&parameters, x, run.count, run.heads, first, sound,
                                                    scaled, automatic, packing, codes, coder.settle_chunk});
    if (coded < some) return first + coded;
    x += some * run.count * sizeof(float);
  }
  return run.blocks;
}

template <int kBits, bool kSigned>
constexpr Coder<AffineParameters> affine_coder_of() {
  return coder_of<kBits, AffineParameters, AffineEncoder<kBits, kSigned, false>,
                  AffineEncoder<kBits, kSigned, true>>();
}

template <bool kSigned>
Coder<AffineParameters> affine_coder(CodePacking packing) {
  static constexpr Coder<AffineParameters> kCoders[] = {
      affine_coder_of<0, kSigned>(), affine_coder_of<4, kSigned>(), affine_coder_of<8, kSigned>()};
  return coder_for(packing, kCoders);
}

// `Encoder`: none or one.
template <typename... Encoder>
Coder<TableParameters> table_coder_by(CodePacking packing) {
  static constexpr Coder<TableParameters> kCoders[] = {coder_of<0, TableParameters, Encoder...>(),
                                                       coder_of<4, TableParameters, Encoder...>(),
                                                       coder_of<8, TableParameters, Encoder...>()};
  return coder_for(packing, kCoders);
}

Coder<TableParameters> table_coder(const CodeTable& table, CodePacking packing) {
  switch (table.shape) {
    case TableShape::kCells:
      return table.is_ordered ? table_coder_by<CellEncoder<true>>(packing)
                              : table_coder_by<CellEncoder<false>>(packing);
    case TableShape::kFew:
      return table_coder_by<FewEncoder>(packing);
    case TableShape::kE4M3:
      return table_coder_by<SmallFloatEncoder<E4M3>>(packing);
    case TableShape::kE3M2:
      return table_coder_by<SmallFloatEncoder<E3M2>>(packing);
    case TableShape::kNone:
      break;
  }
  return table_coder_by<>(packing);
}

}  // namespace

std::size_t encode_affine_blocks(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                                 AutomaticScales automatic, PackedBlocks<std::uint8_t> codes) {
  const CodePacking packing = {affine.bits, false};
  return encode_run(x, run, AffineParameters(affine), automatic, packing, codes,
                    affine.is_signed ? affine_coder<true>(packing) : affine_coder<false>(packing));
}

std::size_t encode_table_blocks(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                                AutomaticScales automatic, CodePacking packing,
                                PackedBlocks<std::uint8_t> codes) {
  return encode_run(x, run, TableParameters(table), automatic, packing, codes, table_coder(table, packing));
}

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();
