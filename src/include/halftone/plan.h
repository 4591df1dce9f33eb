// A plan: for every tensor that a quantizer can sit on, whether it is quantized, how, and by which rule. A
// plan is data: it can be edited, saved, loaded and compared. It names tensors and nodes, never ids, so it
// survives an opset conversion.
//
// Order of sites (contract): graph inputs, then for each node in graph order its inputs, then its outputs;
// each tensor at its first appearance. On target aimet all parameters come first, in node order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/aimet_config.h"
#include "halftone/aimet_grid.h"
#include "halftone/model.h"
#include "halftone/number_format.h"
#include "halftone/quant_params.h"
#include "halftone/result.h"

namespace halftone {

enum class Role : std::uint8_t { kActivation, kWeight, kBias };
enum class Granularity : std::uint8_t { kTensor, kChannel, kBlock };
enum class Target : std::uint8_t { kOnnxRuntime, kTensorRT, kAimet };  // later: kWeightOnly

std::string_view role_name(Role role);                // "activation" …
std::string_view granularity_name(Granularity unit);  // "tensor" …
std::string_view target_name(Target target);          // "onnxruntime" …
// Errors: kInvalidPolicy, naming the targets there are.
Result<Target> target_from_name(std::string_view name);

// One node input that reads a site's tensor. `node` is a label: the node's name, or "@first_output"
// (Graph::node_label).
struct Consumer {
  std::string node;
  std::int32_t input = 0;
};

// For a bias: the two sites whose scales multiply to its own.
struct BiasOf {
  std::string activation;
  std::string weight;
};

struct Site {
  std::string tensor;
  // On target aimet a constant that is no parameter of its reader is an activation too ("static"): stored and
  // simulated like a weight, with an activation's format and its range from its own values.
  Role role = Role::kActivation;
  bool quantized = false;
  NumberFormat format = NumberFormat::kUint8;
  Granularity granularity = Granularity::kTensor;
  std::int32_t axis = -1;  // along which scales lie, for kChannel and kBlock;
                           // never negative then
  std::int64_t block_size = 0;
  bool symmetric = false;
  // Activations with the same group name share one scale, that of the largest magnitude among them.
  std::optional<std::string> scale_group;
  // What calibration takes for the range, whatever it observes: [0, 1] behind a Softmax on target tensorrt.
  std::optional<ValueRange> fixed_range;
  // The model's output of this name comes out of the DequantizeLinear; false: it stays what its node makes.
  bool serves_output = false;
  std::optional<AimetGrid> aimet;   // set: its scale follows AIMET's formula (target aimet)
  std::string rule;                 // snake_case name of the rule that decided
  std::string why;                  // one sentence: the decision, and for "not" what would have
                                    // to differ
  std::vector<Consumer> consumers;  // the node inputs that read (or would read)
                                    // the dequantized tensor
  std::optional<BiasOf> bias_of;    // set exactly for Role::kBias
};

// The same decisions seen from the graph: one for every input of every node.
struct InputDecision {
  std::string node;
  std::string op;
  std::int32_t input = 0;
  std::string tensor;  // empty: an omitted optional input
  bool quantized = false;
  std::string rule;
  std::string why;
  std::optional<std::string> partition;
};

// An option that is left unset is the target's default, which the plan's own options say.
struct PlanOptions {
  Target target = Target::kOnnxRuntime;
  // The peer whose answers, faults included, are wanted: "modelopt" on target tensorrt, "aimet" on aimet.
  std::optional<std::string> match;
  // onnxruntime, aimet: activations int8, uint8 (default), int16, uint16; weights int8 (default), uint8,
  // int16, uint16, int4, uint4. tensorrt: both int8 (default), or both float8e4m3fn.
  std::optional<NumberFormat> activations;
  std::optional<NumberFormat> weights;
  // onnxruntime: false by default. tensorrt: always true. aimet: what the configuration's defaults say.
  std::optional<bool> activations_symmetric;
  bool per_channel = true;
  // Patterns over node names (labels), tensor names and operator types: exact name, "glob:…", "re:…"
  // (ECMAScript), "op:…". With `include` only nodes that match are quantized; `exclude` wins. On target
  // tensorrt `include` is a list of nodes in place of the fusion policy, as in ModelOpt: no residual rule
  // then, and "op:…" adds its operator to those that may be quantized.
  std::vector<std::string> include;
  std::vector<std::string> exclude;

  std::optional<AimetConfig> config;  // target aimet: in place of the default one

  // The rest is for target tensorrt.
  bool dla = false;            // int8 for the deep learning accelerator: every operator, no speed rules
  bool raw_excluded = false;   // excluded nodes read the raw tensor even where a neighbour reads its pair
  bool float_weights = false;  // weights stay float behind a Q/DQ pair, instead of codes behind a DQ
  // Model inputs that only a QuantizeLinear reads, and outputs behind a DequantizeLinear, become tensors of
  // codes: the pair's other half is left to the caller.
  bool direct_io = false;
  bool concat_groups = true;  // tensors that a Concat joins share one scale
  // Shapes of tensors as one sample makes them, for the speed rules; a tensor that isn't listed has its
  // inferred shape, in which an unknown dimension counts as 1.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> sample_shapes;
};

struct Plan {
  Target target = Target::kOnnxRuntime;
  std::optional<std::string> match;  // as in `options`
  PlanOptions options;               // as asked for, with the target's defaults filled in
  std::vector<Site> sites;
  std::vector<InputDecision> inputs;
  std::vector<Warning> warnings;  // e.g. a pattern that matches nothing, with its near misses
  std::int64_t opset_needed = 0;  // of the default domain; 0: nothing is quantized

  // nullptr if there is no such site. O(1) after the first call is not promised: O(n). Index it when looping.
  [[nodiscard]] const Site* find(std::string_view tensor) const;
};

// Decides. The model is not changed. Errors: kInvalidPolicy for options that contradict themselves;
// kInvalidState if the model is already quantized (with the number of pairs); kUnsupportedType if its float
// tensors are float16/bfloat16/double.
Result<Plan> make_plan(const Model& model, const PlanOptions& options);

// Names of the tensors whose shapes the target's speed rules look at, that the graph alone doesn't tell, and
// that `options.sample_shapes` lacks: run one sample with them as outputs (graph inputs: take the sample's
// shapes) and plan with what comes out. Sorted by tensor order; empty for targets that don't ask.
std::vector<std::string> shapes_to_measure(const Model& model, const PlanOptions& options);

// The grid of a tensor that isn't a site but is observed with these options. nullopt on targets other than
// aimet.
std::optional<AimetGrid> aimet_grid_of(const PlanOptions& options);

// Checks an edited or loaded plan against a model: every tensor, node and axis exists and fits. Errors:
// kInvalidPolicy.
Result<void> check_plan(const Model& model, const Plan& plan);

}  // namespace halftone
