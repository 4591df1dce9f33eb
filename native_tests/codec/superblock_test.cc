// GGUF's Q4_K and Q6_K: where the bits lie, and what the search for scales is worth.
#include "codec/superblock.h"

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "codec/block_cases.h"
#include "codec/gguf_half.h"

namespace halftone::test {
namespace {

constexpr std::size_t kSize = codec::kSuperblockSize;

double rms(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    sum += difference * difference;
  }
  return std::sqrt(sum / static_cast<double>(x.size()));
}

float half(float x) { return float16_value(float16_bits(x)); }

struct MinMax {
  std::vector<float> steps;
  std::vector<float> lowest;
};

MinMax min_max(const std::vector<float>& x) {
  MinMax found;
  for (std::size_t first = 0; first < kSize; first += 32) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
    const auto [low, high] = std::minmax_element(begin, begin + 32);
    found.lowest.push_back(*low);
    found.steps.push_back((*high - *low) / 15.0F);
  }
  return found;
}

std::vector<float> on_grid(const std::vector<float>& x, const MinMax& grid) {
  std::vector<float> y;
  for (std::size_t i = 0; i < kSize; ++i) {
    const float step = grid.steps[i / 32];
    const float lowest = grid.lowest[i / 32];
    const float q = step > 0.0F ? std::clamp(std::nearbyint((x[i] - lowest) / step), 0.0F, 15.0F) : 0.0F;
    y.push_back(q * step + lowest);
  }
  return y;
}

// Each sub-block from its minimum to its maximum, with scales of any precision: more than Q4_K can store.
std::vector<float> by_free_min_max(const std::vector<float>& x) { return on_grid(x, min_max(x)); }

// The same with the scales that Q4_K can store.
std::vector<float> by_stored_min_max(const std::vector<float>& x) {
  MinMax grid = min_max(x);
  for (std::size_t sub = 0; sub < 8; ++sub) {
    const float highest = grid.lowest[sub] + 15.0F * grid.steps[sub];
    grid.lowest[sub] = std::min(grid.lowest[sub], 0.0F);
    grid.steps[sub] = (highest - grid.lowest[sub]) / 15.0F;
  }
  const float d = half(*std::max_element(grid.steps.begin(), grid.steps.end()) / 63.0F);
  const float dmin = half(*std::min_element(grid.lowest.begin(), grid.lowest.end()) / -63.0F);
  for (float& step : grid.steps) step = d * std::min(std::nearbyint(step / d), 63.0F);
  for (float& lowest : grid.lowest) {
    lowest = dmin > 0.0F ? -dmin * std::min(std::nearbyint(lowest / -dmin), 63.0F) : 0.0F;
  }
  return on_grid(x, grid);
}

// Each sub-block of Q6_K symmetric: its extreme gets code -32. Scales as they are, or as Q6_K stores them.
std::vector<float> by_extreme(const std::vector<float>& x, bool stored) {
  std::vector<float> steps;
  for (std::size_t first = 0; first < kSize; first += 16) {
    float extreme = 0.0F;
    for (std::size_t i = first; i < first + 16; ++i) {
      if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
    }
    steps.push_back(extreme / -32.0F);
  }
  const auto by_magnitude = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
  const float d = half(*std::max_element(steps.begin(), steps.end(), by_magnitude) / -128.0F);
  std::vector<float> y;
  for (std::size_t i = 0; i < kSize; ++i) {
    float step = steps[i / 16];
    if (stored) step = d * std::clamp(std::nearbyint(step / d), -128.0F, 127.0F);
    y.push_back(step == 0.0F ? 0.0F : std::clamp(std::nearbyint(x[i] / step), -32.0F, 31.0F) * step);
  }
  return y;
}

TEST_CASE("Where Q4_K keeps scales and codes", "[codec]") {
  // d = 1, dmin = 2, sc = 9j, m = 63 - 9j: the packed bytes are ggml's.
  std::vector<std::uint8_t> bytes = bytes_of("003c00408089d2db7f762d24b42d960f");
  for (int i = 0; i < 128; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7));
  const std::vector<float> y = decoded({BlockFormat::kGgufQ4K}, {bytes, {}}, kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    const std::size_t sub = i / 32;
    const unsigned byte = bytes[16 + i / 64 * 32 + i % 32];
    const unsigned q = sub % 2 == 0 ? byte & 15U : byte >> 4U;
    INFO(i);
    CHECK(y[i] == static_cast<float>(9 * sub * q) - 2.0F * static_cast<float>(63 - 9 * sub));
  }
}

TEST_CASE("Where Q6_K keeps scales and codes", "[codec]") {
  std::mt19937 random(7);
  std::vector<std::uint8_t> bytes(210);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  bytes[208] = 0x00;
  bytes[209] = 0x38;  // 0.5
  const std::vector<float> y = decoded({BlockFormat::kGgufQ6K}, {bytes, {}}, kSize);
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t i = 0; i < 32; ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        const unsigned low = bytes[64 * half + i + 32 * (k & 1U)] >> (k < 2 ? 0U : 4U) & 15U;
        const unsigned high = bytes[128 + 32 * half + i] >> 2 * k & 3U;
        const int sc = static_cast<std::int8_t>(bytes[192 + 8 * half + 2 * k + i / 16]);
        const int q = static_cast<int>(low | high << 4U) - 32;
        CHECK(y[128 * half + 32 * k + i] == 0.5F * static_cast<float>(sc) * static_cast<float>(q));
      }
    }
  }
}

