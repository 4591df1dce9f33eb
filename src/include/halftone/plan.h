// A plan: for every tensor that a quantizer can sit on, whether it is quantized, how, and by which rule. A
// plan is data: it can be edited, saved, loaded and compared. It names tensors and nodes, never ids, so it
// survives an opset conversion.
//
// Order of sites (contract): graph inputs, then for each node in graph order its inputs, then its outputs;
// each tensor at its first appearance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/model.h"
#include "halftone/number_format.h"
#include "halftone/result.h"

namespace halftone {

enum class Role : std::uint8_t { kActivation, kWeight, kBias };
enum class Granularity : std::uint8_t { kTensor, kChannel, kBlock };
enum class Target : std::uint8_t { kOnnxRuntime };  // later: kTensorRT, kAimet, kWeightOnly

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
  Role role = Role::kActivation;
  bool quantized = false;
  NumberFormat format = NumberFormat::kUint8;
  Granularity granularity = Granularity::kTensor;
  std::int32_t axis = -1;  // along which scales lie, for kChannel and kBlock;
                           // never negative then
  std::int64_t block_size = 0;
  bool symmetric = false;
  std::optional<std::string> scale_group;
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

struct PlanOptions {
  Target target = Target::kOnnxRuntime;
  NumberFormat activations = NumberFormat::kUint8;  // int8, uint8, int16, uint16
  NumberFormat weights = NumberFormat::kInt8;       // int8, uint8, int16, uint16, int4, uint4
  bool activations_symmetric = false;
  bool per_channel = true;
  // Patterns over node names (labels), tensor names and operator types: exact name, "glob:…", "re:…"
  // (ECMAScript), "op:…". With `include` only nodes that match are quantized; `exclude` wins.
  std::vector<std::string> include;
  std::vector<std::string> exclude;
};

struct Plan {
  Target target = Target::kOnnxRuntime;
  std::optional<std::string> match;  // the peer whose faults are reproduced
  PlanOptions options;
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

// Checks an edited or loaded plan against a model: every tensor, node and axis exists and fits. Errors:
// kInvalidPolicy.
Result<void> check_plan(const Model& model, const Plan& plan);

}  // namespace halftone
