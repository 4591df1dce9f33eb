#include <cmath>

#include "halftone/metric.h"
#include "halftone/statistics.h"

namespace halftone {

Result<double> amp_sqnr(std::span<const float> expected, std::span<const float> actual) {
  constexpr double kNoiseFloor = 1e-4;
  const Result<ErrorSums> sums = error_sums(FloatView(expected), FloatView(actual));
  if (!sums.ok()) return sums.error();
  if (expected.empty())
    return Error{ErrorCode::kInvalidState, "No outputs were compared, so there is no score.", "",
                 "Score a tensor that has elements."};
  const auto count = static_cast<double>(sums.value().count);
  return 10.0 * std::log10(sums.value().expected_squares / count /
                           (sums.value().error_squares / count + kNoiseFloor));
}

}  // namespace halftone
