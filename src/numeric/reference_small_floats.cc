// A true float32 division, and the conversions of small_floats.h. Nothing here is tuned.
#include "numeric/reference_small_floats.h"

#include <cmath>
#include <cstring>

namespace halftone::numeric {
namespace {

float load_float(const std::uint8_t* from, std::size_t index) {
  float value = 0.0F;
  std::memcpy(&value, from + index * sizeof(value), sizeof(value));
  return value;
}

void store_float(std::uint8_t* to, std::size_t index, float value) {
  std::memcpy(to + index * sizeof(value), &value, sizeof(value));
}

template <SmallFloat kType>
float dequantized(std::uint8_t code, float scale) {
  const float value = small_float_values(kType)[code];
  return std::isnan(value) ? value : value * scale;
}

float row_scale(const RowGrid& grid, std::size_t index, std::size_t length) {
  return grid.scales[index / length];
}

float periodic_scale(const PeriodicGrid& grid, std::size_t index) { return grid.scales[index % grid.period]; }

template <SmallFloat kType>
void quantize_rows(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                   std::uint8_t* codes) {
  for (std::size_t i = 0; i < rows * length; ++i)
    codes[i] = small_float_quotient_code(kType, load_float(x, i), row_scale(grid, i, length));
}

template <SmallFloat kType>
void quantize_periodic(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                       std::uint8_t* codes) {
  for (std::size_t i = 0; i < count; ++i)
    codes[i] = small_float_quotient_code(kType, load_float(x, i), periodic_scale(grid, i));
}

template <SmallFloat kType>
void dequantize_rows(const std::uint8_t* codes, std::size_t rows, std::size_t length, const RowGrid& grid,
                     std::uint8_t* y) {
  for (std::size_t i = 0; i < rows * length; ++i)
    store_float(y, i, dequantized<kType>(codes[i], row_scale(grid, i, length)));
}

template <SmallFloat kType>
void dequantize_periodic(const std::uint8_t* codes, std::size_t count, const PeriodicGrid& grid,
                         std::uint8_t* y) {
  for (std::size_t i = 0; i < count; ++i)
    store_float(y, i, dequantized<kType>(codes[i], periodic_scale(grid, i)));
}

template <SmallFloat kType>
void fake_quantize_rows(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                        std::uint8_t* y) {
  for (std::size_t i = 0; i < rows * length; ++i) {
    const float scale = row_scale(grid, i, length);
    store_float(y, i, dequantized<kType>(small_float_quotient_code(kType, load_float(x, i), scale), scale));
  }
}

template <SmallFloat kType>
void fake_quantize_periodic(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                            std::uint8_t* y) {
  for (std::size_t i = 0; i < count; ++i) {
    const float scale = periodic_scale(grid, i);
    store_float(y, i, dequantized<kType>(small_float_quotient_code(kType, load_float(x, i), scale), scale));
  }
}

}  // namespace

std::uint8_t small_float_quotient_code(SmallFloat type, float x, float scale) {
  if (std::isnan(x)) return small_float_code(type, x);
  const float quotient = x / scale;
  // onnx.reference adds the zero point 0, which turns -0 into 0; float4e2m1 has no other peer, and float6 has
  // no QuantizeLinear and is as it.
  if (small_float_info(type).bits < 8 && quotient == 0.0F) return 0;
  return small_float_code(type, quotient);
}

template <SmallFloat kType>
CodeKernels reference_small_float_kernels() {
  return {quantize_rows<kType>,       quantize_periodic<kType>,  dequantize_rows<kType>,
          dequantize_periodic<kType>, fake_quantize_rows<kType>, fake_quantize_periodic<kType>};
}

template <SmallFloat kType>
RowKernels reference_small_float_rows() {
  return {quantize_rows<kType>, dequantize_rows<kType>};
}

template RowKernels reference_small_float_rows<SmallFloat::kFloat6E3M2>();
template RowKernels reference_small_float_rows<SmallFloat::kFloat6E2M3>();
template CodeKernels reference_small_float_kernels<SmallFloat::kFloat8E4M3Fn>();
template CodeKernels reference_small_float_kernels<SmallFloat::kFloat8E4M3Fnuz>();
template CodeKernels reference_small_float_kernels<SmallFloat::kFloat8E5M2>();
template CodeKernels reference_small_float_kernels<SmallFloat::kFloat8E5M2Fnuz>();
template CodeKernels reference_small_float_kernels<SmallFloat::kFloat4E2M1>();

}  // namespace halftone::numeric
