#include "numeric/kernel_cases.h"

// Before Highway's headers: the same choice as where the kernels are compiled.
#include "numeric/simd_targets.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace halftone::kernel_cases {

std::vector<std::size_t> lengths() {
  std::set<std::size_t> all = {0, 1, 2, 3, 7919};
  for (const std::size_t n : {4U, 8U, 16U, 32U, 64U}) {
    for (const std::size_t length : {n - 1, n, n + 1, 2 * n - 1, 2 * n, 2 * n + 1, 3 * n + 2})
      all.insert(length);
  }
  return {all.begin(), all.end()};
}

std::vector<NumberFormat> quantize_formats() {
  std::vector<NumberFormat> formats;
  for (const NumberFormatInfo& info : number_formats()) {
    if (is_quantize_format(info.format)) formats.push_back(info.format);
  }
  return formats;
}

std::vector<NumberFormat> integer_formats() {
  std::vector<NumberFormat> formats = quantize_formats();
  std::erase_if(formats,
                [](NumberFormat format) { return number_format_info(format).kind != FormatKind::kInteger; });
  return formats;
}

namespace {

double unit(std::mt19937& random) { return static_cast<double>(random() & 0xFFFFFFU) / 16777216.0; }

std::size_t below(std::mt19937& random, std::size_t limit) { return random() % limit; }

// A value in steps of an integer format: ties, and both ends.
double hard_code(const NumberFormatInfo& info, std::size_t kind, std::mt19937& random) {
  const double span = static_cast<double>(info.highest) - info.lowest + 9.0;
  const double code = info.lowest - 4.0 + unit(random) * span;
  if (kind <= 3) return std::floor(code) + 0.5;
  if (kind == 4) return info.lowest - 1.0 + 0.5 * static_cast<double>(below(random, 5));
  if (kind == 5) return info.highest - 1.0 + 0.5 * static_cast<double>(below(random, 5));
  return code;
}

// A value of a small float, a midpoint of two, or anything up to beyond the saturation; either sign.
double hard_small_float(SmallFloat type, std::size_t kind, std::mt19937& random) {
  const SmallFloatInfo& info = small_float_info(type);
  const double sign = below(random, 2) == 0 ? 1.0 : -1.0;
  const double highest = std::log2(static_cast<double>(info.largest_value)) + 1.0;
  const double lowest = -info.exponent_bias - info.mantissa_bits - 1.0;
  if (kind >= 6) return sign * std::exp2(lowest + unit(random) * (highest - lowest));
  // Up to the value that would follow the largest.
  const auto code = static_cast<int>(below(random, info.largest + 2U));
  const int per_exponent = 1 << info.mantissa_bits;
  const int exponent = std::max(code / per_exponent, 1);
  const double steps = code - per_exponent * (exponent - 1);
  return sign *
         std::ldexp(kind <= 3 ? steps + 0.5 : steps, exponent - info.exponent_bias - info.mantissa_bits);
}

}  // namespace

Grain random_grain(NumberFormat format, std::mt19937& random) {
  constexpr float kFixed[] = {1.0F, 0.1F, 0.007F, 1e-40F, 3e38F, std::numeric_limits<float>::min(), 0.25F};
  const NumberFormatInfo& info = number_format_info(format);
  const std::int64_t codes = std::int64_t{info.highest} - info.lowest + 1;
  Grain grain = {};
  grain.scale = below(random, 4) == 0 ? kFixed[below(random, std::size(kFixed))]
                                      : static_cast<float>(std::exp2(unit(random) * 24.0 - 16.0));
  grain.zero_point = info.lowest + static_cast<std::int32_t>(below(random, static_cast<std::size_t>(codes)));
  if (below(random, 4) == 0) grain.zero_point = below(random, 2) == 0 ? info.lowest : info.highest;
  return grain;
}

std::vector<float> hard_values(NumberFormat format, Grain grain, std::size_t count, std::mt19937& random) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float specials[] = {0.0F,
                            -0.0F,
                            kInfinity,
                            -kInfinity,
                            nan,
                            -nan,
                            std::numeric_limits<float>::denorm_min(),
                            -1e-40F,
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::lowest(),
                            std::numeric_limits<float>::min(),
                            2147483648.0F,
                            -2147483648.0F};
  const NumberFormatInfo& info = number_format_info(format);
  std::vector<float> values;
  values.reserve(count);
  while (values.size() < count) {
    const std::size_t kind = below(random, 8);
    if (kind == 0) {
      values.push_back(specials[below(random, std::size(specials))]);
      continue;
    }
    const std::optional<SmallFloat> type = small_float_of(format);
    const double steps =
        type ? hard_small_float(*type, kind, random) : hard_code(info, kind, random) - grain.zero_point;
    auto value = static_cast<float>(steps * static_cast<double>(grain.scale));
    const std::size_t nudge = below(random, 3);
    if (nudge == 1) value = std::nextafter(value, kInfinity);
    if (nudge == 2) value = std::nextafter(value, -kInfinity);
    values.push_back(value);
  }
  return values;
}

std::vector<float> plain_values(std::size_t count, std::mt19937& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(unit(random) * 8.0 - 4.0);
  return values;
}

namespace {

std::uint8_t canary(std::size_t index) { return static_cast<std::uint8_t>(index * 37 + 11); }

}  // namespace

GuardedBytes::GuardedBytes(std::size_t bytes, std::size_t offset)
    : bytes_(bytes), offset_(offset), memory_(bytes + 2 * kGuard + offset) {
  for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = canary(i);
}

std::vector<std::uint8_t> GuardedBytes::contents() const {
  const auto from = memory_.begin() + static_cast<std::ptrdiff_t>(kGuard + offset_);
  return {from, from + static_cast<std::ptrdiff_t>(bytes_)};
}

bool GuardedBytes::intact() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const bool inside = i >= kGuard + offset_ && i < kGuard + offset_ + bytes_;
    if (!inside && memory_[i] != canary(i)) return false;
  }
  return true;
}

std::vector<std::string> for_each_instruction_set(void (*body)()) {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    body();
    names.emplace_back(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  return names;
}

}  // namespace halftone::kernel_cases
