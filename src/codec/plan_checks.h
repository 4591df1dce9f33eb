// Checks that plans and values that were read have in common. Errors are kInvalidPolicy and kNonFinite.
#pragma once

#include <cstdint>
#include <span>

#include "halftone/codec_plan.h"
#include "halftone/result.h"

namespace halftone::codec {

// A damaged value is no invalid plan: the same error as kInvalidGraph.
Error as_damage(Error error);

Result<void> check_permutation(std::span<const std::int64_t> permutation, std::uint64_t count);
Result<void> check_outliers(std::span<const std::int64_t> outliers, std::uint64_t count);
// n * n each, divide the count, finite, and inverse to each other.
Result<void> check_matrices(std::uint32_t n, std::span<const double> forward, std::span<const double> inverse,
                            std::uint64_t count);
Result<void> check_needed_transform(CodecProfile profile, std::uint32_t n);

// What one block may have. The messages are completed with where the block is by the caller.
Result<void> check_scale(double scale);
Result<void> check_zero_point(const BlockLayout& layout, double zero_point);
Result<void> check_offset(const BlockLayout& layout, double offset);
Result<void> check_table(std::span<const double> table);

}  // namespace halftone::codec
