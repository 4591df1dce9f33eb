#include "halftone/quantized_tensor.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "halftone/statistics.h"
#include "numeric/grid_checks.h"

namespace halftone {
namespace {

constexpr int kPerAxisOpset = 13;
constexpr int kBlockedOpset = 21;

Result<GridLayout> layout_of(std::span<const std::int64_t> dims, const TensorGrain& grain) {
  if (grain.block_size < 0 || (grain.block_size > 0 && !grain.axis)) {
    return Error{ErrorCode::kInvalidPolicy,
                 grain.block_size < 0 ? "A block size can't be negative."
                                      : "Blocks of scales need an axis that they divide.",
                 "block_size", "Give a block size of at least 1 together with an axis, or neither."};
  }
  if (grain.axis && grain.block_size > 0) return GridLayout::blocked(dims, *grain.axis, grain.block_size);
  if (grain.axis) return GridLayout::per_axis(dims, *grain.axis);
  const std::optional<std::uint64_t> elements = element_count_of(dims);
  if (elements) return GridLayout::per_tensor(static_cast<std::size_t>(*elements));
  return Error{ErrorCode::kShapeMismatch, "A shape has a negative dimension or too many elements.", "",
               "Check the tensor's shape."};
}

std::vector<std::int64_t> scale_dims_of(const QuantizedTensor& tensor) {
  if (!tensor.axis) return {};
  const auto at = static_cast<std::size_t>(*tensor.axis);
  if (tensor.block_size == 0) return {tensor.dims[at]};
  std::vector<std::int64_t> dims = tensor.dims;
  dims[at] = dims[at] / tensor.block_size + (dims[at] % tensor.block_size != 0 ? 1 : 0);
  return dims;
}

Error at_scale(Error error, std::size_t index) {
  error.where = "scale " + std::to_string(index);
  return error;
}

// Fills scales and zero points from the ranges of the values.
Result<void> choose_params(FloatView x, const GridLayout& layout, Symmetry symmetry,
                           QuantizedTensor& tensor) {
  const Result<std::vector<RangeStatistics>> ranges = channel_ranges(x, layout);
  if (!ranges.ok()) return ranges.error();
  tensor.scales.reserve(ranges.value().size());
  tensor.zero_points.reserve(ranges.value().size());
  for (const RangeStatistics& range : ranges.value()) {
    const std::size_t index = tensor.scales.size();
    if (!range.all_finite()) {
      return at_scale(Error{ErrorCode::kNonFinite, "A tensor to quantize has NaN or infinity in it.", "",
                            "Repair the values, or keep this tensor in float."},
                      index);
    }
    const ValueRange values = range.has_range() ? ValueRange{range.min, range.max} : ValueRange{};
    const Result<QuantParams> params = params_from_range(tensor.format, symmetry, values);
    if (!params.ok()) return at_scale(params.error(), index);
    tensor.scales.push_back(params.value().scale);
    tensor.zero_points.push_back(params.value().zero_point);
  }
  const bool all_zero = std::all_of(tensor.zero_points.begin(), tensor.zero_points.end(),
                                    [](std::int32_t zero_point) { return zero_point == 0; });
  if (all_zero) tensor.zero_points.clear();
  return {};
}

}  // namespace

int QuantizedTensor::opset_needed() const {
  const int of_format = number_format_info(format).dequantize_opset;
  if (!axis) return of_format;
  return std::max(of_format, block_size > 0 ? kBlockedOpset : kPerAxisOpset);
}

Result<QuantGrid> QuantizedTensor::grid() const {
  return quant_grid(format, dims, axis, scales, zero_points, block_size);
}

std::uint64_t QuantizedTensor::byte_count() const {
  const std::uint64_t zero_point_bytes = code_byte_count(format, zero_points.size()).value_or(0);
  return codes.size() + scales.size() * sizeof(float) + zero_point_bytes;
}

Result<QuantizedTensor> quantize_tensor(FloatView x, std::span<const std::int64_t> dims,
                                        const TensorGrain& grain) {
  if (!is_quantize_format(grain.format)) {
    return Error{ErrorCode::kUnsupportedType,
                 "Values can't be stored as " + std::string(number_format_info(grain.format).name) +
                     " for DequantizeLinear.",
                 "", "Choose an integer format of 2 to 16 bits, a float8 format or float4e2m1."};
  }
  const Result<GridLayout> layout = layout_of(dims, grain);
  if (!layout.ok()) return layout.error();
  QuantizedTensor tensor;
  tensor.format = grain.format;
  tensor.dims.assign(dims.begin(), dims.end());
  tensor.block_size = grain.block_size;
  if (grain.axis) tensor.axis = *grain.axis < 0 ? *grain.axis + std::ssize(dims) : *grain.axis;
  tensor.scale_dims = scale_dims_of(tensor);
  if (Result<void> chosen = choose_params(x, layout.value(), grain.symmetry, tensor); !chosen.ok())
    return chosen.error();
  tensor.codes.resize(static_cast<std::size_t>(code_byte_count(grain.format, x.size()).value_or(0)));
  const QuantGrid grid = {grain.format, layout.value(), tensor.scales, tensor.zero_points};
  if (const Result<void> done = quantize(x, grid, tensor.codes); !done.ok()) return done.error();
  return tensor;
}

Result<void> dequantize_tensor(const QuantizedTensor& tensor, MutableFloatView y) {
  const Result<QuantGrid> grid = tensor.grid();
  if (!grid.ok()) return grid.error();
  return dequantize(tensor.codes, grid.value(), y);
}

}  // namespace halftone
