// Flat blocks as blocks along an axis.
#include <algorithm>
#include <string>

#include "codec/standard_form.h"

namespace halftone::codec {
namespace {

// Dims that are 1 lie everywhere; they count for no axis.
struct AxisView {
  std::int64_t outer = 1;  // product of the dims before
  std::int64_t dim = 1;
  std::int64_t inner = 1;  // product of the dims behind
};

AxisView view_of(std::span<const std::int64_t> dims, std::size_t axis) {
  AxisView view;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i < axis) view.outer *= dims[i];
    if (i > axis) view.inner *= dims[i];
  }
  view.dim = dims[axis];
  return view;
}

StandardGrain blocked(std::span<const std::int64_t> dims, std::size_t axis, std::int64_t block) {
  StandardGrain grain{static_cast<std::int64_t>(axis), block, {dims.begin(), dims.end()}};
  grain.scale_dims[axis] = (dims[axis] - 1) / block + 1;
  return grain;
}

std::string shape_text(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (const std::int64_t dim : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

}  // namespace

Result<void> check_even_blocks(const CodecSchema& schema) {
  if (schema.permutation != 0) return no_equivalent("Its values are permuted.");
  if (schema.transform_size != 0) return no_equivalent("Its values are transformed by a matrix.");
  if (schema.outliers != 0) return no_equivalent("It has outliers, which are stored apart from its blocks.");
  if (schema.runs.empty()) return no_equivalent("It has no values.");
  if (schema.runs.size() == 1) return {};
  const SchemaRun& last = schema.runs.back();
  BlockLayout same = last.layout;
  same.count = schema.runs.front().layout.count;
  const bool even = schema.runs.size() == 2 && same == schema.runs.front().layout && last.blocks == 1 &&
                    last.layout.count < same.count;
  return even ? Result<void>() : no_equivalent("Its blocks differ in size or kind.");
}

Result<StandardGrain> standard_grain(const CodecSchema& schema, std::span<const std::int64_t> dims) {
  if (Result<void> even = check_even_blocks(schema); !even) return even.error();
  if (schema.blocks == 1) return StandardGrain{};
  const auto block = static_cast<std::int64_t>(schema.runs.front().layout.count);
  const bool whole = schema.runs.size() == 1;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const AxisView view = view_of(dims, axis);
    if (whole && view.outer == 1 && view.dim > 1 && view.inner == block)
      return StandardGrain{static_cast<std::int64_t>(axis), 0, {view.dim}};
    if (view.dim > 1 && view.inner == 1 && (view.dim % block == 0 || view.outer == 1))
      return blocked(dims, axis, block);
  }
  return no_equivalent("Its blocks of " + std::to_string(block) +
                       " values don't lie along one axis of its shape " + shape_text(dims) + ".");
}

}  // namespace halftone::codec
