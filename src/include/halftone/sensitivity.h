// Sensitivity: what is scored, how, and in which order the result is ranked. The core never runs inference: a
// runner does, and feeds float and quantized outputs here, sample by sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone {

// Which tensors are compared. `choice` empty: every float graph output, replaced by the input of the Softmax,
// LogSoftmax, Sigmoid or HardSigmoid that makes it (looking through Reshape, Transpose, Squeeze, Unsqueeze,
// Identity, Cast); "output": the float graph outputs as they are; else the name of a float tensor of the
// graph. Errors: kInvalidPolicy for an unknown tensor, one that isn't float or is constant, or if there is
// nothing to score.
Result<std::vector<std::string>> scored_tensors(const Model& model, std::string_view choice);

// Peak signal-to-noise ratio over everything fed, in double, with one global peak and one global mean
// (AIMET's compute_psnr):
//   peak = max(max(e) - min(e), max|e|, 1e-10), rmse = max(sqrt(mean((e-a)^2)),
//   1e-15), clip(20 log10(peak / rmse), -100, 100)
// Constant memory; accumulation order is fixed, so the result is the same natively and in WASM.
class PsnrAccumulator {
 public:
  // Errors: kShapeMismatch if the lengths differ; kNonFinite if `expected` has NaN or infinity. A non-finite
  // `actual` is remembered: score() is then -100.
  Result<void> add(std::span<const float> expected, std::span<const float> actual);
  // As if this had been fed other's data too (order matters only in the last bits of the sum; feed samples in
  // order).
  void merge(const PsnrAccumulator& other);
  // dB. Errors: kInvalidState if nothing was fed.
  [[nodiscard]] Result<double> score() const;
  [[nodiscard]] bool saw_non_finite() const { return non_finite_; }

 private:
  double squared_error_ = 0;
  double min_ = 0;
  double max_ = 0;
  std::uint64_t count_ = 0;
  bool non_finite_ = false;
};

struct ScoredSite {
  std::string name;
  double score = 0;  // NaN ranks first (worst)
  std::string detail;
};

// Most sensitive first. `higher_is_worse` false (PSNR): lowest score first. Stable: equal scores keep the
// order they came in.
void rank(std::vector<ScoredSite>& rows, bool higher_is_worse);

}  // namespace halftone
