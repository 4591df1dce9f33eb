// Source: AIMET's lite_mp (flip_layers_to_higher_precision).
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "halftone/groups.h"
#include "halftone/mixed_precision.h"
#include "plan/wording.h"

namespace halftone {
namespace {

Error unknown_key(const std::string& key) {
  return Error{ErrorCode::kInvalidPolicy,
               "The row " + quoted(key) + " of the ranking names nothing in this model's plan.",
               printable(key), "Use the ranking that was made for this model and plan."};
}

// Whether higher scores hurt more. Where a sweep disables quantizers, the better a row scores, the more they
// hurt.
Result<bool> direction_of(const SensitivityResults& results, std::vector<Warning>& warnings) {
  if (results.metric.empty()) {
    warnings.push_back({"direction_presumed",
                        "The ranking doesn't say whether higher or lower scores are worse: lower ones are "
                        "presumed worse, as for PSNR and accuracy.",
                        ""});
    return false;
  }
  const Result<Metric> metric = metric_from_name(results.metric, results.k.value_or(1));
  if (metric.ok() && higher_is_worse(metric.value().kind) != results.higher_is_worse) {
    return Error{ErrorCode::kInvalidPolicy,
                 "The ranking says that " + std::string(results.higher_is_worse ? "higher" : "lower") +
                     " scores are worse, which is not so for " + results.metric + ".",
                 "higher_is_worse", "Correct the file, or rank again."};
  }
  return results.higher_is_worse != (results.sweep == "disable");
}

void add_around(const Graph& graph, NodeId id, const std::unordered_set<std::string_view>& sites,
                std::vector<std::string>& tensors) {
  const auto add = [&](const GraphTensor& tensor) {
    if (sites.contains(tensor.name)) tensors.push_back(tensor.name);
  };
  for (const TensorId input : graph.node(id).inputs) {
    if (input == kNone) continue;
    const GraphTensor& tensor = graph.tensor(input);
    if (tensor.constant || tensor.producer == kNone) add(tensor);
  }
  for (const TensorId output : graph.node(id).outputs) {
    if (output != kNone) add(graph.tensor(output));
  }
}

Result<std::vector<std::string>> tensors_of_nodes(const Graph& graph, const Plan& plan,
                                                  std::span<const std::string> keys) {
  std::unordered_set<std::string_view> sites;
  for (const Site& site : plan.sites) {
    if (site.role != Role::kBias) sites.insert(site.tensor);
  }
  std::vector<std::string> tensors;
  for (const std::string& key : keys) {
    const NodeId id = graph.find_node(key);
    if (id == kNone) return unknown_key(key);
    add_around(graph, id, sites, tensors);
  }
  return tensors;
}

Result<std::vector<std::string>> tensors_of_groups(const Model& model, const Plan& plan,
                                                   const Encodings& encodings,
                                                   const SensitivityResults& results,
                                                   std::span<const std::string> keys) {
  const bool known = results.by == "operator" || results.by.starts_with("re:");
  if (!known) {
    return Error{ErrorCode::kInvalidPolicy,
                 "The rows of this ranking were grouped by " +
                     (results.by.empty() ? std::string("something unknown") : quoted(results.by)) +
                     ", which doesn't say what quantizers they mean.",
                 printable(results.by),
                 "Rank by quantizer, layer, op_name, operator or a regular expression."};
  }
  const Result<std::vector<QuantizerGroup>> groups =
      quantizer_groups(model, plan, encodings, {.by = results.by, .function = {}, .only = results.only});
  if (!groups.ok()) return groups.error();
  std::unordered_map<std::string_view, const QuantizerGroup*> by_key;
  for (const QuantizerGroup& group : groups.value()) by_key[group.key] = &group;
  std::vector<std::string> tensors;
  for (const std::string& key : keys) {
    const auto found = by_key.find(key);
    if (found == by_key.end()) return unknown_key(key);
    tensors.insert(tensors.end(), found->second->sites.begin(), found->second->sites.end());
  }
  return tensors;
}

// AIMET's files don't say what their keys are: tensors, or else nodes.
std::string_view grouping_of(const Plan& plan, const SensitivityResults& results,
                             std::span<const std::string> keys) {
  if (!results.by.empty() || keys.empty())
    return results.by.empty() ? "quantizer" : std::string_view(results.by);
  const bool site = std::any_of(plan.sites.begin(), plan.sites.end(),
                                [&](const Site& candidate) { return candidate.tensor == keys.front(); });
  return site ? "quantizer" : "layer";
}

Result<std::vector<std::string>> tensors_of_rows(const Model& model, const Plan& plan,
                                                 const Encodings& encodings,
                                                 const SensitivityResults& results,
                                                 std::vector<std::string> keys) {
  const std::string_view by = grouping_of(plan, results, keys);
  if (by == "quantizer") return keys;
  if (by == "layer" || by == "op_name") return tensors_of_nodes(model.graph(), plan, keys);
  return tensors_of_groups(model, plan, encodings, results, keys);
}

}  // namespace

Result<FlippedPlan> flip_rows(const Model& model, const Plan& plan, const Encodings& encodings,
                              const SensitivityResults& results, const FlipChoice& choice,
                              const Precision& to) {
  std::vector<Warning> warnings;
  const Result<bool> higher = direction_of(results, warnings);
  if (!higher.ok()) return higher.error();
  const Result<std::vector<std::string>> keys = rows_to_flip(results.ranking, higher.value(), choice);
  if (!keys.ok()) return keys.error();
  const Result<std::vector<std::string>> tensors =
      tensors_of_rows(model, plan, encodings, results, keys.value());
  if (!tensors.ok()) return tensors.error();
  Result<FlippedPlan> flipped = flip_sites(model, plan, tensors.value(), to);
  if (!flipped.ok()) return flipped;
  if (!keys.value().empty() && flipped.value().flipped.empty()) {
    warnings.push_back({"nothing_flipped",
                        "The chosen " + count_phrase(keys.value().size(), "row changes", "rows change") +
                            " nothing: no quantizer of theirs has the role that is flipped, or all have that "
                            "precision already.",
                        ""});
  }
  std::vector<Warning>& all = flipped.value().warnings;
  all.insert(all.begin(), warnings.begin(), warnings.end());
  return flipped;
}

}  // namespace halftone
