// Blocks of OCP Microscaling, many at once and by themselves, against the definition: a power of two, and the
// element nearest to the exact quotient.
#include <algorithm>
#include <bit>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "codec/block_cases.h"
#include "halftone/small_floats.h"

namespace halftone::test {
namespace {

constexpr std::size_t kBlock = 32;

struct MxCase {
  BlockFormat format;
  std::optional<SmallFloat> element;  // nullopt: int8
  unsigned bits;
};

const MxCase kCases[] = {
    {BlockFormat::kMxfp4, SmallFloat::kFloat4E2M1, 4},
    {BlockFormat::kMxfp6E3M2, SmallFloat::kFloat6E3M2, 6},
    {BlockFormat::kMxfp6E2M3, SmallFloat::kFloat6E2M3, 6},
    {BlockFormat::kMxfp8E4M3, SmallFloat::kFloat8E4M3Fn, 8},
    {BlockFormat::kMxfp8E5M2, SmallFloat::kFloat8E5M2, 8},
    {BlockFormat::kMxint8, std::nullopt, 8},
};

double largest_of(const MxCase& mx) {
  return mx.element ? static_cast<double>(small_float_info(*mx.element).largest_value) : 127.0 / 64.0;
}

std::uint8_t defined_scale(const MxCase& mx, std::span<const float> x, MxScaleRule rule) {
  double amax = 0.0;
  for (const float v : x) {
    if (!std::isfinite(v)) return kFloat8E8M0Nan;
    amax = std::max(amax, std::fabs(static_cast<double>(v)));
  }
  if (amax == 0.0) return 0;
  int exponent = std::ilogb(amax) - std::ilogb(largest_of(mx));
  if (rule == MxScaleRule::kModeloptCeil && std::ldexp(largest_of(mx), exponent) < amax) ++exponent;
  return static_cast<std::uint8_t>(std::clamp(exponent + 127, 0, 254));
}

unsigned defined_code(const MxCase& mx, float x, int exponent) {
  const double quotient = std::ldexp(static_cast<double>(x), -exponent);
  if (mx.element) return small_float_code(*mx.element, quotient);
  const double code = std::clamp(std::nearbyint(quotient * 64.0), -127.0, 127.0);
  return static_cast<unsigned>(static_cast<int>(code)) & 0xFFU;
}

// Values that are hard for a block whose largest magnitude is near 2^top: ties of elements and their
// neighbours, zeros of both signs, denormals, what is far below.
std::vector<float> hard_block(const MxCase& mx, int top, std::size_t count, std::mt19937& random) {
  std::vector<float> x(count);
  for (float& v : x) {
    const double sign = random() % 2 == 0 ? 1.0 : -1.0;
    const int below = static_cast<int>(random() % 12);
    switch (random() % 6) {
      case 0:
        v = static_cast<float>(sign * 0.0);
        break;
      case 1:
        v = std::bit_cast<float>(static_cast<std::uint32_t>(random() & 0x807FFFFFU));
        break;
      case 2:
        v = static_cast<float>(
            std::ldexp(sign * (1.0 + static_cast<double>(random() % 64) / 32.0), top - below));
        break;
      case 3:
        v = std::nextafter(static_cast<float>(std::ldexp(
                               sign * (1.0 + static_cast<double>(random() % 32) / 16.0), top - below)),
                           random() % 2 == 0 ? 1e38F : -1e38F);
        break;
      case 4:
        v = static_cast<float>(std::ldexp(sign * static_cast<double>(random()) / 4294967296.0, top + 1));
        break;
      default:
        v = static_cast<float>(std::ldexp(sign * largest_of(mx), top - below));
    }
    if (!std::isfinite(v)) v = std::copysign(std::numeric_limits<float>::max(), v);
  }
  return x;
}

StoredBlocks defined_blocks(const MxCase& mx, std::span<const float> x, MxScaleRule rule) {
  StoredBlocks stored;
  for (std::size_t first = 0; first < x.size(); first += kBlock) {
    const auto block = x.subspan(first, std::min(kBlock, x.size() - first));
    const std::uint8_t scale = defined_scale(mx, block, rule);
    stored.scales.push_back(scale);
    const std::size_t begin = stored.codes.size();
    stored.codes.resize(begin + (block.size() * mx.bits + 7) / 8);
    for (std::size_t i = 0; i < block.size() && scale != kFloat8E8M0Nan; ++i) {
      const unsigned code = defined_code(mx, block[i], static_cast<int>(scale) - 127);
      for (unsigned bit = 0; bit < mx.bits; ++bit) {
        const std::size_t at = i * mx.bits + bit;
        auto& byte = stored.codes[begin + at / 8];
        byte = static_cast<std::uint8_t>(byte | ((code >> bit) & 1U) << at % 8);
      }
    }
  }
  return stored;
}

// At an odd address, as files have it.
std::vector<std::uint8_t> odd_bytes(std::span<const float> x) {
  std::vector<std::uint8_t> bytes(x.size() * sizeof(float) + 1);
  if (!x.empty()) std::memcpy(bytes.data() + 1, x.data(), x.size() * sizeof(float));
  return bytes;
}

StoredBlocks stored_by(const BlockCoding& coding, std::span<const float> x) {
  StoredBlocks stored = empty_blocks(coding, x.size());
  std::fill(stored.codes.begin(), stored.codes.end(), std::uint8_t{0xA5});
  const std::vector<std::uint8_t> bytes = odd_bytes(x);
  const auto view = FloatView::from_bytes(std::span(bytes).subspan(1));
  REQUIRE(view.ok());
  REQUIRE(encode_blocks(coding, view.value(), stored.codes, stored.scales).ok());
  return stored;
}

}  // namespace

TEST_CASE("Blocks of every MX format are the definition's, many at once and one by one", "[codec][mx]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const MxCase& mx : kCases) {
    for (const MxScaleRule rule : {MxScaleRule::kFloor, MxScaleRule::kModeloptCeil}) {
      INFO(block_format_info(mx.format).name << (rule == MxScaleRule::kFloor ? "" : ", scales as ModelOpt"));
      std::vector<float> x;
      for (int block = 0; block < 300; ++block) {
        // All exponents of float32 in turn, and a short block at the end.
        const int top = block < 280 ? block - 150 : 0;
        const std::size_t count = block == 299 ? 7 : kBlock;
        std::vector<float> some = hard_block(mx, std::min(top, 127), count, random);
        if (block % 37 == 5) some[random() % count] = std::numeric_limits<float>::infinity();
        if (block % 41 == 7) some[random() % count] = -std::numeric_limits<float>::quiet_NaN();
        if (block % 43 == 9) std::fill(some.begin(), some.end(), block % 2 == 0 ? -0.0F : 0.0F);
        x.insert(x.end(), some.begin(), some.end());
      }
      BlockCoding coding;
      coding.format = mx.format;
      coding.mx_scale = rule;
      const StoredBlocks wanted = defined_blocks(mx, x, rule);
      const StoredBlocks got = stored_by(coding, x);
      CHECK(got.scales == wanted.scales);
      CHECK(got.codes == wanted.codes);
      for (std::size_t first = 0; first < x.size(); first += kBlock) {
        const auto block = std::span<const float>(x).subspan(first, std::min(kBlock, x.size() - first));
        const StoredBlocks alone = stored_by(coding, block);
        REQUIRE(alone.scales[0] == wanted.scales[first / kBlock]);
        REQUIRE(std::equal(alone.codes.begin(), alone.codes.end(),
                           wanted.codes.begin() + static_cast<std::ptrdiff_t>(first * mx.bits / 8)));
      }
    }
  }
}

