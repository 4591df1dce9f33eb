#include "numeric/grid_checks.h"

#include <cmath>
#include <limits>
#include <string>

#include "halftone/data_type.h"

namespace halftone {
namespace {

std::optional<std::size_t> checked_product(std::size_t a, std::size_t b) {
  if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b) return std::nullopt;
  return a * b;
}

Error mismatch(std::string_view what, std::size_t given, std::size_t needed) {
  return {ErrorCode::kShapeMismatch,
          "The number of " + std::string(what) + " is " + std::to_string(given) + ", but " +
              std::to_string(needed) + " are needed.",
          "", "Give as many as the tensor's shape and granularity need."};
}

Result<void> check_scales(const QuantGrid& grid) {
  for (std::size_t i = 0; i < grid.scales.size(); ++i) {
    if (std::isfinite(grid.scales[i]) && grid.scales[i] > 0.0F) continue;
    return Error{ErrorCode::kInvalidPolicy,
                 "Scale " + std::to_string(i) + " is not a positive, finite number.", "",
                 "Compute the encoding again from a finite range."};
  }
  return {};
}

Error bad_zero_point(std::size_t index, std::int64_t value, const NumberFormatInfo& info) {
  const std::string given = "Zero point " + std::to_string(index) + " is " + std::to_string(value) + ", ";
  const std::string name(info.name);
  if (info.kind == FormatKind::kSmallFloat) {
    return Error{ErrorCode::kInvalidPolicy, given + "but " + name + " has no zero point except 0.", "",
                 "Use 0, or an integer format."};
  }
  return Error{
      ErrorCode::kInvalidPolicy, given + "which is no code of " + name + ".", "",
      "Use a zero point from " + std::to_string(info.lowest) + " to " + std::to_string(info.highest) + "."};
}

Result<void> check_zero_points(const QuantGrid& grid) {
  const NumberFormatInfo& info = number_format_info(grid.format);
  for (std::size_t i = 0; i < grid.zero_points.size(); ++i) {
    if (grid.zero_points[i] < info.lowest || grid.zero_points[i] > info.highest)
      return bad_zero_point(i, grid.zero_points[i], info);
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> element_count_of(std::span<const std::int64_t> dims) {
  constexpr std::uint64_t kAddressable = std::numeric_limits<std::size_t>::max() / sizeof(float);
  const std::optional<std::uint64_t> elements = element_count(dims);
  if (!elements || *elements > kAddressable) return std::nullopt;
  for (const std::int64_t dim : dims) {  // beside a dimension of 0, another may still be out of reach
    if (static_cast<std::uint64_t>(dim) > kAddressable) return std::nullopt;
  }
  return elements;
}

Result<void> check_layout(const GridLayout& layout, std::size_t elements) {
  const std::optional<std::size_t> rows = checked_product(layout.outer, layout.channels);
  const std::optional<std::size_t> needed = rows ? checked_product(*rows, layout.inner) : std::nullopt;
  if (!needed) {
    return Error{ErrorCode::kShapeMismatch, "A layout has more elements than memory can hold.", "",
                 "Check the tensor's shape."};
  }
  if (*needed != elements) return mismatch("values", elements, *needed);
  return {};
}

Result<void> check_scale_count(const QuantGrid& grid) {
  const std::size_t needed = grid.layout.scale_count();
  if (grid.scales.size() != needed) return mismatch("scales", grid.scales.size(), needed);
  if (!grid.zero_points.empty() && grid.zero_points.size() != needed) {
    return mismatch("zero points", grid.zero_points.size(), needed);
  }
  return {};
}

Result<void> check_grid(const QuantGrid& grid, std::size_t elements, std::optional<std::size_t> code_bytes,
                        bool for_quantizing) {
  const NumberFormatInfo& info = number_format_info(grid.format);
  if (info.kind == FormatKind::kFloat32 || (for_quantizing && !is_quantize_format(grid.format))) {
    return Error{ErrorCode::kUnsupportedType,
                 std::string(info.name) + " has no codes that this operation can make or read.", "",
                 "Choose an integer format of 2 to 16 bits, a float8 format or float4e2m1."};
  }
  Result<void> checked = check_layout(grid.layout, elements);
  if (!checked.ok()) return checked;
  if (code_bytes) {
    const std::optional<std::uint64_t> needed = code_byte_count(grid.format, elements);
    if (needed != *code_bytes)
      return mismatch("bytes of codes", *code_bytes, static_cast<std::size_t>(needed.value_or(0)));
  }
  checked = check_scale_count(grid);
  if (!checked.ok()) return checked;
  checked = check_scales(grid);
  if (!checked.ok()) return checked;
  return check_zero_points(grid);
}

}  // namespace halftone
