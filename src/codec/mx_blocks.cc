// OCP Microscaling: 32 small floats or 8-bit integers under one power of two. Codes come from the kernels of
// QuantizeLinear with a block as a row: a power of two divides exactly, so that their float32 division rounds
// nowhere but to the element.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "codec/block_coder.h"
#include "halftone/small_floats.h"
#include "numeric/code_packing.h"
#include "numeric/kernel_set.h"

namespace halftone::codec {
namespace {

using numeric::CodeKernels;
using numeric::CodeStorage;
using numeric::RowGrid;

constexpr std::size_t kBlock = 32;
constexpr std::size_t kAtOnce = 64;  // blocks whose codes wait to be packed
constexpr int kScaleBias = 127;
constexpr int kLargestScaleCode = 254;
constexpr int kInt8Largest = 127;
constexpr float kInt8Step = 1.0F / 64.0F;  // what a code of MXINT8 counts

struct Element {
  numeric::RowKernels kernels;
  std::size_t bits;
  float largest;
  float step;  // of the scale, what codes count
};

numeric::RowKernels rows_of(CodeStorage storage) {
  const CodeKernels& kernels = numeric::simd_code_kernels().by_storage[static_cast<std::size_t>(storage)];
  return {kernels.quantize_rows, kernels.dequantize_rows};
}

Element element_of(BlockFormat format) {
  const numeric::CodeKernelSet& kernels = numeric::simd_code_kernels();
  switch (format) {
    case BlockFormat::kMxfp4:
      return {rows_of(CodeStorage::kE2M1), 4, 6.0F, 1.0F};
    case BlockFormat::kMxfp6E3M2:
      return {kernels.float6e3m2, 6, 28.0F, 1.0F};
    case BlockFormat::kMxfp6E2M3:
      return {kernels.float6e2m3, 6, 7.5F, 1.0F};
    case BlockFormat::kMxfp8E4M3:
      return {rows_of(CodeStorage::kE4M3Fn), 8, 448.0F, 1.0F};
    case BlockFormat::kMxfp8E5M2:
      return {rows_of(CodeStorage::kE5M2), 8, 57344.0F, 1.0F};
    default:
      return {rows_of(CodeStorage::kS8), 8, kInt8Step * kInt8Largest, kInt8Step};
  }
}

// The scale's exponent. ModelOpt takes the logarithm in float32; this is the exact one, so results differ
// only where that rounds across an integer.
int scale_exponent(float amax, float largest_element, MxScaleRule rule) {
  const int floor_of_largest = std::ilogb(largest_element);
  const int floor = std::ilogb(amax) - floor_of_largest;
  if (rule == MxScaleRule::kFloor) return floor;
  const bool fits = std::ldexp(static_cast<double>(largest_element), floor) >= static_cast<double>(amax);
  return fits ? floor : floor + 1;
}

// The scale byte of a block; that of NaN where a value isn't finite.
std::uint8_t scale_code(const std::uint8_t* x, std::size_t count, float largest_element, MxScaleRule rule) {
  const std::int32_t bits = numeric::simd_statistic_kernels().range(x, count).magnitude_bits;
  if (bits >= numeric::kInfinityBits) return kFloat8E8M0Nan;
  if (bits == 0) return 0;
  float amax = 0.0F;
  std::memcpy(&amax, &bits, sizeof(amax));
  const int code = scale_exponent(amax, largest_element, rule) + kScaleBias;
  return static_cast<std::uint8_t>(std::clamp(code, 0, kLargestScaleCode));
}

// The kernels give a quotient of 0 no sign; here every element has that of its value.
void put_signs(const std::uint8_t* x, std::size_t count, std::size_t bits, std::uint8_t* codes) {
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned sign = static_cast<unsigned>(x[i * sizeof(float) + 3]) >> 7U;
    codes[i] = static_cast<std::uint8_t>(codes[i] | sign << (bits - 1));
  }
}

using Waiting = std::array<std::uint8_t, kAtOnce * kBlock>;

// Up to kAtOnce blocks of `length` elements.
void encode_some(const Element& element, const std::uint8_t* x, std::size_t blocks, std::size_t length,
                 MxScaleRule rule, std::uint8_t* codes, std::uint8_t* scales) {
  std::array<float, kAtOnce> steps = {};
  for (std::size_t block = 0; block < blocks; ++block) {
    scales[block] = scale_code(x + block * length * sizeof(float), length, element.largest, rule);
    const bool is_nan = scales[block] == kFloat8E8M0Nan;
    steps[block] = is_nan ? 1.0F : float8e8m0_value(scales[block]) * element.step;
  }
  Waiting waiting;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::uint8_t* bytes = element.bits == 8 ? codes : waiting.data();
  const RowGrid grid = {steps.data(), nullptr, -kInt8Largest, kInt8Largest};
  element.kernels.quantize_rows(x, blocks, length, grid, bytes);
  if (element.bits < 8) put_signs(x, blocks * length, element.bits, bytes);
  for (std::size_t block = 0; block < blocks; ++block) {
    if (scales[block] == kFloat8E8M0Nan) std::memset(bytes + block * length, 0, length);
  }
  if (element.bits == 8) return;
  if (element.bits == 4) return numeric::simd_code_kernels().pack_nibbles(bytes, blocks * length, codes);
  numeric::pack_codes(bytes, blocks * length, {6, false}, codes);
}

void decode_some(const Element& element, const std::uint8_t* codes, const std::uint8_t* scales,
                 std::size_t blocks, std::size_t length, std::uint8_t* y) {
  std::array<float, kAtOnce> steps = {};
  for (std::size_t block = 0; block < blocks; ++block)
    steps[block] = float8e8m0_value(scales[block]) * element.step;
  Waiting waiting;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  if (element.bits == 4) {
    numeric::simd_code_kernels().unpack_nibbles(codes, blocks * length, false, waiting.data());
  } else if (element.bits == 6) {
    numeric::unpack_codes(codes, blocks * length, {6, false}, waiting.data());
  }
  const RowGrid grid = {steps.data(), nullptr, -kInt8Largest, kInt8Largest};
  element.kernels.dequantize_rows(element.bits == 8 ? codes : waiting.data(), blocks, length, grid, y);
  // Infinity times NaN is NaN, which the kernels, whose scales are finite, don't look at.
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t block = 0; block < blocks; ++block) {
    if (scales[block] != kFloat8E8M0Nan) continue;
    for (std::size_t i = block * length; i < (block + 1) * length; ++i)
      std::memcpy(y + i * sizeof(kNan), &kNan, sizeof(kNan));
  }
}

