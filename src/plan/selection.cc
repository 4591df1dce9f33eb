#include "plan/selection.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "plan/near_names.h"
#include "plan/wording.h"

namespace halftone {
namespace {

// Looking for near misses costs a pass over all names, so a long list of wrong patterns gets them only for
// its first ones.
constexpr std::size_t kPatternsWithNearMisses = 20;

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (index > 0) text += index + 1 == names.size() ? " and " : ", ";
    text += quoted(names[index]);
  }
  return text;
}

}  // namespace

std::int32_t Selection::Matches::find(NodeId node, TensorId tensor) const {
  const std::int32_t by_node = of_node[index_of(node)];
  return by_node >= 0 ? by_node : of_tensor[index_of(tensor)];
}

void Selection::note_match(Matches& matches, std::vector<std::int32_t>& of, std::int32_t id,
                           std::int32_t pattern) {
  matches.used[index_of(pattern)] = true;
  std::int32_t& first = of[index_of(id)];
  if (first < 0 || pattern < first) first = pattern;
}

void Selection::match_exact(const Graph& graph, Matches& matches) {
  for (std::size_t index = 0; index < matches.patterns.size(); ++index) {
    const Pattern& pattern = matches.patterns[index];
    if (pattern.kind() != Pattern::Kind::kExact) continue;
    const NodeId node = graph.find_node(pattern.body());
    const TensorId tensor = graph.find_tensor(pattern.body());
    if (node != kNone) note_match(matches, matches.of_node, node, static_cast<std::int32_t>(index));
    if (tensor != kNone) note_match(matches, matches.of_tensor, tensor, static_cast<std::int32_t>(index));
  }
}

void Selection::match_names(const Graph& graph, Matches& matches) {
  for (std::size_t index = 0; index < matches.patterns.size(); ++index) {
    const Pattern& pattern = matches.patterns[index];
    const auto number = static_cast<std::int32_t>(index);
    if (pattern.kind() == Pattern::Kind::kExact) continue;
    for (NodeId id = 0; index_of(id) < graph.nodes().size(); ++id) {
      if (pattern.matches_operator(graph.node(id).op_type) || pattern.matches_name(graph.node_label(id))) {
        note_match(matches, matches.of_node, id, number);
      }
    }
    for (TensorId id = 0; index_of(id) < graph.tensors().size(); ++id) {
      if (pattern.matches_name(graph.tensor(id).name)) note_match(matches, matches.of_tensor, id, number);
    }
  }
}

Result<Selection::Matches> Selection::match(const Graph& graph, std::span<const std::string> texts) {
  Matches matches;
  for (const std::string& text : texts) {
    Result<Pattern> pattern = Pattern::parse(text);
    if (!pattern.ok()) return pattern.error();
    matches.patterns.push_back(std::move(pattern).value());
  }
  matches.of_node.assign(graph.nodes().size(), -1);
  matches.of_tensor.assign(graph.tensors().size(), -1);
  matches.used.assign(matches.patterns.size(), false);
  match_exact(graph, matches);
  match_names(graph, matches);
  return matches;
}

void Selection::warn_unused(const Graph& graph, const Matches& matches, std::string_view option,
                            std::vector<Warning>& warnings) {
  NearNames names(graph);
  std::size_t searched = 0;
  for (std::size_t index = 0; index < matches.patterns.size(); ++index) {
    if (matches.used[index]) continue;
    const Pattern& pattern = matches.patterns[index];
    const bool by_operator = pattern.kind() == Pattern::Kind::kOperator;
    std::vector<std::string_view> near;
    if (searched++ < kPatternsWithNearMisses) near = names.near(pattern);
    const std::string subject = by_operator ? "operator" : "node and no tensor";
    warnings.push_back({"pattern_matches_nothing",
                        "The " + std::string(option) + " pattern " + quoted(pattern.text()) + " matches no " +
                            subject + (near.empty() ? "." : "; near it are " + listed(near) + "."),
                        printable(pattern.text())});
  }
}

Result<Selection> Selection::build(const Graph& graph, const PlanOptions& options,
                                   std::vector<Warning>& warnings) {
  Selection selection;
  Result<Matches> include = match(graph, options.include);
  if (!include.ok()) return include.error();
  selection.include_ = std::move(include).value();
  Result<Matches> exclude = match(graph, options.exclude);
  if (!exclude.ok()) return exclude.error();
  selection.exclude_ = std::move(exclude).value();
  warn_unused(graph, selection.include_, "include", warnings);
  warn_unused(graph, selection.exclude_, "exclude", warnings);
  return selection;
}

bool Selection::excludes_node(NodeId node) const { return exclude_.of_node[index_of(node)] >= 0; }

bool Selection::includes_operator(std::string_view op_type) const {
  return std::any_of(include_.patterns.begin(), include_.patterns.end(),
                     [&](const Pattern& pattern) { return pattern.matches_operator(op_type); });
}

std::optional<LeftOut> Selection::left_out(NodeId node, TensorId tensor) const {
  const std::int32_t excluded = exclude_.find(node, tensor);
  if (excluded >= 0) {
    return LeftOut{"excluded", "Left in float because the exclude pattern " +
                                   quoted(exclude_.patterns[index_of(excluded)].text()) +
                                   " matches; take that pattern away to quantize it."};
  }
  if (!include_.patterns.empty() && include_.find(node, tensor) < 0) {
    return LeftOut{"not_included",
                   "Left in float because no include pattern matches; add one to quantize it."};
  }
  return std::nullopt;
}

}  // namespace halftone
