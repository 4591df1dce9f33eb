// Finds the scales that values were made with. A largest scale of 63 or -128 leaves few candidates for d: the
// difference of two values, or a value, is d times that times a code; and d has to be a float16.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "codec/superblock.h"
#include "halftone/small_floats.h"

namespace halftone::codec {
namespace {

bool is_half(double x) { return static_cast<double>(float16_value(float16_bits(x))) == x; }

// ---- Q6: values are exact products

// The scale of largest magnitude that leaves codes in range, the negative one first; false if there is none.
bool recognize_sub_block(const std::array<int, SuperblockQ6::kSubBlock>& multiples, std::size_t sub,
                         SuperblockQ6& block) {
  const auto fits = [&](int sc) {
    return std::all_of(multiples.begin(), multiples.end(), [sc](int n) {
      return n % sc == 0 && n / sc >= SuperblockQ6::kLowestCode && n / sc <= SuperblockQ6::kHighestCode;
    });
  };
  int found = 0;
  const bool zero = std::all_of(multiples.begin(), multiples.end(), [](int n) { return n == 0; });
  for (int magnitude = zero ? 0 : 128; magnitude > 0 && found == 0; --magnitude) {
    if (fits(-magnitude)) {
      found = -magnitude;
    } else if (magnitude <= SuperblockQ6::kHighestScale && fits(magnitude)) {
      found = magnitude;
    }
  }
  if (found == 0 && !zero) return false;
  block.sc[sub] = static_cast<std::int8_t>(found);
  for (std::size_t i = 0; i < multiples.size(); ++i) {
    block.q[sub * SuperblockQ6::kSubBlock + i] =
        static_cast<std::int8_t>(found == 0 ? 0 : multiples[i] / found);
  }
  return true;
}

std::optional<SuperblockQ6> recognized_with(std::span<const float> x, double d) {
  constexpr double kLargestMultiple = 128.0 * 32.0;
  SuperblockQ6 block;
  block.d = static_cast<float>(d);
  for (std::size_t sub = 0; sub < SuperblockQ6::kSubBlocks; ++sub) {
    std::array<int, SuperblockQ6::kSubBlock> multiples = {};
    for (std::size_t i = 0; i < multiples.size(); ++i) {
      const double value = static_cast<double>(x[sub * SuperblockQ6::kSubBlock + i]);
      const double multiple = std::nearbyint(value / d);
      if (std::fabs(multiple) > kLargestMultiple || multiple * d != value) return std::nullopt;
      multiples[i] = static_cast<int>(multiple);
    }
    if (!recognize_sub_block(multiples, sub, block)) return std::nullopt;
  }
  const bool has_largest =
      std::find(block.sc.begin(), block.sc.end(), SuperblockQ6::kLowestScale) != block.sc.end();
  return has_largest ? std::optional(block) : std::nullopt;
}

}  // namespace

std::optional<SuperblockQ6> recognized_q6(std::span<const float> x) {
  if (std::all_of(x.begin(), x.end(), [](float v) { return v == 0.0F; })) return SuperblockQ6{};
  for (std::size_t sub = 0; sub < SuperblockQ6::kSubBlocks; ++sub) {
    double largest = 0.0;
    for (const float v : x.subspan(sub * SuperblockQ6::kSubBlock, SuperblockQ6::kSubBlock)) {
      largest = std::max(largest, std::fabs(static_cast<double>(v)));
    }
    for (int code = 1; code <= -SuperblockQ6::kLowestCode && largest > 0.0; ++code) {
      const double unit = -double{SuperblockQ6::kLowestScale} * code;
      const double d = largest / unit;
      if (d * unit != largest || !is_half(d)) continue;
      for (const double signed_d : {d, -d}) {
        if (std::optional<SuperblockQ6> block = recognized_with(x, signed_d)) return block;
      }
    }
  }
  return std::nullopt;
}

namespace {

// ---- Q4: each value is a difference, rounded once to float32

constexpr double kRounding = 1.0 / (1 << 24);  // relative, of one value

struct SubBlockRange {
  double lowest = 0.0;
  double highest = 0.0;
  [[nodiscard]] double width() const { return highest - lowest; }
  // How far width() may be from a multiple of the step.
  [[nodiscard]] double tolerance() const { return kRounding * (std::fabs(lowest) + std::fabs(highest)); }
};

using Ranges = std::array<SubBlockRange, SuperblockQ4::kSubBlocks>;

// float16 values near `target`, at most `tolerance` away; 0 if there is none.
double half_near(double target, double tolerance) {
  const double half = static_cast<double>(float16_value(float16_bits(target)));
  return std::fabs(half - target) <= tolerance && std::isfinite(half) ? half : 0.0;
}

std::vector<double> candidates_for_d(const Ranges& ranges) {
  std::vector<double> candidates;
  for (const SubBlockRange& range : ranges) {
    // Of a sub-block with but one value, the value itself is a multiple where there is no offset.
    const double width = range.width() > 0.0 ? range.width() : range.highest;
    if (width <= 0.0) continue;
    for (int codes = 1; codes <= SuperblockQ4::kLargestCode; ++codes) {
      const double unit = double{SuperblockQ4::kLargestScale} * codes;
      const double d = half_near(width / unit, range.tolerance() / unit);
      if (d > 0.0) candidates.push_back(d);
    }
  }
  return candidates;
}

// Scales with which the width of a sub-block is a whole number of steps.
std::vector<int> scales_for(const SubBlockRange& range, double d) {
  std::vector<int> scales;
  for (int sc = SuperblockQ4::kLargestScale; sc > 0; --sc) {
    const double step = d * sc;
    const double codes = std::nearbyint(range.width() / step);
    if (codes <= SuperblockQ4::kLargestCode && std::fabs(codes * step - range.width()) <= range.tolerance()) {
      scales.push_back(sc);
    }
  }
  if (range.width() == 0.0) scales.push_back(0);
  return scales;
}

using ScaleLists = std::array<std::vector<int>, SuperblockQ4::kSubBlocks>;

std::vector<double> candidates_for_dmin(const Ranges& ranges, const ScaleLists& scales, double d) {
  std::vector<double> candidates = {0.0};
  for (std::size_t sub = 0; sub < ranges.size(); ++sub) {
    for (const int sc : scales[sub]) {
      for (int code = 0; code <= SuperblockQ4::kLargestCode; ++code) {
        const double offset = d * sc * code - ranges[sub].lowest;
        if (offset <= 0.0) continue;
        const double tolerance = kRounding * std::fabs(ranges[sub].lowest);
        const double dmin =
            half_near(offset / SuperblockQ4::kLargestScale, tolerance / SuperblockQ4::kLargestScale);
        if (dmin > 0.0) candidates.push_back(dmin);
      }
    }
  }
  std::sort(candidates.begin() + 1, candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

// Codes of one sub-block with these scales, if they give exactly its values.
bool codes_fit(std::span<const float> x, std::size_t sub, SuperblockQ4& block) {
  const double step = static_cast<double>(block.d) * block.sc[sub];
  const double offset = static_cast<double>(block.dmin) * block.m[sub];
  for (std::size_t i = sub * SuperblockQ4::kSubBlock; i < (sub + 1) * SuperblockQ4::kSubBlock; ++i) {
    const double q = step > 0.0 ? std::nearbyint((static_cast<double>(x[i]) + offset) / step) : 0.0;
    if (!(q >= 0.0 && q <= SuperblockQ4::kLargestCode)) return false;
    block.q[i] = static_cast<std::uint8_t>(q);
    if (block.value(i) != x[i]) return false;
  }
  return true;
}

bool sub_block_fits(std::span<const float> x, std::size_t sub, std::span<const int> scales,
                    SuperblockQ4& block) {
  const int largest_m = block.dmin > 0.0F ? SuperblockQ4::kLargestScale : 0;
  for (const int sc : scales) {
    for (int m = 0; m <= largest_m; ++m) {
      block.sc[sub] = static_cast<std::uint8_t>(sc);
      block.m[sub] = static_cast<std::uint8_t>(m);
      if (codes_fit(x, sub, block)) return true;
    }
  }
  return false;
}

std::optional<SuperblockQ4> recognized_with(std::span<const float> x, const Ranges& ranges, double d) {
  ScaleLists scales;
  for (std::size_t sub = 0; sub < ranges.size(); ++sub) {
    scales[sub] = d > 0.0 ? scales_for(ranges[sub], d) : std::vector<int>{0};
    if (scales[sub].empty()) return std::nullopt;
  }
  for (const double dmin : candidates_for_dmin(ranges, scales, d)) {
    SuperblockQ4 block;
    block.d = static_cast<float>(d);
    block.dmin = static_cast<float>(dmin);
    bool all = true;
    for (std::size_t sub = 0; sub < ranges.size() && all; ++sub) {
      all = sub_block_fits(x, sub, scales[sub], block);
    }
    if (all) return block;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SuperblockQ4> recognized_q4(std::span<const float> x) {
  Ranges ranges;
  for (std::size_t sub = 0; sub < ranges.size(); ++sub) {
    const auto part = x.subspan(sub * SuperblockQ4::kSubBlock, SuperblockQ4::kSubBlock);
    const auto [low, high] = std::minmax_element(part.begin(), part.end());
    ranges[sub] = {static_cast<double>(*low), static_cast<double>(*high)};
  }
  for (const double d : candidates_for_d(ranges)) {
    if (std::optional<SuperblockQ4> block = recognized_with(x, ranges, d)) return block;
  }
  // No steps at all: every sub-block is one offset.
  const auto constant = [](const SubBlockRange& range) { return range.width() == 0.0; };
  if (!std::all_of(ranges.begin(), ranges.end(), constant)) return std::nullopt;
  return recognized_with(x, ranges, 0.0);
}

}  // namespace halftone::codec
