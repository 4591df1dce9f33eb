#include "halftone/pattern_preview.h"

#include <string_view>
#include <utility>

#include "plan/near_names.h"
#include "plan/pattern.h"

namespace halftone {
namespace {

void match_exact(const Graph& graph, const Pattern& pattern, PatternMatch& match) {
  const NodeId node = graph.find_node(pattern.body());
  const TensorId tensor = graph.find_tensor(pattern.body());
  if (node != kNone) match.nodes.push_back(graph.node_label(node));
  if (tensor != kNone) match.tensors.push_back(graph.tensor(tensor).name);
}

void match_all(const Graph& graph, const Pattern& pattern, PatternMatch& match) {
  const auto nodes = static_cast<NodeId>(graph.nodes().size());
  for (NodeId id = 0; id < nodes; ++id) {
    std::string label = graph.node_label(id);
    if (pattern.matches_operator(graph.node(id).op_type) || pattern.matches_name(label))
      match.nodes.push_back(std::move(label));
  }
  for (const GraphTensor& tensor : graph.tensors()) {
    if (pattern.matches_name(tensor.name)) match.tensors.push_back(tensor.name);
  }
}

}  // namespace

Result<std::vector<PatternMatch>> preview_patterns(const Model& model,
                                                   std::span<const std::string> patterns) {
  const Graph& graph = model.graph();
  NearNames names(graph);
  std::vector<PatternMatch> matches;
  for (const std::string& text : patterns) {
    const Result<Pattern> pattern = Pattern::parse(text);
    if (!pattern.ok()) return pattern.error();
    PatternMatch match;
    match.pattern = text;
    const bool exact = pattern.value().kind() == Pattern::Kind::kExact;
    exact ? match_exact(graph, pattern.value(), match) : match_all(graph, pattern.value(), match);
    if (match.nodes.empty() && match.tensors.empty()) {
      for (const std::string_view name : names.near(pattern.value())) match.near_misses.emplace_back(name);
    }
    matches.push_back(std::move(match));
  }
  return matches;
}

}  // namespace halftone
