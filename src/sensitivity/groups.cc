#include "halftone/groups.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "plan/name_program.h"
#include "sensitivity/site_owners.h"

namespace halftone {
namespace {

using Groups = std::vector<QuantizerGroup>;
using KeyOf = std::function<std::optional<std::string>(const Site&)>;

constexpr std::string_view kRegex = "re:";

Error nothing_left(std::string message, std::string next) {
  return {ErrorCode::kInvalidState, std::move(message), "", std::move(next)};
}

bool wanted(const Site& site, std::string_view only) {
  return only.empty() || (site.role == Role::kWeight) == (only == "weights");
}

// The sites that can be scored, in site order.
Result<std::vector<const Site*>> scored_sites(const Plan& plan, const Encodings& encodings,
                                              const std::string& only) {
  if (!only.empty() && only != "weights" && only != "activations")
    return Error{ErrorCode::kInvalidPolicy, "There are no quantizers \"" + printable(only) + "\" to keep to.",
                 "only", "Use weights or activations, or leave it out for both."};
  std::vector<const Site*> sites;
  bool quantized = false;
  bool encoded = false;
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role == Role::kBias) continue;
    quantized = true;
    if (encodings.find(site.tensor) == nullptr) continue;
    encoded = true;
    if (wanted(site, only)) sites.push_back(&site);
  }
  if (!sites.empty()) return sites;
  if (!quantized)
    return nothing_left("The plan quantizes no weight and no activation.",
                        "Quantize at least one, by another target or other patterns, and calibrate.");
  if (!encoded) return nothing_left("No quantizer of the plan has an encoding.", "Calibrate the plan first.");
  return nothing_left("The plan has no quantizer of the " + only + " that can be scored.",
                      "Sweep the others, or quantize and calibrate some of these.");
}

// Collects keys in order of their first appearance.
class Collector {
 public:
  void add(const std::string& key, const std::string& tensor) {
    const auto [found, fresh] = places_.emplace(key, groups_.size());
    if (fresh) groups_.push_back({key, {}, {}});
    groups_[found->second].sites.push_back(tensor);
  }
  Groups take() { return std::move(groups_); }

 private:
  Groups groups_;
  std::unordered_map<std::string, std::size_t> places_;
};

Groups by_key(const std::vector<const Site*>& sites, const KeyOf& key_of) {
  Collector collector;
  for (const Site* site : sites) {
    if (const std::optional<std::string> key = key_of(*site)) collector.add(*key, site->tensor);
  }
  return collector.take();
}

Groups by_layer(const Graph& graph, const std::vector<const Site*>& sites) {
  const SiteOwners owners(graph);
  std::vector<std::vector<std::string>> tensors(graph.nodes().size());
  for (const Site* site : sites) {
    for (const NodeId node : owners.nodes_of(*site))
      tensors[static_cast<std::size_t>(node)].push_back(site->tensor);
  }
  Groups groups;
  for (const NodeId node : graph.topological_order()) {
    std::vector<std::string>& own = tensors[static_cast<std::size_t>(node)];
    if (!own.empty()) groups.push_back({graph.node_label(node), std::move(own), {}});
  }
  return groups;
}

// By a property of the node that owns the site; sites that no node of the graph owns are left out.
template <typename TextOf>
Groups by_owner(const Graph& graph, const std::vector<const Site*>& sites, TextOf text_of) {
  const SiteOwners owners(graph);
  return by_key(sites, [&](const Site& site) -> std::optional<std::string> {
    const std::vector<NodeId> nodes = owners.nodes_of(site);
    if (nodes.empty()) return std::nullopt;
    return text_of(nodes.front());
  });
}

Result<Groups> by_capture(std::string_view pattern, const std::vector<const Site*>& sites) {
  const Result<NameProgram> program = compile_capture(pattern);
  if (!program.ok()) return program.error();
  return by_key(sites, [&](const Site& site) -> std::optional<std::string> {
    const std::optional<std::string_view> captured = program.value().capture(site.tensor);
    return captured ? std::optional<std::string>(*captured) : std::nullopt;
  });
}

Result<Groups> grouped(const Graph& graph, const std::vector<const Site*>& sites, const Grouping& grouping) {
  const std::string& by = grouping.by;
  if (grouping.function) return by_key(sites, grouping.function);
  if (by == "quantizer") return by_key(sites, [](const Site& site) { return std::optional(site.tensor); });
  if (by == "layer") return by_layer(graph, sites);
  if (by == "op_name") return by_owner(graph, sites, [&](NodeId node) { return graph.node_label(node); });
  if (by == "operator") return by_owner(graph, sites, [&](NodeId node) { return graph.node(node).op_type; });
  if (by.starts_with(kRegex)) return by_capture(std::string_view(by).substr(kRegex.size()), sites);
  return Error{ErrorCode::kInvalidPolicy, "There is no grouping \"" + printable(by) + "\".", printable(by),
               "Use quantizer, operator, layer, op_name, or re: with a regular expression."};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

}  // namespace

Result<Groups> quantizer_groups(const Model& model, const Plan& plan, const Encodings& encodings,
                                const Grouping& grouping) {
  const Result<std::vector<const Site*>> sites = scored_sites(plan, encodings, grouping.only);
  if (!sites.ok()) return sites.error();
  Result<Groups> groups = grouped(model.graph(), sites.value(), grouping);
  if (!groups.ok()) return groups;
  if (groups.value().empty())
    return nothing_left("The grouping leaves out every quantizer of the plan.",
                        "Let it give a key to at least one, or group by quantizer.");
  if (!grouping.function && grouping.by == "quantizer") return groups;
  for (QuantizerGroup& group : groups.value()) group.detail = joined(group.sites);
  return groups;
}

}  // namespace halftone
