// Acting on a sensitivity ranking: what a plan costs, and plans in which some quantizers have a higher
// precision. Nothing here runs a model or changes its arguments, so undoing a flip is going back to the plan
// and the encodings that it was made from.
// Threading: plain functions. Source of the semantics: AIMET's lite_mp, without its fault of presuming that
// lower scores are worse.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/number_format.h"
#include "halftone/plan.h"
#include "halftone/result.h"
#include "halftone/sensitivity_results.h"

namespace halftone {

// Shapes of tensors as one sample makes them. A tensor that isn't listed has its inferred shape.
using MeasuredShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

// What a plan costs to store and to run. Numbers that would pass 2^64 - 1 stay there.
struct ModelCost {
  // Of the float tensors that are constants, each once, as the plan stores them: codes, scales and zero
  // points of quantized ones, 4 bytes a value of the others (and also where a quantized one has readers that
  // keep the float values).
  std::uint64_t weight_bytes = 0;
  // Of Conv, ConvTranspose, Gemm and MatMul in the main graph, for one run. Padding counts as values.
  std::uint64_t macs = 0;
  // Sum over those nodes of macs x bits of the first operand x bits of the second, as the node reads them;
  // 32 where it reads floats.
  std::uint64_t bit_ops = 0;
  // Labels of those nodes whose shapes aren't known, in graph order; they count for nothing above.
  std::vector<std::string> unknown;
};

// The tensors whose shapes model_cost() needs and the graph doesn't tell, in graph order: run a sample with
// them as outputs (graph inputs: take the sample's shapes), and pass what comes out as `shapes`.
std::vector<std::string> shapes_for_cost(const Model& model);

// Linear in nodes, tensors and sites.
ModelCost model_cost(const Model& model, const Plan& plan, const MeasuredShapes& shapes = {});

// What is flipped to what. Unset: left as it is. kFloat32: not quantized.
struct Precision {
  std::optional<NumberFormat> activations;
  std::optional<NumberFormat> weights;
  bool weights_per_channel = false;  // a scale for each channel, in the format that they have
};

// `weights` may be "channel". Empty texts are unset. Errors: kInvalidPolicy for another name, or if both are
// unset.
Result<Precision> precision_from_names(std::string_view activations, std::string_view weights);

// Which rows of a ranking; exactly one has to be set.
struct FlipChoice {
  std::optional<double> worst;      // this many rows; more than there are: all
  std::optional<double> percent;    // ceil(rows x percent / 100) rows, so any share above 0 is at least one
  std::optional<double> threshold;  // all that are worse than this score
  std::optional<std::vector<std::string>> names;
};

// Keys of the chosen rows, worst first, equal scores in the order they came in; those of `names` in the
// order of `names`. NaN is the worst. Errors: kInvalidPolicy for numbers that make no sense (negative, not
// finite, half a row), for not exactly one choice, and for a name that no row has.
Result<std::vector<std::string>> rows_to_flip(std::span<const ScoredSite> ranking, bool higher_is_worse,
                                              const FlipChoice& choice);

struct FlippedPlan {
  Plan plan;
  std::vector<std::string> flipped;  // tensors of the changed sites, in site order; biases follow unlisted
  std::vector<Warning> warnings;     // what changed nothing, opset, neighbours that a backend rejects
};

// The plan with these sites at another precision; it passes check_plan if `plan` did. Sites that are not
// quantized get the format but stay off. An int32 bias becomes float where one of its operands does, and
// follows its weight's axis. Members of a scale group change together, except to float. Errors:
// kInvalidPolicy for a tensor that is no weight or activation of the plan, a format that the target doesn't
// offer, or fewer bits.
Result<FlippedPlan> flip_sites(const Model& model, const Plan& plan, std::span<const std::string> tensors,
                               const Precision& to);

// The same for rows of results. Rows by quantizer are sites. Rows by layer or op_name are nodes, of which
// flip, as in lite_mp, the constants as weights, and what they make or read of the graph's inputs as
// activations; what other nodes made keeps its precision. Others are the groups that quantizer_groups() makes
// again. Which rows are worst follows the results' own direction, the other way round where the sweep
// disabled quantizers; AIMET's files have none, so lower scores are presumed worse, with a warning. Errors:
// kInvalidPolicy for keys that name nothing in this plan, groups that the caller made up, and a direction
// that contradicts the metric.
Result<FlippedPlan> flip_rows(const Model& model, const Plan& plan, const Encodings& encodings,
                              const SensitivityResults& results, const FlipChoice& choice,
                              const Precision& to);

// Makes the encodings of `encodings` fit `plan` again after a flip: sites of another format or axis get new
// ones, activations from the range that the old ones hold (min and max, or what the codes reach where those
// are missing), so that no calibration is needed; then scale groups and biases, as complete_encodings.
// On target aimet, which observes behind quantized weights, a new calibration would move the ranges a little.
// Encodings that fit stay as they are. Errors: as complete_encodings.
Result<void> recode(const Model& model, Plan& plan, Encodings& encodings);

// PSNR in dB of a whole plan, from how each quantizer alone scores, as if errors added up:
//   mse_i = peak^2 10^(-score_i / 10), times the mean squared scale after over before; 0 for float
// nullopt unless every quantized weight and activation of `before` has a finite score in `ranking`.
// Precondition: the scores are PSNRs of single quantizers as `before` has them.
std::optional<double> predicted_score(std::span<const ScoredSite> ranking, const Plan& before,
                                      const Encodings& encodings_before, const Plan& after,
                                      const Encodings& encodings_after);

}  // namespace halftone
