// How scales lie over a tensor, and the kernels that use them: quantize, dequantize, fake-quantize.
//
// Codes are bytes as ONNX stores them in raw_data: little endian; 4-bit codes two to a byte and 2-bit codes
// four to a byte, the first in the lowest bits, what is left of the last byte zero. Everything here is exact:
// equal to onnxruntime's QuantizeLinear and DequantizeLinear in native x86-64 builds to the last bit, on
// every instruction set and in WebAssembly.
//
//   quantize       code = saturate(round_half_even(x / scale) + zero_point), with a true float32 division
//   dequantize     float32(code - zero_point) * scale, rounded once
//   fake_quantize  dequantize(quantize(x)) without the codes in between
//
// NaN gives the lowest code (onnxruntime in WebAssembly gives 0 instead), +-infinity saturates. There is no
// flush to zero: denormal values and scales count.
//
// The small floats (float8 and float4e2m1) round x / scale to the nearest of their values, half to the even
// code, and saturate at the largest (infinity too), as QuantizeLinear with saturate = 1. Codes keep the sign
// of zero and of NaN where the type has one, NaN stays NaN, and float8e5m2's infinity dequantizes to
// infinity. Dequantizing multiplies the code's value with the scale, rounded once.
//
// float4e2m1 follows onnx.reference, since onnxruntime 1.23 can't load the type: NaN gives the code of -0,
// and -0 / scale gives 0, while negative numbers that round to zero keep their sign.
//
// Threading: plain functions. Ownership: views only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "halftone/float_view.h"
#include "halftone/number_format.h"
#include "halftone/result.h"

namespace halftone {

// A row-major tensor seen as [outer, channels, inner] around the axis that scales vary along.
//
//   per tensor  one scale: outer 1, channels 1, inner = all elements
//   per axis    element (o, c, i) uses scale c
//   blocked     block_size b > 0: element (o, c, i) uses scale (o, c / b, i), row-major; the last block of an
//               axis may be shorter
//
// Examples: a Conv weight [8, 3, 5, 5] along axis 0 is outer 1, channels 8, inner 75; a MatMul weight
// [64, 10] along axis 1 is outer 64, channels 10, inner 1.
struct GridLayout {
  std::size_t outer = 1;
  std::size_t channels = 1;
  std::size_t inner = 1;
  std::size_t block_size = 0;  // 0: not blocked

  static GridLayout per_tensor(std::size_t element_count) { return {1, 1, element_count, 0}; }
  // A negative axis counts from the end. Errors: kShapeMismatch if the axis isn't in -rank..rank-1, or a
  // dimension is negative, or the element count exceeds 2^62 (or the address space).
  static Result<GridLayout> per_axis(std::span<const std::int64_t> dims, std::int64_t axis);
  // Errors: as per_axis, and kInvalidPolicy unless block_size is at least 1.
  static Result<GridLayout> blocked(std::span<const std::int64_t> dims, std::int64_t axis,
                                    std::int64_t block_size);

  [[nodiscard]] std::size_t element_count() const { return outer * channels * inner; }
  [[nodiscard]] std::size_t scale_count() const;
};

// A format, a layout and their scales. `zero_points` is as long as `scales`, or empty where all are 0.
struct QuantGrid {
  NumberFormat format = NumberFormat::kInt8;
  GridLayout layout;
  std::span<const float> scales;
  std::span<const std::int32_t> zero_points;
};

// The grid over a tensor of `dims`: per tensor without an axis, per axis, or blocked with a block size that
// is not 0. Views the spans.
// Errors: as GridLayout, and kShapeMismatch if the number of scales or zero points doesn't fit.
Result<QuantGrid> quant_grid(NumberFormat format, std::span<const std::int64_t> dims,
                             std::optional<std::int64_t> axis, std::span<const float> scales,
                             std::span<const std::int32_t> zero_points, std::int64_t block_size = 0);

// Errors of the three functions below, checked in this order, before anything is written:
//   kUnsupportedType  the format has no codes (quantize and fake_quantize: or is int32)
//   kShapeMismatch    wrong number of elements, bytes, scales or zero points; the message has both numbers
//   kInvalidPolicy    a scale that is not finite and positive (denormals are fine), or a zero point that is
//                     no code of the format (small floats: that is not 0)
// Zero elements are fine and write nothing.

// `codes` has code_byte_count(format, x.size()) bytes. Precondition: it doesn't overlap x.
Result<void> quantize(FloatView x, const QuantGrid& grid, std::span<std::uint8_t> codes);

// Also for int32, whose difference with the zero point is taken in 64 bits. Precondition: no overlap.
Result<void> dequantize(std::span<const std::uint8_t> codes, const QuantGrid& grid, MutableFloatView y);

// `y` may be the same memory as `x` (from the same start); otherwise they may not overlap.
Result<void> fake_quantize(FloatView x, const QuantGrid& grid, MutableFloatView y);

}  // namespace halftone
