// Source: ONNX, "Float stored in 8 bits": the table of values of FLOAT8E4M3FN, and the table of casts with
// saturate = true. Every value and every midpoint of two values is exact in double, so that plain comparisons
// decide. Nothing here is tuned.
#include "numeric/reference_float8.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace halftone::numeric {
namespace {

constexpr int kMantissaBits = 3;
constexpr int kBias = 7;

double magnitude_of(unsigned code) {
  const auto exponent = static_cast<int>(code >> kMantissaBits);
  const auto mantissa = static_cast<int>(code & 7U);
  if (exponent == 0) return std::ldexp(mantissa, 1 - kBias - kMantissaBits);
  return std::ldexp(8 + mantissa, exponent - kBias - kMantissaBits);
}

float load_float(const std::uint8_t* from, std::size_t index) {
  float value = 0.0F;
  std::memcpy(&value, from + index * sizeof(value), sizeof(value));
  return value;
}

void store_float(std::uint8_t* to, std::size_t index, float value) {
  std::memcpy(to + index * sizeof(value), &value, sizeof(value));
}

float dequantized(std::uint8_t code, float scale) {
  const float value = float8_value(code);
  return std::isnan(value) ? value : value * scale;
}

float row_scale(const RowGrid& grid, std::size_t index, std::size_t length) {
  return grid.scales[index / length];
}

float periodic_scale(const PeriodicGrid& grid, std::size_t index) { return grid.scales[index % grid.period]; }

void quantize_rows(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                   std::uint8_t* codes) {
  for (std::size_t i = 0; i < rows * length; ++i)
    codes[i] = float8_code(load_float(x, i), row_scale(grid, i, length));
}

void quantize_periodic(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                       std::uint8_t* codes) {
  for (std::size_t i = 0; i < count; ++i) codes[i] = float8_code(load_float(x, i), periodic_scale(grid, i));
}

void dequantize_rows(const std::uint8_t* codes, std::size_t rows, std::size_t length, const RowGrid& grid,
                     std::uint8_t* y) {
  for (std::size_t i = 0; i < rows * length; ++i)
    store_float(y, i, dequantized(codes[i], row_scale(grid, i, length)));
}

void dequantize_periodic(const std::uint8_t* codes, std::size_t count, const PeriodicGrid& grid,
                         std::uint8_t* y) {
  for (std::size_t i = 0; i < count; ++i) store_float(y, i, dequantized(codes[i], periodic_scale(grid, i)));
}

void fake_quantize_rows(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                        std::uint8_t* y) {
  for (std::size_t i = 0; i < rows * length; ++i) {
    const float scale = row_scale(grid, i, length);
    store_float(y, i, dequantized(float8_code(load_float(x, i), scale), scale));
  }
}

void fake_quantize_periodic(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                            std::uint8_t* y) {
  for (std::size_t i = 0; i < count; ++i) {
    const float scale = periodic_scale(grid, i);
    store_float(y, i, dequantized(float8_code(load_float(x, i), scale), scale));
  }
}

}  // namespace

float float8_value(std::uint8_t code) {
  const float sign = (code & kFloat8Sign) != 0 ? -1.0F : 1.0F;
  const unsigned magnitude = code & kFloat8Nan;
  if (magnitude == kFloat8Nan) return std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
  return std::copysign(static_cast<float>(magnitude_of(magnitude)), sign);
}

std::uint8_t float8_code(float x, float scale) {
  const unsigned sign = std::signbit(x) ? kFloat8Sign : 0U;
  if (std::isnan(x)) return static_cast<std::uint8_t>(sign | kFloat8Nan);
  const float quotient = std::fabs(x) / scale;
  unsigned code = 0;
  for (; code < kFloat8Largest; ++code) {
    const double midpoint = (magnitude_of(code) + magnitude_of(code + 1)) / 2.0;
    if (quotient < midpoint || (quotient == midpoint && code % 2 == 0)) break;
  }
  return static_cast<std::uint8_t>(sign | code);
}

CodeKernels reference_float8_kernels() {
  return {quantize_rows,       quantize_periodic,  dequantize_rows,
          dequantize_periodic, fake_quantize_rows, fake_quantize_periodic};
}

}  // namespace halftone::numeric
