// A tensor's pieces through a format and back, with the scale that each value was stored at.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halftone/format_trial.h"

namespace halftone {

class FormatTrial::Coder {
 public:
  Coder(std::uint32_t block_size, std::vector<double> levels)
      : block_size_(block_size), levels_(std::move(levels)) {}
  Coder(const Coder&) = delete;
  Coder& operator=(const Coder&) = delete;
  virtual ~Coder() = default;

  // The next values: whole blocks, but at the tensor's end. `decoded` has as many.
  virtual Result<void> run(FloatView values, std::span<float> decoded) = 0;

  [[nodiscard]] std::uint32_t block_size() const { return block_size_; }
  // Ascending; empty where there are too many to show.
  [[nodiscard]] const std::vector<double>& levels() const { return levels_; }
  // Value number i of the last run in units of its scale. A scale of 0 holds its offset only.
  [[nodiscard]] double normalised(std::size_t i, double value) const;

 protected:
  [[nodiscard]] bool shows_levels() const { return !levels_.empty(); }
  void clear_scales() {
    steps_.clear();
    offsets_.clear();
  }
  void add_scale(double step, double offset, std::size_t values) {
    steps_.insert(steps_.end(), values, step);
    offsets_.insert(offsets_.end(), values, offset);
  }

 private:
  std::uint32_t block_size_;
  std::vector<double> levels_;
  std::vector<double> steps_;
  std::vector<double> offsets_;
};

namespace codec {

inline constexpr std::size_t kMostLevels = 256;

// One for each family. `count`: of the whole tensor.
Result<std::unique_ptr<FormatTrial::Coder>> profile_trial(CodecProfile profile, std::uint32_t block_size,
                                                          std::uint64_t count);
std::unique_ptr<FormatTrial::Coder> number_trial(NumberFormat number, std::uint32_t block_size);
std::unique_ptr<FormatTrial::Coder> layout_trial(const BlockCoding& coding);

}  // namespace codec
}  // namespace halftone