TEST_CASE("Any bytes are MX blocks, and decode to element times scale", "[codec][mx]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const MxCase& mx : kCases) {
    INFO(block_format_info(mx.format).name);
    BlockCoding coding;
    coding.format = mx.format;
    constexpr std::size_t kCount = 256 * kBlock + 5;
    auto [codes, scales] = empty_blocks(coding, kCount);
    for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(random());
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<std::uint8_t>(i);
    // Every code under the scale that is NaN, too.
    for (std::size_t i = 4; i < 12; ++i) scales[i] = kFloat8E8M0Nan;
    for (std::size_t i = 0; i < 256; ++i) codes[4 * kBlock * mx.bits / 8 + i] = static_cast<std::uint8_t>(i);
    std::vector<std::uint8_t> bytes(kCount * sizeof(float) + 1);
    const auto view = MutableFloatView::from_bytes(std::span(bytes).subspan(1));
    REQUIRE(view.ok());
    REQUIRE(decode_blocks(coding, codes, scales, view.value()).ok());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::size_t at = i * mx.bits;
      unsigned word = codes[at / 8];
      if (at / 8 + 1 < codes.size()) word |= static_cast<unsigned>(codes[at / 8 + 1]) << 8U;
      const unsigned code = word >> at % 8 & ((1U << mx.bits) - 1U);
      const float element = mx.element ? small_float_values(*mx.element)[code]
                                       : static_cast<float>(static_cast<std::int8_t>(code)) / 64.0F;
      const float wanted = element * float8e8m0_value(scales[i / kBlock]);
      float got = 0.0F;
      std::memcpy(&got, bytes.data() + 1 + i * sizeof(float), sizeof(got));
      const bool same = std::isnan(wanted)
                            ? std::isnan(got)
                            : std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(wanted);
      wrong += same ? 0U : 1U;
    }
    CHECK(wrong == 0);
  }
}

}  // namespace halftone::test
