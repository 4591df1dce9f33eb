// Student's t, two-sided. Formulas: Abramowitz and Stegun, 26.7.3, 26.7.4 (the probability as a finite sum)
// and 26.7.5 (the expansion for many degrees of freedom).
#include <cmath>
#include <numbers>

#include "halftone/metric.h"

namespace halftone {
namespace {

// Above this the expansion is good to 1e-7 for usual confidences, and cheaper.
constexpr std::size_t kManyDegrees = 200;
// Halvings of an interval of length <= 40: to the last bits of a double.
constexpr int kHalvings = 60;

// P(|T| < sqrt(degrees) * tan(angle)).
double probability(double angle, std::size_t degrees) {
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1.0;
  double sum = 0;
  for (std::size_t power = odd ? 1 : 0; power + 2 <= degrees; power += 2) {
    sum += term;
    term *= static_cast<double>(power + 1) / static_cast<double>(power + 2) * cosine * cosine;
  }
  const double series = std::sin(angle) * sum;
  return odd ? (angle + series) * 2.0 / std::numbers::pi : series;
}

// The value in [low, high] at which a rising function reaches `wanted`.
template <typename Function>
double root(double low, double high, double wanted, Function function) {
  for (int step = 0; step < kHalvings; ++step) {
    const double middle = (low + high) / 2;
    (function(middle) < wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double student_t(double confidence, std::size_t degrees) {
  if (degrees <= kManyDegrees) {
    const double angle =
        root(0, std::numbers::pi / 2, confidence, [degrees](double at) { return probability(at, degrees); });
    return std::sqrt(static_cast<double>(degrees)) * std::tan(angle);
  }
  const double z = root(0, 40, confidence, [](double at) { return std::erf(at / std::numbers::sqrt2); });
  const double square = z * z;
  const auto n = static_cast<double>(degrees);
  const double first = z * (square + 1) / 4;
  const double second = z * ((5 * square + 16) * square + 3) / 96;
  const double third = z * (((3 * square + 19) * square + 17) * square - 15) / 384;
  return z + (first + (second + third / n) / n) / n;
}

}  // namespace halftone
