// The eight partial sums behind error_sums(), and the one place that combines them: every implementation ends
// here, so that all of them add in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halftone/statistics.h"

namespace halftone::numeric {

inline constexpr std::size_t kErrorPartials = 8;

// Aligned for the widest vector.
struct ErrorPartials {
  alignas(64) double error_squares[kErrorPartials] = {};
  alignas(64) double expected_squares[kErrorPartials] = {};
  alignas(64) double actual_squares[kErrorPartials] = {};
  alignas(64) double products[kErrorPartials] = {};
  alignas(64) double max_abs_error[kErrorPartials] = {};
};

ErrorSums combine(const ErrorPartials& partials, std::uint64_t count);

}  // namespace halftone::numeric