void encode_run(const std::uint8_t* x, std::size_t blocks, std::uint8_t* codes, std::uint8_t* scales,
                const BlockCoding& coding) {
  const Element element = element_of(coding.format);
  for (std::size_t first = 0; first < blocks; first += kAtOnce) {
    encode_some(element, x + first * kBlock * sizeof(float), std::min(kAtOnce, blocks - first), kBlock,
                coding.mx_scale, codes + first * kBlock * element.bits / 8, scales + first);
  }
}

void decode_run(const std::uint8_t* codes, const std::uint8_t* scales, std::size_t blocks, std::uint8_t* y,
                const BlockCoding& coding) {
  const Element element = element_of(coding.format);
  for (std::size_t first = 0; first < blocks; first += kAtOnce) {
    decode_some(element, codes + first * kBlock * element.bits / 8, scales + first,
                std::min(kAtOnce, blocks - first), kBlock, y + first * kBlock * sizeof(float));
  }
}

BlockFault encode(std::span<const float> x, std::uint8_t* codes, std::uint8_t* scales,
                  const BlockCoding& coding) {
  encode_some(element_of(coding.format), reinterpret_cast<const std::uint8_t*>(x.data()), 1, x.size(),
              coding.mx_scale, codes, scales);
  return BlockFault::kNone;
}

void decode(const std::uint8_t* codes, const std::uint8_t* scales, std::span<float> y,
            const BlockCoding& coding) {
  decode_some(element_of(coding.format), codes, scales, 1, y.size(),
              reinterpret_cast<std::uint8_t*>(y.data()));
}

}  // namespace

BlockCoder mx_coder(BlockFormat /*format*/) { return {encode, decode, encode_run, decode_run}; }

}  // namespace halftone::codec
