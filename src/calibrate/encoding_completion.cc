#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "calibrate/bias_fit.h"
#include "calibrate/encoding_completion.h"
#include "calibrate/scale_groups.h"

namespace halftone {
namespace {

// The rows of plan.inputs that read a tensor, found in one pass for all biases that have to be taken back.
using InputRows = std::unordered_map<std::string_view, std::vector<InputDecision*>>;

InputRows rows_by_tensor(Plan& plan) {
  InputRows rows;
  for (InputDecision& input : plan.inputs) rows[input.tensor].push_back(&input);
  return rows;
}

void leave_in_float(Site& site, const Error& error, const InputRows& rows) {
  site.quantized = false;
  site.rule = "bias_overflow";
  site.why =
      "Stays float: " + error.message + " A larger scale of its weight or data input would make it fit.";
  const auto found = rows.find(site.tensor);
  if (found == rows.end()) return;
  for (InputDecision* input : found->second) {
    if (!input->quantized) continue;
    input->quantized = false;
    input->rule = site.rule;
    input->why = site.why;
  }
}

Result<void> check_activations(const Plan& plan, const Encodings& encodings) {
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kActivation || encodings.find(site.tensor) != nullptr) continue;
    return Error{ErrorCode::kInvalidState,
                 "The tensor \"" + printable(site.tensor) + "\" is to be quantized but has no range.",
                 printable(site.tensor), "Calibrate with this plan first."};
  }
  return {};
}

// A constant's range is that of its own values, whatever its role; a bias's scale comes from two others.
bool has_own_range(const Graph& graph, const Site& site) {
  if (site.role != Role::kActivation) return site.role == Role::kWeight;
  const TensorId id = graph.find_tensor(site.tensor);
  return id != kNone && graph.tensor(id).constant;
}

Result<void> add_constants(const Model& model, const Plan& plan, Encodings& encodings) {
  for (const Site& site : plan.sites) {
    if (!site.quantized || !has_own_range(model.graph(), site)) continue;
    Result<Encoding> encoding = weight_encoding(model, site, float8_scale_of(plan));
    if (!encoding.ok()) return encoding.error();
    encodings.set(site.tensor, std::move(encoding).value());
  }
  return {};
}

// The encodings of the plan's quantized sites in site order, and behind them those of tensors that are no
// site.
Encodings in_site_order(const Plan& plan, const Encodings& encodings) {
  Encodings ordered;
  std::unordered_set<std::string_view> sites;
  for (const Site& site : plan.sites) {
    sites.insert(site.tensor);
    const Encoding* encoding = site.quantized ? encodings.find(site.tensor) : nullptr;
    if (encoding != nullptr) ordered.set(site.tensor, *encoding);
  }
  for (const auto& [tensor, encoding] : encodings.all()) {
    if (!sites.contains(tensor)) ordered.set(tensor, encoding);
  }
  return ordered;
}

}  // namespace

Result<void> complete_encodings(const Model& model, Plan& plan, Encodings& encodings) {
  const Result<void> added = add_constants(model, plan, encodings);
  return added.ok() ? finish_encodings(model, plan, encodings) : added;
}

Result<void> finish_encodings(const Model& model, Plan& plan, Encodings& encodings) {
  Result<void> shared = check_activations(plan, encodings);
  if (shared.ok()) shared = share_group_scales(plan, encodings);
  if (!shared.ok()) return shared;
  InputRows rows;
  for (Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kBias) continue;
    Result<Encoding> encoding = fitted_bias_encoding(model, site, encodings);
    if (encoding.ok()) {
      encodings.set(site.tensor, std::move(encoding).value());
    } else if (encoding.error().code == ErrorCode::kTooLarge) {
      if (rows.empty()) rows = rows_by_tensor(plan);
      leave_in_float(site, encoding.error(), rows);
    } else {
      return encoding.error();
    }
  }
  encodings = in_site_order(plan, encodings);
  return {};
}

}  // namespace halftone
