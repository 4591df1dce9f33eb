// The search for scales: each sub-block alone, by least squares over rounded codes, then in the 6 or 8 bits
// that its scale has, trying the neighbours. Sums in double: an optimum needs no bits of a reference.
#include <algorithm>
#include <cmath>
#include <limits>

#include "codec/superblock.h"
#include "halftone/small_floats.h"

namespace halftone::codec {
namespace {

// A value of float16, or nullopt beyond it.
std::optional<float> rounded_half(double x) {
  const float half = float16_value(float16_bits(x));
  if (!std::isfinite(half)) return std::nullopt;
  return half;
}

// The nearest whole number from `lowest` to `highest`, half to even: adding 1.5 * 2^52 leaves no bits behind
// the point. A loop over this is done by vectors, unlike one over a library function.
double rounded_number(double x, int lowest, int highest) {
  constexpr double kRounder = 6755399441055744.0;
  return (std::min(std::max(x, double(lowest)), double(highest)) + kRounder) - kRounder;
}

int rounded_code(double x, int lowest, int highest) {
  return static_cast<int>(rounded_number(x, lowest, highest));
}

// 1 / x; 0 for 0, and where float64 has no such number.
double inverse_of(double x) {
  const double inverse = x != 0.0 ? 1.0 / x : 0.0;
  return std::isfinite(inverse) ? inverse : 0.0;
}

// Partial sums that a loop adds to in turn, so that it needn't wait for each addition. Sub-blocks have a
// multiple of as many elements.
constexpr std::size_t kLanes = 4;
using PartialSums = std::array<double, kLanes>;

double total(const PartialSums& sums) { return (sums[0] + sums[1]) + (sums[2] + sums[3]); }

// ---- Q4: step and offset

struct Line {
  double step = 0.0;
  double offset = 0.0;  // value = step * q - offset; neither is negative
};

struct Sums {
  double q = 0.0;
  double q_squared = 0.0;
  double x = 0.0;
  double x_by_q = 0.0;
};

Line fitted_line(const Sums& sums, double count, const Line& otherwise) {
  const double determinant = count * sums.q_squared - sums.q * sums.q;
  if (determinant <= 0.0) return otherwise;
  const double step = (count * sums.x_by_q - sums.x * sums.q) / determinant;
  const double start = (sums.q_squared * sums.x - sums.q * sums.x_by_q) / determinant;
  if (start <= 0.0) return step > 0.0 ? Line{step, -start} : otherwise;
  return {std::max(sums.x_by_q / sums.q_squared, 0.0), 0.0};
}

// Of the nearest codes.
double error_of(std::span<const float> x, const Line& line) {
  const double inverse = inverse_of(line.step);
  PartialSums errors = {};
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double shifted = static_cast<double>(x[i + lane]) + line.offset;
      const double q = rounded_number(shifted * inverse, 0, SuperblockQ4::kLargestCode);
      const double difference = line.step * q - shifted;
      errors[lane] += difference * difference;
    }
  }
  return total(errors);
}

// From the lowest value, or 0 if that is positive, to the highest.
Line min_max_line(std::span<const float> x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const double lowest = std::min(static_cast<double>(*low), 0.0);
  return {(std::max(static_cast<double>(*high), lowest) - lowest) / SuperblockQ4::kLargestCode, -lowest};
}

Line best_line(std::span<const float> x) {
  constexpr int kTries = 20;
  Line best = min_max_line(x);
  if (best.step <= 0.0) return best;
  const double lowest = -best.offset;
  const double range = best.step * SuperblockQ4::kLargestCode;
  double best_error = error_of(x, best);
  for (int i = 0; i <= kTries; ++i) {
    // Codes as if 15 were 14 to 16.5: outer values are clipped, or the last step isn't used.
    const double codes_per_unit = (14.0 + 0.125 * i) / range;
    Sums sums;
    for (const float v : x) {
      const double value = static_cast<double>(v);
      const double q = rounded_number((value - lowest) * codes_per_unit, 0, SuperblockQ4::kLargestCode);
      sums.q += q;
      sums.q_squared += q * q;
      sums.x += value;
      sums.x_by_q += value * q;
    }
    const Line line = fitted_line(sums, static_cast<double>(x.size()), best);
    const double error = error_of(x, line);
    if (error < best_error) {
      best = line;
      best_error = error;
    }
  }
  return best;
}

