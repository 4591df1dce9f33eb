// A float tensor as ONNX stores it for DequantizeLinear: codes, scales and zero points with their shapes,
// made from the values themselves. What a model's writer needs to put a weight into an initializer.
//
// One scale for the tensor, one for each index of an axis (opset 13), or one for each block of an axis (opset
// 21); ranges by min-max, scales by params_from_range(), codes by quantize(). Nothing else is chosen here.
// Threading: plain functions. Memory: the codes, and one record for each scale.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halftone/float_view.h"
#include "halftone/number_format.h"
#include "halftone/quant_grid.h"
#include "halftone/quant_params.h"
#include "halftone/result.h"

namespace halftone {

struct TensorGrain {
  NumberFormat format = NumberFormat::kInt8;
  std::optional<std::int64_t> axis;          // none: one scale; negative: from the end
  std::int64_t block_size = 0;               // elements of the axis that share a scale; 0: not blocked
  Symmetry symmetry = Symmetry::kSymmetric;  // all that small floats can be
};

struct QuantizedTensor {
  NumberFormat format = NumberFormat::kInt8;
  std::vector<std::int64_t> dims;
  std::optional<std::int64_t> axis;  // 0 or more; the attribute of DequantizeLinear where there is one
  std::int64_t block_size = 0;       // the attribute; 0: leave it out
  std::vector<std::uint8_t> codes;   // raw_data of the type number_format_info(format).onnx_type
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;  // as long as scales, or empty: all are 0
  // Of scales and zero points: [] for one scale, [n] per axis; for blocks the dims with ceil(dim /
  // block_size) on the axis.
  std::vector<std::int64_t> scale_dims;

  // The first version of ai.onnx whose DequantizeLinear reads this.
  [[nodiscard]] int opset_needed() const;
  // Views this.
  [[nodiscard]] Result<QuantGrid> grid() const;
  // Codes, scales and zero points as stored: what a bits-per-value count is made of.
  [[nodiscard]] std::uint64_t byte_count() const;
};

// Errors: kUnsupportedType for formats that QuantizeLinear can't make (int32, float32); kShapeMismatch if `x`
// has not as many values as `dims` says or the axis is none of them; kInvalidPolicy for a block size below 0
// or without an axis, or an asymmetric small float; kNonFinite for NaN or infinity, where `where` counts the
// scales. An empty tensor has no codes, and scales only where their shape has elements (of 1).
Result<QuantizedTensor> quantize_tensor(FloatView x, std::span<const std::int64_t> dims,
                                        const TensorGrain& grain);

// Errors: as dequantize() of quant_grid.h; nothing about `tensor` is taken for granted.
Result<void> dequantize_tensor(const QuantizedTensor& tensor, MutableFloatView y);

}  // namespace halftone