// Blocks as different as weights are: normal, uniform, skewed, with outliers, of mixed scale.
constexpr int kKinds = 5;

std::vector<float> random_block(std::mt19937& random, int kind) {
  std::vector<float> x = normal_values(random, kSize, 0.05F);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (kind == 1) x[i] = static_cast<float>(random()) / 4294967296.0F - 0.3F;
    if (kind == 2) x[i] = x[i] * x[i] * 20.0F;
    if (kind == 3 && random() % 40 == 0) x[i] *= 12.0F;
    if (kind == 4) x[i] *= std::ldexp(1.0F, static_cast<int>(i / 32) - 4);
  }
  return x;
}

double q4_error(const std::vector<float>& x) {
  return rms(x, decoded({BlockFormat::kGgufQ4K}, encoded({BlockFormat::kGgufQ4K}, x), kSize));
}

double q6_error(const std::vector<float>& x) {
  return rms(x, decoded({BlockFormat::kGgufQ6K}, encoded({BlockFormat::kGgufQ6K}, x), kSize));
}

TEST_CASE("The search for scales is no worse than plain min-max per sub-block", "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    INFO("block " << round);
    const std::vector<float> x = random_block(random, round % kKinds);
    // What is compared with is computed in float32.
    constexpr double kRounding = 1.0 + 1e-6;
    CHECK(q4_error(x) <= rms(x, by_stored_min_max(x)) * kRounding);
    CHECK(q6_error(x) <= rms(x, by_extreme(x, true)) * kRounding);
  }
}

TEST_CASE("Of even blocks, the search is no worse than min-max with scales of any precision", "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  double q4 = 0.0;
  double q4_plain = 0.0;
  double q6 = 0.0;
  double q6_plain = 0.0;
  for (int round = 0; round < 100; ++round) {
    const std::vector<float> x = random_block(random, round % 2);
    q4 += q4_error(x);
    q4_plain += rms(x, by_free_min_max(x));
    q6 += q6_error(x);
    q6_plain += rms(x, by_extreme(x, false));
  }
  CHECK(q4 <= 0.97 * q4_plain);
  CHECK(q6 <= 0.99 * q6_plain);
}

TEST_CASE("Encoding what Q4_K and Q6_K decode gives the same bytes", "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const BlockFormat format : {BlockFormat::kGgufQ4K, BlockFormat::kGgufQ6K}) {
    INFO(block_format_info(format).name);
    for (int round = 0; round < 100; ++round) {
      INFO("block " << round);
      std::vector<float> x = random_block(random, round % kKinds);
      if (round % 7 == 0) std::fill_n(x.begin() + 32, 32, -0.25F);
      if (round % 7 == 1) std::fill_n(x.begin() + 64, 32, 0.0F);
      if (round % 7 == 2) std::fill_n(x.begin() + 96, 32, 0.125F);
      const StoredBlocks first = encoded({format}, x);
      const StoredBlocks again = encoded({format}, decoded({format}, first, kSize));
      CHECK(hex(first.codes) == hex(again.codes));
    }
    for (const float value : {0.0F, 3.0F, -3.0F, 1e-7F}) {
      const std::vector<float> x(kSize, value);
      const StoredBlocks first = encoded({format}, x);
      CHECK(encoded({format}, decoded({format}, first, kSize)) == first);
    }
  }
}

TEST_CASE("Superblocks made by hand are recognized", "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    codec::SuperblockQ4 q4;
    q4.d = float16_value(static_cast<std::uint16_t>(0x2000 + random() % 0x1000));
    q4.dmin = float16_value(static_cast<std::uint16_t>(0x2000 + random() % 0x1000));
    for (std::size_t sub = 0; sub < 8; ++sub) {
      q4.sc[sub] = static_cast<std::uint8_t>(sub == 3 ? 63 : random() % 63);
      q4.m[sub] = static_cast<std::uint8_t>(sub == 5 ? 63 : random() % 63);
    }
    for (std::uint8_t& q : q4.q) q = static_cast<std::uint8_t>(random() % 16);
    codec::SuperblockQ6 q6;
    q6.d = float16_value(static_cast<std::uint16_t>(0x2000 + random() % 0x1000));
    for (std::int8_t& sc : q6.sc) sc = static_cast<std::int8_t>(random() % 256);
    q6.sc[9] = -128;
    for (std::int8_t& q : q6.q) q = static_cast<std::int8_t>(static_cast<int>(random() % 64) - 32);
    std::vector<float> x4;
    std::vector<float> x6;
    for (std::size_t i = 0; i < kSize; ++i) {
      x4.push_back(q4.value(i));
      x6.push_back(q6.value(i));
    }
    INFO("block " << round);
    CHECK(decoded({BlockFormat::kGgufQ4K}, encoded({BlockFormat::kGgufQ4K}, x4), kSize) == x4);
    CHECK(decoded({BlockFormat::kGgufQ6K}, encoded({BlockFormat::kGgufQ6K}, x6), kSize) == x6);
  }
}

}  // namespace
}  // namespace halftone::test
