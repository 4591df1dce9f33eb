#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "halftone/mixed_precision.h"
#include "plan/opset_needed.h"
#include "plan/targets.h"
#include "plan/wording.h"
#include "sensitivity/mixed_precision/neighbours.h"

namespace halftone {
namespace {

constexpr int kSymmetricNormBits = 16;

std::string_view format_name(NumberFormat format) { return number_format_info(format).name; }

// Formats that a plan of this target could have, and that can stand beside the ones it has.
Result<void> check_offered(const Plan& plan, const Precision& to) {
  const auto is_format = [](const std::optional<NumberFormat>& format) {
    return format && *format != NumberFormat::kFloat32;
  };
  if (!is_format(to.activations) && !is_format(to.weights)) return {};
  if (plan.target == Target::kTensorRT) {
    return Error{ErrorCode::kInvalidPolicy,
                 "Target tensorrt computes in the one format of the plan, " +
                     std::string(format_name(plan.options.weights.value_or(NumberFormat::kInt8))) +
                     ", or in float.",
                 "to", "Flip to float32."};
  }
  const TargetRules& rules = target_rules(plan.target);
  PlanOptions asked = plan.options;
  if (is_format(to.activations)) asked.activations = to.activations;
  if (is_format(to.weights)) asked.weights = to.weights;
  std::vector<Warning> of_whole_plans;
  return rules.check_options(asked, rules.formats(asked), of_whole_plans);
}

class Flipper {
 public:
  Flipper(const Model& model, const Plan& before, const Precision& to)
      : model_(model), graph_(model.graph()), before_(before), to_(to), chosen_(before.sites.size(), false) {
    result_.plan = before;
    for (std::size_t i = 0; i < before.sites.size(); ++i) index_[before.sites[i].tensor] = i;
  }

  Result<FlippedPlan> flip(std::span<const std::string> tensors) && {
    for (const std::string& tensor : tensors) {
      if (const Result<void> chosen = choose(tensor); !chosen.ok()) return chosen.error();
    }
    choose_groups();
    if (to_.weights_per_channel) {
      if (const Result<void> found = find_axes(); !found.ok()) return found.error();
    }
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (!chosen_[i]) continue;
      if (const Result<void> changed = change(result_.plan.sites[i]); !changed.ok()) return changed.error();
    }
    follow();
    say();
    return std::move(result_);
  }

 private:
  Site* site_of(const std::string& tensor) {
    const auto found = index_.find(tensor);
    return found == index_.end() ? nullptr : &result_.plan.sites[found->second];
  }

  Result<void> choose(const std::string& tensor) {
    const auto found = index_.find(tensor);
    if (found == index_.end() || result_.plan.sites[found->second].role == Role::kBias) {
      return Error{ErrorCode::kInvalidPolicy,
                   "The plan has no weight or activation " + quoted(tensor) + " to flip.", printable(tensor),
                   "Use the ranking that was made for this model and plan. Biases follow their weights by "
                   "themselves."};
    }
    const bool activation = result_.plan.sites[found->second].role == Role::kActivation;
    const bool asked =
        activation ? to_.activations.has_value() : to_.weights.has_value() || to_.weights_per_channel;
    chosen_[found->second] = chosen_[found->second] || asked;
    return {};
  }

