// Codes of blocks on vectors of any width. This file is compiled once per instruction set.
//
// Values that an encoder is in doubt about are computed again by block_codes.h, one at a time: about one in a
// thousand of ordinary ones. A block whose scale float32 can't hold comfortably is computed there as a whole.
#include "numeric/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numeric/simd_block_encoding.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

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

constexpr std::size_t kChunk = 640;  // codes packed at a time: whole steps, and whole bytes of any packing

static_assert(kChunk % kStep == 0);

float load_float(const std::uint8_t* from, std::size_t index) {
  float value = 0.0F;
  std::memcpy(&value, from + index * sizeof(value), sizeof(value));
  return value;
}

// Packs what the vector code packs fast, and leaves the rest.
void pack(const std::uint8_t* codes, std::size_t count, CodePacking packing, std::uint8_t* packed) {
  if (!packing.base3 && packing.bits == 4) return code_kernels()->pack_nibbles(codes, count, packed);
  if (!packing.base3 && packing.bits == 2) return code_kernels()->pack_quarters(codes, count, packed);
  pack_codes(codes, count, packing, packed);
}

// Codes of a step that is in doubt, of which `count` are wanted.
// Makes an encoder of its own: if this had the address of the caller's, that would have to live in memory,
// and be read again after every store.
template <typename Encoder, typename Source>
HWY_NOINLINE void settle(const Source& source, const std::uint8_t* x, std::size_t count,
                         std::uint8_t* codes) {
  HWY_ALIGN std::uint8_t marks[kStep];
  Encoder(source).step(x, codes, marks);
  for (std::size_t i = 0; i < count; ++i) {
    // A quotient is finite where an encoder is used: its scale isn't extreme for a double.
    if (marks[i] != 0) codes[i] = source.code(load_float(x, i)).value_or(0);
  }
}

// `codes` has room for whole steps.
template <typename Encoder, typename Source>
HWY_INLINE void encode_values(const Encoder& encoder, const Source& source, const std::uint8_t* x,
                              std::size_t count, std::uint8_t* codes) {
  std::size_t at = 0;
  for (; at + kStep <= count; at += kStep) {
    if (encoder.step(x + at * sizeof(float), codes + at, nullptr)) {
      settle<Encoder>(source, x + at * sizeof(float), kStep, codes + at);
    }
  }
  if (at == count) return;
  HWY_ALIGN std::uint8_t rest[kStep * sizeof(float)] = {};
  std::memcpy(rest, x + at * sizeof(float), (count - at) * sizeof(float));
  if (encoder.step(rest, codes + at, nullptr)) settle<Encoder>(source, rest, count - at, codes + at);
}

template <typename Encoder, typename Source>
HWY_INLINE void encode_block(const Source& source, const std::uint8_t* x, std::size_t count,
                             CodePacking packing, std::uint8_t* packed) {
  const Encoder encoder(source);
  if (packing.bits == 8 && !packing.base3 && count % kStep == 0) {
    return encode_values(encoder, source, x, count, packed);
  }
  HWY_ALIGN std::uint8_t codes[kChunk];
  while (count > 0) {
    const std::size_t chunk = count < kChunk ? count : kChunk;
    encode_values(encoder, source, x, chunk, codes);
    pack(codes, chunk, packing, packed);
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
    const std::size_t chunk = count < kChunk ? count : kChunk;
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

template <bool kSigned>
std::size_t encode_affine_run(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                              PackedBlocks<std::uint8_t> codes) {
  const CodePacking packing = {affine.bits, false};
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const AffineSource source = {affine_block(affine, run.scales, block)};
    std::uint8_t* packed = codes.first + block * codes.stride;
    if (source.is_ordinary()) {
      encode_block<AffineEncoder<kSigned>>(source, x, run.count, packing, packed);
    } else if (!encode_by_values(source, x, run.count, packing, packed)) {
      return block;
    }
    x += run.count * sizeof(float);
  }
  return run.blocks;
}

// `Encoder` is void where there is none.
template <typename Encoder>
std::size_t encode_table_run(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                             CodePacking packing, PackedBlocks<std::uint8_t> codes) {
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const TableSource source = {&table, block_double(run.scales, block)};
    std::uint8_t* packed = codes.first + block * codes.stride;
    bool coded = false;
    if constexpr (!std::is_void_v<Encoder>) {
      coded = source.is_ordinary();
      if (coded) encode_block<Encoder>(source, x, run.count, packing, packed);
    }
    if (!coded && !encode_by_values(source, x, run.count, packing, packed)) return block;
    x += run.count * sizeof(float);
  }
  return run.blocks;
}