using Lines = std::array<Line, SuperblockQ4::kSubBlocks>;

std::span<const float> part_of(std::span<const float> x, std::size_t sub, std::size_t size) {
  return x.subspan(sub * size, size);
}

// What scales are to come close to, and which sub-blocks have the largest step and offset. Those get the
// largest scale, so that recognized_q4 finds d and dmin.
struct Targets {
  Lines lines;
  std::size_t steepest = 0;
  std::size_t lowest = 0;
};

Targets targets_of(std::span<const float> x, Line (*line_of)(std::span<const float>)) {
  Targets targets;
  for (std::size_t sub = 0; sub < targets.lines.size(); ++sub) {
    const Line line = line_of(part_of(x, sub, SuperblockQ4::kSubBlock));
    targets.lines[sub] = line;
    if (line.step > targets.lines[targets.steepest].step) targets.steepest = sub;
    if (line.offset > targets.lines[targets.lowest].offset) targets.lowest = sub;
  }
  return targets;
}

struct Band {
  int lowest;
  int highest;
};

// Scales at most `reach` away from where a line lies.
Band band(double target, double unit, bool keep, int reach) {
  constexpr int kLargest = SuperblockQ4::kLargestScale;
  if (unit <= 0.0) return {0, 0};
  if (keep) return {kLargest, kLargest};
  const int nearest = rounded_code(target / unit, 0, kLargest);
  return {std::max(nearest - reach, 0), std::min(nearest + reach, kLargest)};
}

// Sets the scales of all sub-blocks for the block's d and dmin; returns the error.
double choose_scales(std::span<const float> x, const Targets& targets, int reach, SuperblockQ4& block) {
  const double d = static_cast<double>(block.d);
  const double dmin = static_cast<double>(block.dmin);
  double total = 0.0;
  for (std::size_t sub = 0; sub < targets.lines.size(); ++sub) {
    const Band scs = band(targets.lines[sub].step, d, sub == targets.steepest, reach);
    const Band ms = band(targets.lines[sub].offset, dmin, sub == targets.lowest, reach);
    double best = std::numeric_limits<double>::infinity();
    for (int sc = scs.lowest; sc <= scs.highest; ++sc) {
      for (int m = ms.lowest; m <= ms.highest; ++m) {
        const double error = error_of(part_of(x, sub, SuperblockQ4::kSubBlock), {d * sc, dmin * m});
        if (error >= best) continue;
        best = error;
        block.sc[sub] = static_cast<std::uint8_t>(sc);
        block.m[sub] = static_cast<std::uint8_t>(m);
      }
    }
    total += best;
  }
  return total;
}

void choose_codes(std::span<const float> x, SuperblockQ4& block) {
  for (std::size_t i = 0; i < kSuperblockSize; ++i) {
    const std::size_t sub = i / SuperblockQ4::kSubBlock;
    const double step = static_cast<double>(block.d) * block.sc[sub];
    const double offset = static_cast<double>(block.dmin) * block.m[sub];
    const double q = step > 0.0 ? (static_cast<double>(x[i]) + offset) / step : 0.0;
    block.q[i] = static_cast<std::uint8_t>(rounded_code(q, 0, SuperblockQ4::kLargestCode));
  }
}

// How well scales of 6 bits meet their targets depends on d and dmin, so some of each are tried.
constexpr double kSpread = 0.004;  // relative
constexpr int kSpreadTries = 6;    // to either side

template <typename Block>
struct Candidate {
  Block block;
  double error = std::numeric_limits<double>::infinity();
};

