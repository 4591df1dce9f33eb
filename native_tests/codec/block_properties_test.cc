// Nearest values, bytes that come back, and streams of blocks.
#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "codec/block_cases.h"
#include "halftone/small_floats.h"

namespace halftone::test {
namespace {

// Everything that one code of a block with this scale can stand for. Scales lie outside of the codes.
std::vector<float> values_of_codes(const BlockCoding& coding, const StoredBlocks& block) {
  const BlockFormatInfo& info = block_format_info(coding.format);
  const unsigned bits = info.code_bytes * 8 / info.block_size;
  std::vector<float> values;
  for (unsigned code = 0; code < 1U << bits; ++code) {
    const bool high_first =
        info.format == BlockFormat::kBitsandbytesNf4 || info.format == BlockFormat::kBitsandbytesFp4;
    const auto byte = static_cast<std::uint8_t>(high_first ? code << 4U : code);
    const float value = decoded(coding, {{byte}, block.scales}, 1)[0];
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

TEST_CASE("Each value gets the nearest code under its block's scale", "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const BlockFormatInfo& info : block_formats()) {
    if (info.scale_bytes == 0) continue;  // GGUF rounds scales after it has chosen codes
    INFO(info.name);
    for (int round = 0; round < 20; ++round) {
      const std::vector<float> x = normal_values(random, info.block_size, std::ldexp(1.0F, round - 10));
      float amax = 0.0F;
      for (const float v : x) amax = std::max(amax, std::fabs(v));
      const BlockCoding coding = {info.format, 0, MxScaleRule::kFloor, nvfp4_tensor_scale(2.0F * amax)};
      const StoredBlocks block = encoded(coding, x);
      const std::vector<float> y = decoded(coding, block, x.size());
      const std::vector<float> values = values_of_codes(coding, block);
      for (std::size_t i = 0; i < x.size(); ++i) {
        float best = std::fabs(values[0] - x[i]);
        for (const float v : values) {
          // -128 of MXINT8 is for reading only.
          if (info.format == BlockFormat::kMxint8 && v == values[128]) continue;
          best = std::min(best, std::fabs(v - x[i]));
        }
        // Quotients and bitsandbytes' thresholds are rounded to float32, some of them to seven digits.
        const float slack = info.format <= BlockFormat::kMxint8 ? 0.0F : 1e-6F * amax;
        CHECK(std::fabs(y[i] - x[i]) <= best + slack);
      }
    }
  }
}

// Random bytes, then what makes an encoder find the scale again: see each case.
StoredBlocks random_blocks(std::mt19937& random, const BlockCoding& coding, std::size_t count) {
  StoredBlocks blocks = empty_blocks(coding, count);
  for (std::uint8_t& byte : blocks.codes) byte = static_cast<std::uint8_t>(random());
  for (std::uint8_t& byte : blocks.scales) byte = static_cast<std::uint8_t>(random());
  return blocks;
}

void put_half(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint16_t bits) {
  bytes[at] = static_cast<std::uint8_t>(bits & 0xFFU);
  bytes[at + 1] = static_cast<std::uint8_t>(bits >> 8U);
}

// The float16 bits of an ordinary positive scale.
std::uint16_t some_half(std::mt19937& random) {
  return static_cast<std::uint16_t>(0x1C00 + random() % 0x2000);
}

// A GGUF block that its encoder could have made.
void make_natural(std::mt19937& random, BlockFormat format, std::vector<std::uint8_t>& bytes) {
  put_half(bytes, 0, some_half(random));
  switch (format) {
    case BlockFormat::kGgufQ4_0:  // the extreme has code 0
    case BlockFormat::kGgufIq4Nl:
      bytes[2] &= 0xF0U;
      break;
    case BlockFormat::kGgufQ4_1:  // the lowest and the highest code are there
      put_half(bytes, 2, static_cast<std::uint16_t>(some_half(random) | 0x8000U));
      bytes[4] = 0xF0;
      break;
    case BlockFormat::kGgufQ5_0:
      bytes[2] &= 0xFEU;
      bytes[6] &= 0xF0U;
      break;
    case BlockFormat::kGgufQ5_1:
      put_half(bytes, 2, static_cast<std::uint16_t>(some_half(random) | 0x8000U));
      bytes[4] &= 0xFEU;
      bytes[6] |= 1U;
      bytes[8] = 0xF0;
      break;
    default:  // Q8_0: 127 is there, -128 isn't
      std::replace(bytes.begin() + 2, bytes.end(), std::uint8_t{0x80}, std::uint8_t{0});
      bytes[2] = 127;
  }
}

TEST_CASE("GGUF bytes that an encoder could have made come back", "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const BlockFormat format : {BlockFormat::kGgufQ4_0, BlockFormat::kGgufQ4_1, BlockFormat::kGgufQ5_0,
                                   BlockFormat::kGgufQ5_1, BlockFormat::kGgufQ8_0, BlockFormat::kGgufIq4Nl}) {
    INFO(block_format_info(format).name);
    for (int round = 0; round < 200; ++round) {
      StoredBlocks blocks = random_blocks(random, {format}, 32);
      make_natural(random, format, blocks.codes);
      const StoredBlocks again = encoded({format}, decoded({format}, blocks, 32));
      CHECK(hex(again.codes) == hex(blocks.codes));
    }
  }
}

// MX: the largest exponent occurs, and no NaN, infinity or -128. NVFP4: 6 occurs. bitsandbytes: 1 occurs.
std::uint8_t largest_code(BlockFormat format) {
  switch (format) {
    case BlockFormat::kMxfp4:
    case BlockFormat::kNvfp4:
      return 0x07;
    case BlockFormat::kMxfp6E3M2:
    case BlockFormat::kMxfp6E2M3:
      return 0x1F;
    case BlockFormat::kMxfp8E4M3:
      return 0x7E;
    case BlockFormat::kMxfp8E5M2:
      return 0x7B;
    case BlockFormat::kBitsandbytesNf4:
      return 0xF7;
    case BlockFormat::kBitsandbytesFp4:
      return 0x30;
    default:
      return 127;
  }
}

bool is_no_code(BlockFormat format, std::uint8_t code) {
  if (format == BlockFormat::kMxint8) return code == 0x80;
  if (format == BlockFormat::kMxfp8E4M3) return (code & 0x7FU) == 0x7F;
  if (format == BlockFormat::kMxfp8E5M2) return (code & 0x7FU) >= 0x7C;
  return false;
}

// Codes of -0: NVFP4 and FP4 have them, but the encoders give +0.
void remove_negative_zeros(std::vector<std::uint8_t>& codes) {
  for (std::uint8_t& byte : codes) {
    if ((byte & 0x0FU) == 0x08) byte &= 0xF0U;
    if ((byte & 0xF0U) == 0x80) byte &= 0x0FU;
  }
}

TEST_CASE("Bytes of blocks with scales apart come back", "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const BlockFormatInfo& info : block_formats()) {
    if (info.scale_bytes == 0) continue;
    INFO(info.name);
    const BlockCoding coding = {info.format, 0, MxScaleRule::kFloor, 0.0123F};
    for (int round = 0; round < 200; ++round) {
      StoredBlocks blocks = random_blocks(random, coding, info.block_size);
      for (std::uint8_t& code : blocks.codes) {
        if (is_no_code(info.format, code)) code = 0;
      }
      if (info.format == BlockFormat::kNvfp4 || info.format == BlockFormat::kBitsandbytesFp4) {
        remove_negative_zeros(blocks.codes);
      }
      blocks.codes[0] = largest_code(info.format);
      if (info.scale_bytes == 4) {
        const float absmax = std::fabs(normal_values(random, 1)[0]);
        std::memcpy(blocks.scales.data(), &absmax, sizeof(absmax));
      } else if (info.format == BlockFormat::kNvfp4) {
        blocks.scales[0] = static_cast<std::uint8_t>(1 + random() % 0x7E);
      } else {
        blocks.scales[0] = static_cast<std::uint8_t>(20 + random() % 200);
      }
      const StoredBlocks again = encoded(coding, decoded(coding, blocks, info.block_size));
      CHECK(hex(again.codes) == hex(blocks.codes));
      CHECK(hex(again.scales) == hex(blocks.scales));
    }
  }
}

