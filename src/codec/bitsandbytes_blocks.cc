// bitsandbytes' NF4 and FP4: a table of 16 under the block's largest magnitude, codes by comparisons with
// thresholds as in its kernels.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "codec/block_coder.h"

namespace halftone::codec {
namespace {

// Quantiles of the normal distribution, in float32.
constexpr std::array<float, 16> kNf4 = {
    -1.0F,
    -0.6961928009986877F,
    -0.5250730514526367F,
    -0.39491748809814453F,
    -0.28444138169288635F,
    -0.18477343022823334F,
    -0.09105003625154495F,
    0.0F,
    0.07958029955625534F,
    0.16093020141124725F,
    0.24611230194568634F,
    0.33791524171829224F,
    0.44070982933044434F,
    0.5626170039176941F,
    0.7229568362236023F,
    1.0F,
};

// Between neighbours: more than threshold i is code i + 1 at least.
constexpr std::array<float, 15> kNf4Thresholds = {
    -0.8480964004993439F,  -0.6106329262256622F,  -0.4599952697753906F,   -0.33967943489551544F,
    -0.23460740596055984F, -0.13791173323988914F, -0.045525018125772476F, 0.03979014977812767F,
    0.1202552504837513F,   0.2035212516784668F,   0.2920137718319893F,    0.3893125355243683F,
    0.5016634166240692F,   0.6427869200706482F,   0.8614784181118011F,
};

constexpr std::uint8_t kNf4Zero = 7;
constexpr std::uint8_t kSignBit = 8;

// Magnitudes by code. bitsandbytes' constants, rounded to float32.
constexpr std::array<float, 8> kFp4 = {0.0F, 0.005208333333F, 0.66666667F, 1.0F, 0.33333333F,
                                       0.5F, 0.16666667F,     0.25F};
// In ascending order: thresholds, and the codes between them.
constexpr std::array<float, 7> kFp4Thresholds = {0.00260417F, 0.0859375F, 0.20833333F, 0.29166667F,
                                                 0.4166667F,  0.583333F,  0.8333333F};
constexpr std::array<std::uint8_t, 8> kFp4Ascending = {0, 1, 6, 7, 4, 5, 2, 3};

template <std::size_t kCount>
std::size_t thresholds_below(const std::array<float, kCount>& thresholds, float x) {
  return static_cast<std::size_t>(std::lower_bound(thresholds.begin(), thresholds.end(), x) -
                                  thresholds.begin());
}

std::uint8_t nf4_code(float x) { return static_cast<std::uint8_t>(thresholds_below(kNf4Thresholds, x)); }

std::uint8_t fp4_code(float x) {
  const std::uint8_t magnitude = kFp4Ascending[thresholds_below(kFp4Thresholds, std::fabs(x))];
  return static_cast<std::uint8_t>(x < 0.0F ? magnitude | kSignBit : magnitude);
}

float fp4_value(std::uint8_t code) {
  const float magnitude = kFp4[code & 7U];
  return (code & kSignBit) != 0 ? -magnitude : magnitude;
}

// Multiplied by the reciprocal, as the kernels do. They give zeros of a block without other values the code
// of NaN, 0, which reads back as -0 for NF4; here zero is the code of 0. And where float32 has no reciprocal,
// of a denormal absmax, quotients are divided.
template <std::uint8_t (*kCode)(float)>
BlockFault encode(std::span<const float> x, std::uint8_t* codes, std::uint8_t* scales,
                  const BlockCoding& /*coding*/) {
  float absmax = 0.0F;
  for (const float v : x) absmax = std::max(absmax, std::fabs(v));
  std::memcpy(scales, &absmax, sizeof(absmax));
  const float inverse = 1.0F / absmax;
  const auto code_of = [&](float v) -> unsigned {
    if (absmax == 0.0F) return kCode(0.0F);
    return kCode(std::isfinite(inverse) ? v * inverse : v / absmax);
  };
  for (std::size_t i = 0; i < x.size(); i += 2) {
    const unsigned high = code_of(x[i]);
    const unsigned low = code_of(i + 1 < x.size() ? x[i + 1] : 0.0F);
    codes[i / 2] = static_cast<std::uint8_t>(high << 4U | low);
  }
  return BlockFault::kNone;
}

float nf4_value(std::uint8_t code) { return kNf4[code]; }

template <float (*kValue)(std::uint8_t)>
void decode(const std::uint8_t* codes, const std::uint8_t* scales, std::span<float> y,
            const BlockCoding& /*coding*/) {
  float absmax = 0.0F;
  std::memcpy(&absmax, scales, sizeof(absmax));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const unsigned shift = i % 2 == 0 ? 4U : 0U;
    y[i] = kValue(static_cast<std::uint8_t>(codes[i / 2] >> shift & 15U)) * absmax;
  }
}

}  // namespace

BlockCoder bitsandbytes_coder(BlockFormat format) {
  static_assert(kNf4[kNf4Zero] == 0.0F);
  if (format == BlockFormat::kBitsandbytesNf4) return {encode<nf4_code>, decode<nf4_value>};
  return {encode<fp4_code>, decode<fp4_value>};
}

}  // namespace halftone::codec
