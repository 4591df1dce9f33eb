#include "plan/near_names.h"

#include <unordered_set>

#include "plan/near_misses.h"

namespace halftone {
namespace {

constexpr std::size_t kNearMisses = 3;

// For a glob or a regular expression: its longest run of ordinary characters, which is what its writer had in
// mind.
std::string_view longest_literal(std::string_view pattern) {
  std::string_view best;
  std::size_t start = 0;
  for (std::size_t position = 0; position <= pattern.size(); ++position) {
    const bool ordinary =
        position < pattern.size() &&
        std::string_view("*?[](){}|\\^$+.").find(pattern[position]) == std::string_view::npos;
    if (ordinary) continue;
    if (position - start > best.size()) best = pattern.substr(start, position - start);
    start = position + 1;
  }
  return best;
}

std::vector<std::string_view> operator_types(const Graph& graph) {
  std::vector<std::string_view> types;
  std::unordered_set<std::string_view> seen;
  for (const GraphNode& node : graph.nodes()) {
    if (seen.insert(node.op_type).second) types.push_back(node.op_type);
  }
  return types;
}

}  // namespace

std::vector<std::string_view> NearNames::near(const Pattern& pattern) {
  if (pattern.kind() == Pattern::Kind::kOperator) {
    if (operators_.empty()) operators_ = operator_types(graph_);
    return near_misses(pattern.body(), operators_, kNearMisses);
  }
  if (names_.empty()) gather_names();
  const bool exact = pattern.kind() == Pattern::Kind::kExact;
  return near_misses(exact ? pattern.body() : longest_literal(pattern.body()), names_, kNearMisses);
}

void NearNames::gather_names() {
  const auto nodes = static_cast<NodeId>(graph_.nodes().size());
  for (NodeId id = 0; id < nodes; ++id) labels_.push_back(graph_.node_label(id));
  names_.assign(labels_.begin(), labels_.end());
  for (const GraphTensor& tensor : graph_.tensors()) names_.push_back(tensor.name);
}

}  // namespace halftone
