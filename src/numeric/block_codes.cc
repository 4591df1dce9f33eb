#include "numeric/block_codes.h"

#include <algorithm>
#include <cstring>

namespace halftone::numeric {
namespace {

// A sum of at most 2^16, made by three roundings to double, is off by less than 2^-34. What extended
// precision makes of it is off by less still.
constexpr double kAffineGuard = 0x1p-30;

}  // namespace

std::optional<double> automatic_scale(const std::uint8_t* x, std::size_t count, double offset,
                                      CodeReach reach) {
  double scale = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0.0F;
    std::memcpy(&value, x + i * sizeof(value), sizeof(value));
    if (!std::isfinite(value)) return std::nullopt;
    const double c = static_cast<double>(value) - offset;
    if (c > 0.0 && reach.high > 0.0) scale = std::max(scale, c / reach.high);
    if (c < 0.0 && reach.low < 0.0) scale = std::max(scale, c / reach.low);
  }
  return scale == 0.0 ? 1.0 : scale;
}

// Infinities come of overflows, which extended precision doesn't have; they are limited like what is there.
std::int32_t affine_code(double value, const AffineBlock& block) {
  const double sum = (value - block.offset) / block.scale + block.zero_point;
  const double limited = std::min(std::max(sum, block.lowest), block.highest);
  const double code = std::nearbyint(limited);
  if (std::abs(limited - code) > 0.5 - kAffineGuard) return exact_affine_code<Extended>(value, block);
  return static_cast<std::int32_t>(code);
}

std::optional<std::uint8_t> table_code(double value, double scale, const CodeTable& table) {
  const double quotient = value / scale;
  if (!std::isfinite(quotient)) return std::nullopt;
  if (!(std::abs(quotient) <= table.farthest)) return exact_table_code<Extended>(quotient, table);
  const auto begin = table.midpoint.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(table.levels - 1);
  const auto above = std::lower_bound(begin, end, quotient);
  const bool near = (above != end && *above - quotient <= table.guard) ||
                    (above != begin && quotient - *(above - 1) <= table.guard);
  if (near) return exact_table_code<Extended>(quotient, table);
  return table.code[static_cast<std::size_t>(above - begin)];
}

}  // namespace halftone::numeric
