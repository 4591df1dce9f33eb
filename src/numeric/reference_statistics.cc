// The normative kernels for statistics; see reference_codes.cc. The eight partial sums of error_sums are its
// contract.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "numeric/error_partials.h"
#include "numeric/kernel_set.h"

namespace halftone::numeric {
namespace {

float load(const std::uint8_t* from, std::size_t index) {
  float value = 0.0F;
  std::memcpy(&value, from + index * sizeof(float), sizeof(float));
  return value;
}

std::int32_t magnitude_bits(float value) {
  std::int32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits & 0x7FFFFFFF;
}

void column_ranges(const std::uint8_t* x, std::size_t rows, std::size_t columns, float* min, float* max,
                   std::int32_t* bits) {
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const std::size_t column = i % columns;
    const float value = load(x, i);
    min[column] = std::min(min[column], value);
    max[column] = std::max(max[column], value);
    bits[column] = std::max(bits[column], magnitude_bits(value));
  }
}

RawRange range(const std::uint8_t* x, std::size_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  RawRange out = {kInfinity, -kInfinity, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const float value = load(x, i);
    out.min = std::min(out.min, value);
    out.max = std::max(out.max, value);
    out.magnitude_bits = std::max(out.magnitude_bits, magnitude_bits(value));
  }
  out.min += 0.0F;  // -0 becomes +0
  out.max += 0.0F;
  return out;
}

ErrorSums error_sums(const std::uint8_t* expected, const std::uint8_t* actual, std::size_t count) {
  ErrorPartials partials;
  for (std::size_t i = 0; i < count; ++i) {
    const double e = static_cast<double>(load(expected, i));
    const double a = static_cast<double>(load(actual, i));
    const double error = e - a;
    const std::size_t lane = i % kErrorPartials;
    partials.error_squares[lane] += error * error;
    partials.expected_squares[lane] += e * e;
    partials.actual_squares[lane] += a * a;
    partials.products[lane] += e * a;
    partials.max_abs_error[lane] = std::max(partials.max_abs_error[lane], std::fabs(error));
  }
  return combine(partials, count);
}

constexpr StatisticKernelSet kReference = {"scalar", range, column_ranges, error_sums};

}  // namespace

const StatisticKernelSet& reference_statistic_kernels() { return kReference; }

}  // namespace halftone::numeric
