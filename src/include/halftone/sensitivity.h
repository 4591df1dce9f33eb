// Sensitivity: what is scored. The core never runs inference: a runner does, and feeds float and quantized
// outputs here, sample by sample.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/metric.h"
#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

// Which tensors are compared. `choice` empty: every float graph output, replaced by the input of the Softmax,
// LogSoftmax, Sigmoid or HardSigmoid that makes it (looking through Reshape, Transpose, Squeeze, Unsqueeze,
// Identity, Cast); "output": the float graph outputs as they are; "output:N": graph output number N, from 0;
// else the name of a float tensor of the graph. Errors: kInvalidPolicy for an unknown tensor, one that isn't
// float or is constant, or if there is nothing to score.
Result<std::vector<std::string>> scored_tensors(const Model& model, std::string_view choice);

// All that a list of choices names, in its order, each tensor once: for the worst of several. An empty list
// is the default choice. Errors: as above.
Result<std::vector<std::string>> scored_tensors(const Model& model, std::span<const std::string> choices);

// PSNR over everything fed (see metric.h), in constant memory. The order of accumulation is fixed, so the
// result is the same natively and in WASM.
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
  [[nodiscard]] bool saw_non_finite() const;

 private:
  MetricTerms terms_{};
};

}  // namespace halftone
