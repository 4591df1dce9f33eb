// From a target's decisions to a Plan.
#include "halftone/plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "plan/opset_needed.h"
#include "plan/quantizable_model.h"
#include "plan/selection.h"
#include "plan/targets.h"

namespace halftone {
namespace {

// `order` by tensor; empty: as the drafts are.
void put_sites(std::vector<SiteDraft> drafts, const std::vector<std::int32_t>& order, Plan& plan) {
  // Sites are large, so their numbers are sorted and each is moved once.
  std::vector<std::pair<std::int32_t, std::size_t>> places;
  places.reserve(drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i)
    places.emplace_back(order.empty() ? 0 : order[static_cast<std::size_t>(drafts[i].tensor)], i);
  std::sort(places.begin(), places.end());
  plan.sites.reserve(drafts.size());
  for (const auto& [place, i] : places) plan.sites.push_back(std::move(drafts[i].site));
}

void put_inputs(const Graph& graph, InputDecisions decisions, Plan& plan) {
  plan.inputs.reserve(decisions.size());
  for (const NodeId id : graph.topological_order()) {
    const GraphNode& node = graph.node(id);
    const std::string label = graph.node_label(id);
    for (std::int32_t input = 0; static_cast<std::size_t>(input) < node.inputs.size(); ++input) {
      Decision& decision = decisions.at({id, input});
      const TensorId tensor = node.inputs[static_cast<std::size_t>(input)];
      plan.inputs.push_back({label, node.op_type, input, tensor == kNone ? "" : graph.tensor(tensor).name,
                             decision.quantized, std::move(decision.rule), std::move(decision.why),
                             std::move(decision.partition)});
    }
  }
}

void warn_if_empty(Plan& plan) {
  const bool any =
      std::any_of(plan.sites.begin(), plan.sites.end(), [](const Site& site) { return site.quantized; });
  if (any) return;
  plan.warnings.push_back(
      {"nothing_to_quantize",
       plan.sites.empty()
           ? "The model has no operator whose inputs this target quantizes, so nothing would change."
           : "No tensor of the model would be quantized; the reasons are with its " +
                 std::to_string(plan.sites.size()) + " sites.",
       ""});
}

}  // namespace

InputDecisions::InputDecisions(const Graph& graph) {
  std::size_t inputs = 0;
  first_.reserve(graph.nodes().size());
  for (const GraphNode& node : graph.nodes()) {
    first_.push_back(inputs);
    inputs += node.inputs.size();
  }
  decisions_.resize(inputs);
}

const Site* Plan::find(std::string_view tensor) const {
  const auto found =
      std::find_if(sites.begin(), sites.end(), [&](const Site& site) { return site.tensor == tensor; });
  return found == sites.end() ? nullptr : &*found;
}

Result<Plan> make_plan(const Model& model, const PlanOptions& options) {
  const TargetRules& rules = target_rules(options.target);
  Plan plan;
  const TargetFormats formats = rules.formats(options);
  plan.target = options.target;
  plan.match = options.match;
  plan.options = options;
  plan.options.activations = formats.activations;
  plan.options.weights = formats.weights;
  plan.options.activations_symmetric = formats.activations_symmetric;
  Result<void> fits = rules.check_options(options, formats, plan.warnings);
  if (fits.ok()) fits = check_not_quantized(model);
  if (fits.ok()) fits = check_float32(model.graph());
  if (!fits.ok()) return fits.error();

  const Graph& graph = model.graph();
  Result<Selection> selection = Selection::build(graph, options, plan.warnings);
  if (!selection.ok()) return selection.error();
  Result<TargetDecisions> decided = rules.decide({graph, options, formats, selection.value()});
  if (!decided.ok()) return decided.error();
  TargetDecisions& decisions = decided.value();
  const std::vector<std::int32_t> order =
      rules.site_order == nullptr ? std::vector<std::int32_t>() : rules.site_order(graph);
  put_sites(std::move(decisions.sites), order, plan);
  put_inputs(graph, std::move(decisions.inputs), plan);
  plan.warnings.insert(plan.warnings.end(), decisions.warnings.begin(), decisions.warnings.end());
  plan.opset_needed = opset_needed_for(plan);
  warn_if_empty(plan);
  return plan;
}

}  // namespace halftone
