// The normative kernels for codes: what they say, the SIMD kernels compute, bit for bit. Nothing here is
// tuned.
#include <cmath>
#include <cstring>

#include "numeric/kernel_set.h"
#include "numeric/reference_small_floats.h"

namespace halftone::numeric {
namespace {

template <typename T>
T load(const std::uint8_t* from, std::size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void store(std::uint8_t* to, std::size_t index, T value) {
  std::memcpy(to + index * sizeof(T), &value, sizeof(T));
}

// The code of one value. Comparing in float before the conversion keeps infinities and far outside values
// away from the integer, where adding the zero point could overflow; the bounds are whole numbers, so
// rounding can't cross them.
std::int32_t code_of(float x, float scale, std::int32_t zero_point, std::int32_t lowest,
                     std::int32_t highest) {
  const float quotient = x / scale;
  if (std::isnan(quotient)) return lowest;
  if (quotient <= static_cast<float>(lowest - zero_point)) return lowest;
  if (quotient >= static_cast<float>(highest - zero_point)) return highest;
  return static_cast<std::int32_t>(std::nearbyint(quotient)) + zero_point;
}

float value_of(std::int32_t code, float scale, std::int32_t zero_point) {
  return static_cast<float>(code - zero_point) * scale;
}

std::int32_t row_zero_point(const RowGrid& grid, std::size_t row) {
  return grid.zero_points == nullptr ? 0 : grid.zero_points[row];
}

std::int32_t periodic_zero_point(const PeriodicGrid& grid, std::size_t index) {
  return static_cast<std::int32_t>(grid.zero_points[index % grid.period]);
}

template <typename T>
void quantize_rows(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                   std::uint8_t* codes) {
  for (std::size_t i = 0; i < rows * length; ++i) {
    const std::size_t row = i / length;
    const std::int32_t code =
        code_of(load<float>(x, i), grid.scales[row], row_zero_point(grid, row), grid.lowest, grid.highest);
    store<T>(codes, i, static_cast<T>(code));
  }
}

template <typename T>
void quantize_periodic(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                       std::uint8_t* codes) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t code = code_of(load<float>(x, i), grid.scales[i % grid.period],
                                      periodic_zero_point(grid, i), grid.lowest, grid.highest);
    store<T>(codes, i, static_cast<T>(code));
  }
}

template <typename T>
void dequantize_rows(const std::uint8_t* codes, std::size_t rows, std::size_t length, const RowGrid& grid,
                     std::uint8_t* y) {
  for (std::size_t i = 0; i < rows * length; ++i) {
    const std::size_t row = i / length;
    store(y, i, value_of(load<T>(codes, i), grid.scales[row], row_zero_point(grid, row)));
  }
}

template <typename T>
void dequantize_periodic(const std::uint8_t* codes, std::size_t count, const PeriodicGrid& grid,
                         std::uint8_t* y) {
  for (std::size_t i = 0; i < count; ++i) {
    store(y, i, value_of(load<T>(codes, i), grid.scales[i % grid.period], periodic_zero_point(grid, i)));
  }
}

void fake_quantize_rows(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                        std::uint8_t* y) {
  for (std::size_t i = 0; i < rows * length; ++i) {
    const std::size_t row = i / length;
    const float scale = grid.scales[row];
    const std::int32_t zero_point = row_zero_point(grid, row);
    const std::int32_t code = code_of(load<float>(x, i), scale, zero_point, grid.lowest, grid.highest);
    store(y, i, value_of(code, scale, zero_point));
  }
}

void fake_quantize_periodic(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                            std::uint8_t* y) {
  for (std::size_t i = 0; i < count; ++i) {
    const float scale = grid.scales[i % grid.period];
    const std::int32_t zero_point = periodic_zero_point(grid, i);
    const std::int32_t code = code_of(load<float>(x, i), scale, zero_point, grid.lowest, grid.highest);
    store(y, i, value_of(code, scale, zero_point));
  }
}

void pack_nibbles(const std::uint8_t* codes, std::size_t count, std::uint8_t* packed) {
  for (std::size_t i = 0; i < count; i += 2) {
    const unsigned low = codes[i] & 0x0FU;
    const unsigned high = i + 1 < count ? codes[i + 1] & 0x0FU : 0U;
    packed[i / 2] = static_cast<std::uint8_t>(low | (high << 4U));
  }
}

void unpack_nibbles(const std::uint8_t* packed, std::size_t count, bool sign_extend, std::uint8_t* codes) {
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned nibble = (static_cast<unsigned>(packed[i / 2]) >> (4U * (i % 2))) & 0x0FU;
    codes[i] = static_cast<std::uint8_t>(sign_extend && nibble >= 8 ? nibble | 0xF0U : nibble);
  }
}

void pack_quarters(const std::uint8_t* codes, std::size_t count, std::uint8_t* packed) {
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned before = i % 4 == 0 ? 0U : packed[i / 4];
    packed[i / 4] = static_cast<std::uint8_t>(before | ((codes[i] & 3U) << (2U * (i % 4))));
  }
}

void unpack_quarters(const std::uint8_t* packed, std::size_t count, bool sign_extend, std::uint8_t* codes) {
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned quarter = (static_cast<unsigned>(packed[i / 4]) >> (2U * (i % 4))) & 3U;
    codes[i] = static_cast<std::uint8_t>(sign_extend && quarter >= 2 ? quarter | 0xFCU : quarter);
  }
}

template <typename T>
constexpr CodeKernels kernels_for() {
  return {quantize_rows<T>,       quantize_periodic<T>, dequantize_rows<T>,
          dequantize_periodic<T>, fake_quantize_rows,   fake_quantize_periodic};
}

}  // namespace

CodeStorage code_storage_of(NumberFormat format) {
  const NumberFormatInfo& info = number_format_info(format);
  switch (format) {
    case NumberFormat::kFloat8E4M3Fn:
      return CodeStorage::kE4M3Fn;
    case NumberFormat::kFloat8E4M3Fnuz:
      return CodeStorage::kE4M3Fnuz;
    case NumberFormat::kFloat8E5M2:
      return CodeStorage::kE5M2;
    case NumberFormat::kFloat8E5M2Fnuz:
      return CodeStorage::kE5M2Fnuz;
    case NumberFormat::kFloat4E2M1:
      return CodeStorage::kE2M1;
    default:
      break;
  }
  if (info.bits == 16) return info.lowest < 0 ? CodeStorage::kS16 : CodeStorage::kU16;
  return info.lowest < 0 ? CodeStorage::kS8 : CodeStorage::kU8;
}

const CodeKernelSet& reference_code_kernels() {
  static const CodeKernelSet kReference = {
      "scalar",
      {kernels_for<std::int8_t>(), kernels_for<std::uint8_t>(), kernels_for<std::int16_t>(),
       kernels_for<std::uint16_t>(), reference_small_float_kernels<SmallFloat::kFloat8E4M3Fn>(),
       reference_small_float_kernels<SmallFloat::kFloat8E4M3Fnuz>(),
       reference_small_float_kernels<SmallFloat::kFloat8E5M2>(),
       reference_small_float_kernels<SmallFloat::kFloat8E5M2Fnuz>(),
       reference_small_float_kernels<SmallFloat::kFloat4E2M1>()},
      reference_small_float_rows<SmallFloat::kFloat6E3M2>(),
      reference_small_float_rows<SmallFloat::kFloat6E2M3>(),
      pack_nibbles,
      unpack_nibbles,
      pack_quarters,
      unpack_quarters};
  return kReference;
}

}  // namespace halftone::numeric