TEST_CASE("A stream of blocks is stored as all at once", "[codec]") {
  std::mt19937 random(11);
  for (const BlockFormatInfo& info : block_formats()) {
    INFO(info.name);
    const BlockCoding coding = {info.format, 0, MxScaleRule::kFloor, 0.002F};
    const std::size_t size = info.block_size;
    const std::size_t count = 5 * size + (info.whole_blocks ? 0 : 7);
    const std::vector<float> x = normal_values(random, count);
    const StoredBlocks whole = encoded(coding, x);
    StoredBlocks parts;
    std::vector<float> values;
    for (std::size_t first = 0; first < count; first += 2 * size) {
      const std::size_t end = std::min(count, first + 2 * size);
      const std::vector<float> part(x.begin() + static_cast<std::ptrdiff_t>(first),
                                    x.begin() + static_cast<std::ptrdiff_t>(end));
      const StoredBlocks stored = encoded(coding, part);
      parts.codes.insert(parts.codes.end(), stored.codes.begin(), stored.codes.end());
      parts.scales.insert(parts.scales.end(), stored.scales.begin(), stored.scales.end());
      const std::vector<float> back = decoded(coding, stored, part.size());
      values.insert(values.end(), back.begin(), back.end());
    }
    CHECK(parts == whole);
    CHECK(values == decoded(coding, whole, count));
  }
}

TEST_CASE("Values and results may lie at any address", "[codec]") {
  std::mt19937 random(12);
  const std::vector<float> x = normal_values(random, 64);
  std::vector<std::uint8_t> shifted(64 * 4 + 1);
  std::memcpy(shifted.data() + 1, x.data(), 64 * 4);
  const BlockCoding coding = {BlockFormat::kGgufQ8_0};
  StoredBlocks blocks = empty_blocks(coding, 64);
  const std::span<std::uint8_t> at = std::span(shifted).subspan(1);
  REQUIRE(encode_blocks(coding, FloatView::from_bytes(at).value(), blocks.codes, blocks.scales).ok());
  CHECK(blocks == encoded(coding, x));
  REQUIRE(decode_blocks(coding, blocks.codes, blocks.scales, MutableFloatView::from_bytes(at).value()).ok());
  std::vector<float> y(64);
  std::memcpy(y.data(), at.data(), at.size());
  CHECK(y == decoded(coding, blocks, 64));
}

}  // namespace
}  // namespace halftone::test