// The bits of the largest positive value, and of the negative value with the largest magnitude without its
// sign; 0 if there is none. Integers have the order of the magnitudes of floats; NaN is above infinity.
struct Extremes {
  std::int32_t positive;
  std::int32_t negative;
};

HWY_INLINE Extremes extremes_of(const std::uint8_t* x, std::size_t count) {
  const hn::ScalableTag<std::uint32_t> du;
  IntVec positive = hn::Zero(IntTag());
  auto negative = hn::Zero(du);
  std::size_t at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    const IntVec bits = hn::LoadU(IntTag(), reinterpret_cast<const std::int32_t*>(x) + at);
    positive = hn::Max(positive, bits);
    negative = hn::Max(negative, hn::BitCast(du, bits));
  }
  if (at < count) {
    HWY_ALIGN std::int32_t rest[kLanes] = {};
    std::memcpy(rest, x + at * sizeof(float), (count - at) * sizeof(float));
    const IntVec bits = hn::Load(IntTag(), rest);
    positive = hn::Max(positive, bits);
    negative = hn::Max(negative, hn::BitCast(du, bits));
  }
  const std::uint32_t lowest = hn::ReduceMax(du, negative);
  return {hn::ReduceMax(IntTag(), positive),
          lowest > 0x80000000U ? static_cast<std::int32_t>(lowest & 0x7FFFFFFFU) : 0};
}

double double_of_bits(std::int32_t bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Dividing is monotone, so the largest quotient is that of the largest value.
double scale_of(Extremes extremes, CodeReach reach) {
  double scale = 0.0;
  if (reach.high > 0.0) scale = double_of_bits(extremes.positive) / reach.high;
  if (reach.low < 0.0) {
    const double below = double_of_bits(extremes.negative) / -reach.low;
    if (below > scale) scale = below;
  }
  return scale == 0.0 ? 1.0 : scale;
}

}  // namespace

std::size_t calibrate_blocks(const std::uint8_t* x, std::size_t blocks, std::size_t count, CodeReach reach,
                             std::uint8_t* scales, std::size_t stride) {
  for (std::size_t block = 0; block < blocks; ++block) {
    const Extremes extremes = extremes_of(x, count);
    if (extremes.positive >= kInfinityBits || extremes.negative >= kInfinityBits) return block;
    const double scale = scale_of(extremes, reach);
    std::memcpy(scales, &scale, sizeof(scale));
    scales += stride;
    x += count * sizeof(float);
  }
  return blocks;
}

std::size_t encode_affine_blocks(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                                 PackedBlocks<std::uint8_t> codes) {
  return affine.is_signed ? encode_affine_run<true>(x, run, affine, codes)
                          : encode_affine_run<false>(x, run, affine, codes);
}

std::size_t encode_table_blocks(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                                CodePacking packing, PackedBlocks<std::uint8_t> codes) {
  switch (table.shape) {
    case TableShape::kCells:
      return encode_table_run<CellEncoder>(x, run, table, packing, codes);
    case TableShape::kFew:
      return encode_table_run<FewEncoder>(x, run, table, packing, codes);
    case TableShape::kE4M3:
      return encode_table_run<SmallFloatEncoder<E4M3>>(x, run, table, packing, codes);
    case TableShape::kE3M2:
      return encode_table_run<SmallFloatEncoder<E3M2>>(x, run, table, packing, codes);
    case TableShape::kNone:
      break;
  }
  return encode_table_run<void>(x, run, table, packing, codes);
}

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric
HWY_AFTER_NAMESPACE();
