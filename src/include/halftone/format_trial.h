// What a format does to the values of a tensor: it is encoded and decoded piece by piece, and only figures
// are kept, so that tensors of any size, and many formats at once, need a few hundred kilobytes.
//
// Values in units of their block's scale ("normalised") are what a format's levels are compared with:
// (x - offset) / scale, in double. A level is what a code stands for at scale 1; where zero points are part
// of the code, levels are codes.
// Threading: an object belongs to one thread. All figures are independent of how values were cut in pieces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/float_view.h"
#include "halftone/statistics.h"
#include "halftone/storage_format.h"

namespace halftone {

struct TrialFigures {
  static constexpr std::size_t kErrorBins = 64;
  static constexpr std::size_t kValueBins = 128;

  std::uint64_t count = 0;
  std::uint64_t bytes = 0;       // stored_bytes()
  double bits_per_weight = 0.0;  // of these bytes; 0 without values
  ErrorSums sums;                // of the values and of what became of them
  double rms_error = 0.0;
  // Errors, decoded less original: equal bins over [-error_limit, error_limit), the smallest power of two
  // that is more than any; 0 and no counts where every error is 0. A bin includes its lower end.
  double error_limit = 0.0;
  std::array<std::uint64_t, kErrorBins> errors = {};
  // Ascending; empty where there are more than 256 or none (casts, 16 bits).
  std::vector<double> levels;
  std::vector<std::uint64_t> level_counts;  // values that were stored as this level
  // Normalised values, where there are levels: equal bins from a twentieth of the levels' width below the
  // lowest to as much above the highest, and what is beyond.
  double low = 0.0;
  double high = 0.0;
  std::array<std::uint64_t, kValueBins> values = {};
  std::uint64_t below = 0;
  std::uint64_t above = 0;
};

class FormatTrial {
 public:
  class Coder;  // of one family; private to src/codec

  // Of `count` values. `largest`: the largest magnitude among them, for formats with a scale of the tensor
  // (needs_largest()).
  // Errors: those of stored_bytes(); kInvalidPolicy for formats that need more than values.
  static Result<FormatTrial> open(const StorageFormat& format, std::uint32_t block_size, std::uint64_t count,
                                  float largest);
  FormatTrial(FormatTrial&&) noexcept;
  FormatTrial& operator=(FormatTrial&&) noexcept;
  ~FormatTrial();

  static bool needs_largest(const StorageFormat& format);

  // The next values, however many. Errors: kShapeMismatch for more than `count` in all; kNonFinite and
  // kTooLarge for values that the format can't hold, with the element or the number of its scale.
  Result<void> add(FloatView values);
  // Errors: kShapeMismatch before all `count` values are there.
  Result<TrialFigures> figures();

 private:
  FormatTrial() = default;
  Result<void> encode_pending();
  void count_errors();
  void count_levels();
  void widen_errors(double largest);

  std::unique_ptr<Coder> coder_;
  std::size_t piece_ = 0;  // values that are encoded at once
  std::uint64_t seen_ = 0;
  std::uint64_t done_ = 0;
  std::vector<float> pending_;
  std::vector<float> decoded_;
  TrialFigures figures_;
};

// Values of any of the four float types as float32, rounded to nearest. Errors: kUnsupportedType for others,
// kShapeMismatch where sizes don't fit.
Result<void> to_float32(DataType type, std::span<const std::uint8_t> bytes, std::span<float> values);

}  // namespace halftone