void try_units(std::span<const float> x, const Targets& targets, std::optional<float> d,
               std::optional<float> dmin, Candidate<SuperblockQ4>& best) {
  if (!d || !dmin) return;
  SuperblockQ4 block;
  block.d = *d;
  block.dmin = *dmin;
  const double error = choose_scales(x, targets, 0, block);
  if (error < best.error) best = {block, error};
}

// The best d next to the targets', then the best dmin with it; then the neighbours of all scales.
Candidate<SuperblockQ4> searched_q4(std::span<const float> x, const Targets& targets, int spread) {
  const double d = targets.lines[targets.steepest].step / SuperblockQ4::kLargestScale;
  const double dmin = targets.lines[targets.lowest].offset / SuperblockQ4::kLargestScale;
  Candidate<SuperblockQ4> best;
  for (int i = -spread; i <= spread; ++i) {
    try_units(x, targets, rounded_half(d * (1.0 + kSpread * i)), rounded_half(dmin), best);
  }
  const float best_d = best.block.d;
  for (int i = -spread; i <= spread; ++i) {
    if (i != 0) try_units(x, targets, best_d, rounded_half(dmin * (1.0 + kSpread * i)), best);
  }
  if (std::isfinite(best.error)) best.error = choose_scales(x, targets, 1, best.block);
  return best;
}

std::optional<SuperblockQ4> searched_q4(std::span<const float> x) {
  // Plain min-max may be better once its scales are stored.
  const Candidate<SuperblockQ4> plain = searched_q4(x, targets_of(x, min_max_line), 0);
  Candidate<SuperblockQ4> best = searched_q4(x, targets_of(x, best_line), kSpreadTries);
  if (plain.error < best.error) best = plain;
  if (!std::isfinite(best.error)) return std::nullopt;
  choose_codes(x, best.block);
  return best.block;
}

// ---- Q6: a step that may be negative

double error_of(std::span<const float> x, double step) {
  const double inverse = inverse_of(step);
  PartialSums errors = {};
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = static_cast<double>(x[i + lane]);
      const double q = rounded_number(value * inverse, SuperblockQ6::kLowestCode, SuperblockQ6::kHighestCode);
      const double difference = step * q - value;
      errors[lane] += difference * difference;
    }
  }
  return total(errors);
}

// The extreme gets the lowest code.
double min_max_step(std::span<const float> x) {
  const auto by_magnitude = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
  return static_cast<double>(*std::max_element(x.begin(), x.end(), by_magnitude)) / SuperblockQ6::kLowestCode;
}

double best_step(std::span<const float> x) {
  constexpr int kTries = 9;
  double best = min_max_step(x);
  if (best == 0.0) return 0.0;
  const double extreme = best * SuperblockQ6::kLowestCode;
  double best_error = error_of(x, best);
  for (int i = -kTries; i <= kTries; ++i) {
    const double codes_per_unit = (SuperblockQ6::kLowestCode + 0.1 * i) / extreme;
    double x_by_q = 0.0;
    double q_squared = 0.0;
    for (const float v : x) {
      const double q = rounded_number(static_cast<double>(v) * codes_per_unit, SuperblockQ6::kLowestCode,
                                      SuperblockQ6::kHighestCode);
      x_by_q += static_cast<double>(v) * q;
      q_squared += q * q;
    }
    const double step = x_by_q / q_squared;
    const double error = error_of(x, step);
    if (error < best_error) {
      best = step;
      best_error = error;
    }
  }
  return best;
}

using Steps = std::array<double, SuperblockQ6::kSubBlocks>;

