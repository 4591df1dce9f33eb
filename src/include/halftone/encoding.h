// Encodings: number format + granularity + scales (+ zero points), one per quantized tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "halftone/model.h"
#include "halftone/number_format.h"
#include "halftone/observer.h"
#include "halftone/plan.h"
#include "halftone/quant_params.h"
#include "halftone/result.h"

namespace halftone {

struct Encoding {
  NumberFormat format = NumberFormat::kUint8;
  std::int32_t axis = -1;                // -1: one scale for the tensor
  std::vector<float> scale;              // > 0, finite; normal but for a bias's
  std::vector<std::int32_t> zero_point;  // same length as scale; all 0 for float8e4m3fn
  std::vector<float> min;                // the range that was asked for, same length; for a bias: empty
  std::vector<float> max;
};

// By tensor name, in site order.
class Encodings {
 public:
  // Replaces an older one of the same name, keeping its place.
  void set(std::string tensor, Encoding encoding);
  // nullptr if there is none. O(1).
  [[nodiscard]] const Encoding* find(std::string_view tensor) const;
  [[nodiscard]] std::span<const std::pair<std::string, Encoding>> all() const { return entries_; }

 private:
  std::vector<std::pair<std::string, Encoding>> entries_;
  std::unordered_map<std::string, std::size_t> index_;
};

// How the float8 scales of a plan are made: as ModelOpt where the plan matches that peer, else over the whole
// range.
Float8Scale float8_scale_of(const Plan& plan);

// The encoding of an activation site for an observed range. Source: spec of onnxruntime.quantization
// (float64, then float32). Errors: kNonFinite if the range is empty, NaN or infinite, with the tensor in
// `where`. A site's fixed range takes the place of the observed one, which may be empty then. `float8`
// matters to float8e4m3fn only.
Result<Encoding> activation_encoding(const Site& site, const MinMax& range,
                                     Float8Scale float8 = Float8Scale::kWholeRange);

// The encoding of a weight site, or of an activation that is a constant, from its own values (one pass).
// Errors: kNonFinite with the tensor and the index of the first NaN or infinity; kUnsupportedType;
// kInvalidPolicy for an axis that the weight doesn't have.
Result<Encoding> weight_encoding(const Model& model, const Site& site,
                                 Float8Scale float8 = Float8Scale::kWholeRange);

// The int32 encoding of a bias: scale = float32(s_x * s_w), no zero point, no range. Errors: kInvalidState if
// one of the two encodings is missing; kInvalidPolicy if a code would pass 2^31 (the caller then leaves the
// bias in float and says so; see complete_encodings).
Result<Encoding> bias_encoding(const Model& model, const Site& site, const Encodings& encodings);

// Completes `encodings` (which holds the activations) with weights, biases and constant activations of every
// quantized site of `plan`, replacing older ones of theirs, and puts them in site order; entries of sites
// that are not quantized are dropped. The members of a scale group get the scale of the union of their
// ranges, and keep their own range in min and max. A bias whose codes would overflow becomes unquantized in
// `plan`, in its site and its inputs, with the reason. Errors: as above; kInvalidState for an activation
// without an encoding.
Result<void> complete_encodings(const Model& model, Plan& plan, Encodings& encodings);

// The float model with the values that the plan's quantized weights have in a simulation, made from their own
// ranges: what the activations of a plan for target aimet are observed on, as AIMET does. For other targets
// it is the model itself. Errors: as weight_encoding and check_plan.
Result<std::shared_ptr<const Model>> observed_model(const std::shared_ptr<const Model>& model,
                                                    const Plan& plan);

// What sharing a scale costs one member of a scale group.
struct BranchGrowth {
  std::string group;
  std::string tensor;
  float own_scale = 1.0F;     // what its own range would give
  float shared_scale = 1.0F;  // what it has; shared / own is the factor by which its steps grew
};

// For every quantized member of every scale group, in site order within groups, groups in order of their
// first members. Members of groups without ranges are left out.
std::vector<BranchGrowth> scale_growth(const Plan& plan, const Encodings& encodings);

}  // namespace halftone
