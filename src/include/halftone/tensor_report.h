// What a person looks at before choosing a range: one tensor's histogram, what an encoding clips of it, and
// the noise that the encoding adds. Fed sample by sample in constant memory; the range has to be known before
// (see MinMaxObserver).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/float_view.h"
#include "halftone/observer.h"
#include "halftone/result.h"
#include "halftone/statistics.h"

namespace halftone {

struct TensorReport {
  std::uint64_t count = 0;  // of all values fed
  MinMax range;             // of the histogram, as it was asked for
  std::vector<std::uint64_t>
      histogram;  // equal bins from range.min to range.max; values outside and non-finite are left out
  std::optional<double>
      clipped;  // share of values that the encoding can't reach, 0 to 1; nullopt without an encoding
  std::optional<double>
      sqnr;  // 10 log10(sum x^2 / sum (x - x')^2), dB; nullopt without an encoding or without noise
};

class TensorReporter {
 public:
  // `range` with min == max is one bin's worth: all values fall into the first. Errors: kInvalidPolicy for 0
  // or more than 65536 bins; kNonFinite for a range that is empty or not finite.
  static Result<TensorReporter> create(MinMax range, std::size_t bins, std::optional<Encoding> encoding);

  // Adds one sample's value of shape `dims`. Zero elements change nothing. Errors: kShapeMismatch if the
  // encoding's axis or number of scales doesn't fit `dims`.
  Result<void> add(FloatView values, std::span<const std::int64_t> dims);

  [[nodiscard]] TensorReport report() const;

 private:
  TensorReporter(MinMax range, std::size_t bins, std::optional<Encoding> encoding);
  Result<void> add_noise(FloatView values, std::span<const std::int64_t> dims);

  MinMax range_;
  std::vector<std::uint64_t> bins_;
  std::optional<Encoding> encoding_;
  std::vector<float> quantized_;  // scratch of one sample
  ErrorSums noise_;
  std::uint64_t count_ = 0;
  std::uint64_t clipped_ = 0;
};

}  // namespace halftone
