// What has to hold before a kernel may touch memory. Private to src/numeric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halftone/quant_grid.h"
#include "halftone/result.h"

namespace halftone {

// element_count() of data_type.h, limited to what this platform can address as float32.
std::optional<std::uint64_t> element_count_of(std::span<const std::int64_t> dims);

// kShapeMismatch unless scales and zero points are as many as the layout has.
Result<void> check_scale_count(const QuantGrid& grid);

// All checks of a grid over `elements` values and `code_bytes` bytes of codes (nullopt: no codes are
// involved), in the order that quant_grid.h states. `for_quantizing` refuses formats that QuantizeLinear
// can't make.
Result<void> check_grid(const QuantGrid& grid, std::size_t elements, std::optional<std::size_t> code_bytes,
                        bool for_quantizing);

// kShapeMismatch unless the layout has exactly `elements`.
Result<void> check_layout(const GridLayout& layout, std::size_t elements);

}  // namespace halftone