// Sets the scales of all sub-blocks for the block's d, at most `reach` away from the steps; returns the
// error. The largest stays -128, so that recognized_q6 finds d.
double choose_scales(std::span<const float> x, const Steps& steps, std::size_t largest, int reach,
                     SuperblockQ6& block) {
  constexpr int kLowest = SuperblockQ6::kLowestScale;
  constexpr int kHighest = SuperblockQ6::kHighestScale;
  const double d = static_cast<double>(block.d);
  if (d == 0.0) return error_of(x, 0.0);
  double total = 0.0;
  for (std::size_t sub = 0; sub < steps.size(); ++sub) {
    const int nearest = sub == largest ? kLowest : rounded_code(steps[sub] / d, kLowest, kHighest);
    const int around = sub == largest ? 0 : reach;
    double best = std::numeric_limits<double>::infinity();
    for (int sc = std::max(nearest - around, kLowest); sc <= std::min(nearest + around, kHighest); ++sc) {
      const double error = error_of(part_of(x, sub, SuperblockQ6::kSubBlock), d * sc);
      if (error >= best) continue;
      best = error;
      block.sc[sub] = static_cast<std::int8_t>(sc);
    }
    total += best;
  }
  return total;
}

void choose_codes(std::span<const float> x, SuperblockQ6& block) {
  for (std::size_t i = 0; i < kSuperblockSize; ++i) {
    const double step = static_cast<double>(block.d) * block.sc[i / SuperblockQ6::kSubBlock];
    const double q = step != 0.0 ? static_cast<double>(x[i]) / step : 0.0;
    block.q[i] =
        static_cast<std::int8_t>(rounded_code(q, SuperblockQ6::kLowestCode, SuperblockQ6::kHighestCode));
  }
}

Candidate<SuperblockQ6> searched_q6(std::span<const float> x, double (*step_of)(std::span<const float>),
                                    int spread) {
  Steps steps = {};
  std::size_t largest = 0;
  for (std::size_t sub = 0; sub < steps.size(); ++sub) {
    steps[sub] = step_of(part_of(x, sub, SuperblockQ6::kSubBlock));
    if (std::fabs(steps[sub]) > std::fabs(steps[largest])) largest = sub;
  }
  const double d = steps[largest] / SuperblockQ6::kLowestScale;
  Candidate<SuperblockQ6> best;
  for (int i = -spread; i <= spread; ++i) {
    const std::optional<float> half = rounded_half(d * (1.0 + kSpread * i));
    if (!half) continue;
    SuperblockQ6 block;
    block.d = *half;
    const double error = choose_scales(x, steps, largest, 0, block);
    if (error < best.error) best = {block, error};
  }
  if (std::isfinite(best.error)) best.error = choose_scales(x, steps, largest, 1, best.block);
  return best;
}

std::optional<SuperblockQ6> searched_q6(std::span<const float> x) {
  const Candidate<SuperblockQ6> plain = searched_q6(x, min_max_step, 0);
  Candidate<SuperblockQ6> best = searched_q6(x, best_step, kSpreadTries);
  if (plain.error < best.error) best = plain;
  if (!std::isfinite(best.error)) return std::nullopt;
  choose_codes(x, best.block);
  return best.block;
}

template <typename Block>
std::array<float, kSuperblockSize> values_of(const Block& block) {
  std::array<float, kSuperblockSize> values = {};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = block.value(i);
  return values;
}

// What was found stands for values that can be recognized; the superblock that is recognized for them is the
// one that any later encoding of them gives.
template <typename Block>
std::optional<Block> fit(std::span<const float> x, std::optional<Block> (*recognized)(std::span<const float>),
                         std::optional<Block> (*searched)(std::span<const float>)) {
  if (std::optional<Block> known = recognized(x)) return known;
  const std::optional<Block> found = searched(x);
  if (!found) return found;
  const std::optional<Block> settled = recognized(values_of(*found));
  return settled ? settled : found;
}

}  // namespace

std::optional<SuperblockQ4> fit_q4(std::span<const float> x) { return fit(x, recognized_q4, searched_q4); }

std::optional<SuperblockQ6> fit_q6(std::span<const float> x) { return fit(x, recognized_q6, searched_q6); }

}  // namespace halftone::codec
