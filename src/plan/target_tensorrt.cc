// Target "tensorrt": Q/DQ pairs where TensorRT's fused kernels expect them, as NVIDIA's ModelOpt places them.
//
// Int8 or float8, symmetric: activations per tensor, constants per channel, biases in float. The policy is in
// plan/tensorrt; without `match` it is corrected where ModelOpt's is at fault: names are exact, constants are
// constants however they are stored, and the scales of a MatMul's constant lie along its output channels.
#include <array>
#include <string>
#include <utility>

#include "plan/foreign_options.h"
#include "plan/site_order.h"
#include "plan/targets.h"
#include "plan/tensorrt/sites.h"
#include "plan/untouched.h"
#include "plan/wording.h"

namespace halftone {
namespace {

constexpr std::string_view kModelOpt = "modelopt";

bool is_float8(NumberFormat format) { return format == NumberFormat::kFloat8E4M3Fn; }

// Where one of the two formats is given, the other follows it.
TargetFormats formats_of(const PlanOptions& options) {
  const NumberFormat activations =
      options.activations.value_or(options.weights.value_or(NumberFormat::kInt8));
  return {activations, options.weights.value_or(activations), options.activations_symmetric.value_or(true)};
}

Error bad_option(std::string message, std::string_view option, std::string next) {
  return Error{ErrorCode::kInvalidPolicy, std::move(message), std::string(option), std::move(next)};
}

Result<void> check_formats(const TargetFormats& formats) {
  for (const auto& [option, format] :
       {std::pair{"activations", formats.activations}, std::pair{"weights", formats.weights}}) {
    if (format == NumberFormat::kInt8 || is_float8(format)) continue;
    return bad_option("Target tensorrt can't store " + std::string(option) + " as " +
                          std::string(number_format_info(format).name) + ".",
                      option, "Choose int8 or float8e4m3fn.");
  }
  if (formats.activations != formats.weights)
    return bad_option("Target tensorrt needs activations and weights in the same format.", "weights",
                      "Choose int8 for both, or float8e4m3fn for both.");
  if (!formats.activations_symmetric)
    return bad_option("Target tensorrt takes symmetric activations only.", "activations_symmetric",
                      "Leave the option out, or choose target onnxruntime.");
  return {};
}

Result<void> check_match(const PlanOptions& options) {
  if (!options.match) return {};
  if (*options.match != kModelOpt)
    return bad_option("Target tensorrt can't match " + quoted(*options.match) + ".", "match",
                      "The only peer of this target is modelopt.");
  const std::array<std::pair<bool, std::string_view>, 2> contradicting = {
      {{!options.per_channel, "per_channel"}, {options.raw_excluded, "raw_excluded"}}};
  for (const auto& [is_set, option] : contradicting) {
    if (!is_set) continue;
    return bad_option("ModelOpt knows no such choice as the option " + std::string(option) +
                          " makes, so matching it is impossible.",
                      option, "Leave out this option, or match.");
  }
  return {};
}

Result<void> check_options(const PlanOptions& options, const TargetFormats& formats,
                           std::vector<Warning>& /*warnings*/) {
  Result<void> fits = check_foreign_options(options, "tensorrt");
  if (fits.ok()) fits = check_formats(formats);
  if (fits.ok()) fits = check_match(options);
  if (!fits.ok()) return fits;
  if (options.dla && is_float8(formats.activations))
    return bad_option("The deep learning accelerator has no float8.", "dla",
                      "Choose int8, or leave out dla.");
  return {};
}

// The nodes that include patterns ask for: those of an operator that this target quantizes by default, or
// that an "op:" pattern names (int8 only; float8 has four operators).
std::vector<bool> listed_nodes(const PlanContext& context, const tensorrt::PolicyOptions& policy) {
  const bool float8 = policy.precision == tensorrt::Precision::kFloat8;
  std::vector<bool> listed(context.graph.nodes().size(), false);
  for (NodeId id = 0; static_cast<std::size_t>(id) < listed.size(); ++id) {
    const GraphNode& node = context.graph.node(id);
    if (!node.domain.empty()) continue;
    const bool known = float8 ? tensorrt::is_quantizable_float8(node.op_type)
                              : policy.dla || tensorrt::is_quantizable_int8(node.op_type);
    if (!known && (float8 || !context.selection.includes_operator(node.op_type))) continue;
    for (const TensorId tensor : node.inputs) {
      if (tensor != kNone && !context.selection.left_out(id, tensor))
        listed[static_cast<std::size_t>(id)] = true;
    }
  }
  return listed;
}

tensorrt::PolicyOptions policy_options(const PlanContext& context) {
  tensorrt::PolicyOptions policy;
  policy.precision =
      is_float8(context.formats.activations) ? tensorrt::Precision::kFloat8 : tensorrt::Precision::kInt8;
  policy.dla = context.options.dla;
  policy.raw_excluded = context.options.raw_excluded;
  policy.patterns = &context.selection;
  if (context.selection.has_include()) policy.listed = listed_nodes(context, policy);
  return policy;
}

tensorrt::PolicyGraph view_of(const Graph& graph, const PlanOptions& options) {
  return {graph, options.match ? tensorrt::Peer::kReproduce : tensorrt::Peer::kCorrect};
}

void warn_of_guesses(const Graph& graph, const std::vector<TensorId>& unknown,
                     std::vector<Warning>& warnings) {
  if (unknown.empty()) return;
  const std::string& first = graph.tensor(unknown.front()).name;
  warnings.push_back({"shapes_not_known",
                      "The rules that leave small products and long attentions in float had to guess " +
                          count_phrase(unknown.size(), "shape", "shapes") +
                          " (an unknown dimension counts as 1); the first is that of " + quoted(first) +
                          ". Shapes from a sample settle it.",
                      printable(first)});
}

Result<TargetDecisions> decide(const PlanContext& context) {
  const Graph& graph = context.graph;
  const tensorrt::PolicyGraph view = view_of(graph, context.options);
  const tensorrt::TensorShapes shapes(graph, context.options.sample_shapes);
  const tensorrt::PolicyOptions options = policy_options(context);
  std::vector<bool> excluded(graph.nodes().size(), false);
  for (NodeId id = 0; static_cast<std::size_t>(id) < excluded.size(); ++id)
    excluded[static_cast<std::size_t>(id)] = context.selection.excludes_node(id);
  const tensorrt::Policy policy = tensorrt::apply_policy(view, shapes, options, std::move(excluded));
  TargetDecisions decisions = tensorrt::sites_of(view, policy, options, context);
  if (!options.dla) warn_of_guesses(graph, tensorrt::find_unknown_shapes(view, shapes), decisions.warnings);
  warn_of_untouched(graph, decisions.warnings);
  return decisions;
}

}  // namespace

std::vector<std::string> shapes_to_measure(const Model& model, const PlanOptions& options) {
  std::vector<std::string> names;
  if (options.target != Target::kTensorRT || options.dla) return names;
  const Graph& graph = model.graph();
  const tensorrt::TensorShapes shapes(graph, options.sample_shapes);
  for (const TensorId id : tensorrt::find_unknown_shapes(view_of(graph, options), shapes))
    names.push_back(graph.tensor(id).name);
  return names;
}

const TargetRules kTensorRTTarget = {Target::kTensorRT, "tensorrt", formats_of,
                                     check_options,     decide,     contract_site_order};

}  // namespace halftone
