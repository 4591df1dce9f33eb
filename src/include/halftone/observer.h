// What calibration keeps of a tensor: constant memory, mergeable in any order with the same result.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace halftone {

// Smallest and largest value seen. The empty range has min > max.
struct MinMax {
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  [[nodiscard]] bool empty() const { return min > max; }
};

class MinMaxObserver {
 public:
  // Takes in one sample's values. Zero values change nothing. NaN and infinities don't enter the range but
  // are counted.
  void observe(std::span<const float> values);
  // Afterwards as if this had observed both. Commutative and associative to the last bit.
  void merge(const MinMaxObserver& other);

  [[nodiscard]] const MinMax& range() const { return range_; }
  [[nodiscard]] std::uint64_t values() const { return values_; }
  [[nodiscard]] std::uint64_t non_finite() const { return non_finite_; }
  // Index, inside the last observed span that had one, of its first NaN or infinity.
  [[nodiscard]] std::uint64_t first_non_finite() const { return first_non_finite_; }

 private:
  MinMax range_;
  std::uint64_t values_ = 0;
  std::uint64_t non_finite_ = 0;
  std::uint64_t first_non_finite_ = 0;
};

}  // namespace halftone