  // One scale can mean the same to all members only in one format.
  void choose_groups() {
    if (to_.activations == NumberFormat::kFloat32) return;
    std::unordered_map<std::string_view, bool> groups;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const Site& site = result_.plan.sites[i];
      if (chosen_[i] && site.scale_group) groups[*site.scale_group] = true;
    }
    if (groups.empty()) return;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const Site& site = result_.plan.sites[i];
      if (site.scale_group && site.quantized && groups.contains(*site.scale_group)) chosen_[i] = true;
    }
  }

  // As the target would plan them.
  Result<void> find_axes() {
    PlanOptions options = result_.plan.options;
    options.per_channel = true;
    Result<Plan> planned = make_plan(model_, options);
    if (!planned.ok()) return planned.error();
    for (Site& site : planned.value().sites) {
      if (site.quantized && site.role == Role::kWeight) per_channel_.emplace(site.tensor, std::move(site));
    }
    return {};
  }

  Result<void> change(Site& site) {
    if (site.role == Role::kWeight && to_.weights_per_channel) {
      spread(site);
      return {};
    }
    const NumberFormat to = site.role == Role::kActivation ? *to_.activations : *to_.weights;
    if (to == NumberFormat::kFloat32) {
      if (!site.quantized) return {};
      site.quantized = false;
      mark(site,
           "Flipped from " + std::string(format_name(site.format)) + " to float32, so it isn't quantized.");
      return {};
    }
    if (to == site.format) return {};
    if (site.quantized && number_format_info(to).bits < number_format_info(site.format).bits) {
      return Error{ErrorCode::kInvalidPolicy,
                   std::string(format_name(to)) + " is a lower precision than the " +
                       std::string(format_name(site.format)) + " that " + quoted(site.tensor) + " has.",
                   printable(site.tensor), "Choose a format with more bits, or float32."};
    }
    const std::string from(format_name(site.format));
    site.format = to;
    if (is_norm_weight(site)) site.symmetric = number_format_info(to).bits >= kSymmetricNormBits;
    if (site.quantized) mark(site, "Flipped from " + from + " to " + std::string(format_name(to)) + ".");
    return {};
  }

  // AIMET's exception rule, applied again after a flip.
  bool is_norm_weight(const Site& site) const {
    if (result_.plan.target != Target::kAimet || site.role != Role::kWeight) return false;
    return std::any_of(site.consumers.begin(), site.consumers.end(), [&](const Consumer& consumer) {
      const NodeId node = graph_.find_node(consumer.node);
      return consumer.input == 1 && node != kNone && graph_.node(node).op_type == "LayerNormalization";
    });
  }

  void spread(Site& site) {
    if (!site.quantized || site.granularity != Granularity::kTensor) return;
    const auto found = per_channel_.find(site.tensor);
    if (found == per_channel_.end() || found->second.granularity != Granularity::kChannel) {
      result_.warnings.push_back({"stays_per_tensor",
                                  quoted(site.tensor) + " keeps one scale" +
                                      (found == per_channel_.end() ? "." : ": " + found->second.why),
                                  site.tensor});
      return;
    }
    site.granularity = Granularity::kChannel;
    site.axis = found->second.axis;
    mark(site, "Flipped from one scale to one per channel (axis " + std::to_string(site.axis) + ").");
  }

  void mark(Site& site, std::string why) {
    site.rule = "flipped";
    site.why = std::move(why);
    changed_[site.tensor] = &site;
    result_.flipped.push_back(site.tensor);
  }

  // Biases, and the plan as the graph sees it.
  void follow() {
    for (Site& site : result_.plan.sites) {
      if (site.quantized && site.role == Role::kBias && site.bias_of) follow_bias(site);
    }
    for (InputDecision& input : result_.plan.inputs) {
      const auto found = changed_.find(input.tensor);
      if (found == changed_.end() || !input.quantized) continue;
      input.quantized = found->second->quantized;
      input.rule = found->second->rule;
      input.why = found->second->why;
    }
    result_.plan.opset_needed = opset_needed_for(result_.plan);
  }

  void follow_bias(Site& bias) {
    for (const std::string* name : {&bias.bias_of->activation, &bias.bias_of->weight}) {
      const Site* operand = site_of(*name);
      if (operand != nullptr && operand->quantized) continue;
      bias.quantized = false;
      bias.rule = "flipped";
      bias.why = "Stays float: int32 needs the scales of both operands, and " + quoted(*name) + " is float.";
      changed_[bias.tensor] = &bias;
      return;
    }
    const Site& weight = *site_of(bias.bias_of->weight);
    bias.granularity = weight.granularity;
    bias.axis = weight.granularity == Granularity::kTensor ? -1 : 0;
  }

  void say() {
    const std::int64_t has = graph_.opset();
    if (!result_.flipped.empty() && result_.plan.opset_needed > has) {
      result_.warnings.push_back({"opset_raised",
                                  "The model has opset " + std::to_string(has) + ", and this plan needs " +
                                      std::to_string(result_.plan.opset_needed) +
                                      ": it is raised when written.",
                                  ""});
    }
    warn_of_neighbours(graph_, before_, result_.plan, result_.warnings);
  }

  const Model& model_;
  const Graph& graph_;
  const Plan& before_;
  const Precision& to_;
  FlippedPlan result_;
  std::vector<bool> chosen_;  // by site
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_map<std::string, Site> per_channel_;
  std::unordered_map<std::string_view, const Site*> changed_;
};

}  // namespace

Result<FlippedPlan> flip_sites(const Model& model, const Plan& plan, std::span<const std::string> tensors,
                               const Precision& to) {
  const Result<void> offered = check_offered(plan, to);
  if (!offered.ok()) return offered.error();
  return Flipper(model, plan, to).flip(tensors);
}

}  // namespace halftone
