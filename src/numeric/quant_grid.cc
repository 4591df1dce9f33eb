#include "halftone/quant_grid.h"

#include <limits>
#include <optional>
#include <string>

#include "halftone/data_type.h"
#include "numeric/grid_checks.h"

namespace halftone {
namespace {

Error layout_error(std::string message) {
  return {ErrorCode::kShapeMismatch, std::move(message), "", "Check the tensor's shape and the axis."};
}

std::size_t product(std::span<const std::int64_t> dims) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return count;
}

}  // namespace

Result<GridLayout> GridLayout::per_axis(std::span<const std::int64_t> dims, std::int64_t axis) {
  const std::optional<std::uint64_t> elements = element_count_of(dims);
  if (!elements) return layout_error("A shape has a negative dimension or too many elements.");
  const auto rank = static_cast<std::int64_t>(dims.size());
  if (axis < -rank || axis >= rank) {
    return layout_error("Axis " + std::to_string(axis) + " is outside a tensor of rank " +
                        std::to_string(rank) + ".");
  }
  const auto index = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  GridLayout layout;
  layout.channels = static_cast<std::size_t>(dims[index]);
  // With a dimension of 0 somewhere, the other factors could still overflow: nothing is addressed, so they
  // don't matter.
  layout.outer = *elements == 0 ? 0 : product(dims.first(index));
  layout.inner = *elements == 0 ? 1 : product(dims.subspan(index + 1));
  return layout;
}

Result<GridLayout> GridLayout::blocked(std::span<const std::int64_t> dims, std::int64_t axis,
                                       std::int64_t block_size) {
  Result<GridLayout> layout = per_axis(dims, axis);
  if (!layout.ok()) return layout;
  if (block_size < 1) {
    return Error{ErrorCode::kInvalidPolicy,
                 "A block size of " + std::to_string(block_size) + " is not positive.", "",
                 "Use a block size of at least 1."};
  }
  const auto limit = static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::max());
  layout.value().block_size = static_cast<std::size_t>(block_size < limit ? block_size : limit);
  return layout;
}

std::size_t GridLayout::scale_count() const {
  if (block_size == 0) return channels;
  const std::size_t blocks = channels / block_size + (channels % block_size != 0 ? 1 : 0);
  return outer * blocks * inner;
}

Result<QuantGrid> quant_grid(NumberFormat format, std::span<const std::int64_t> dims,
                             std::optional<std::int64_t> axis, std::span<const float> scales,
                             std::span<const std::int32_t> zero_points, std::int64_t block_size) {
  const std::optional<std::uint64_t> elements = element_count_of(dims);
  if (!elements) return layout_error("A shape has a negative dimension or too many elements.");
  QuantGrid grid = {format, GridLayout::per_tensor(static_cast<std::size_t>(*elements)), scales, zero_points};
  if (axis) {
    const Result<GridLayout> layout =
        block_size != 0 ? GridLayout::blocked(dims, *axis, block_size) : GridLayout::per_axis(dims, *axis);
    if (!layout.ok()) return layout.error();
    grid.layout = layout.value();
  }
  const Result<void> checked = check_scale_count(grid);
  if (!checked.ok()) return checked.error();
  return grid;
}

}  // namespace halftone
