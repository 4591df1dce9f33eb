#include "codec/nearest_entry.h"

#include <cmath>
#include <limits>

#include "numeric/extended.h"

namespace halftone::codec {
namespace {

using numeric::Extended;

// A sum of n squares of rounded differences is off by less than a relative (n + 3) * 2^-53 in double, and by
// less in extended precision. Up to this many components, sums that differ by kApart are in the same order in
// both.
constexpr std::size_t kMaxComponents = 1024;
constexpr double kApart = 1.0 + 0x1p-40;
// Below, squares may have lost digits.
constexpr double kSmallest = 1e-280;

double squared_distance(std::span<const double> values, const double* entry) {
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = values[i] - entry[i];
    sum += difference * difference;
  }
  return sum;
}

std::size_t exact_nearest(std::span<const double> values, const double* entries, std::size_t count,
                          std::size_t vector_size) {
  std::size_t best = 0;
  Extended smallest{};
  for (std::size_t i = 0; i < count; ++i) {
    Extended sum{};
    for (std::size_t j = 0; j < values.size(); ++j) {
      const Extended difference = Extended(values[j]) - Extended(entries[i * vector_size + j]);
      sum = sum + difference * difference;
    }
    if (i != 0 && !(sum < smallest)) continue;
    smallest = sum;
    best = i;
  }
  return best;
}

}  // namespace

std::size_t nearest_entry(std::span<const double> values, const double* entries, std::size_t count,
                          std::size_t vector_size) {
  std::size_t best = 0;
  double first = std::numeric_limits<double>::infinity();
  double second = first;
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = squared_distance(values, entries + i * vector_size);
    if (distance < first) {
      second = first;
      first = distance;
      best = i;
    } else if (distance < second) {
      second = distance;
    }
  }
  const bool sure = count == 1 || (values.size() <= kMaxComponents && std::isfinite(second) &&
                                   second > kSmallest && first * kApart < second);
  return sure ? best : exact_nearest(values, entries, count, vector_size);
}

}  // namespace halftone::codec
