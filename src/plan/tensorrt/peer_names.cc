#include "plan/tensorrt/peer_names.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "plan/name_program.h"

namespace halftone::tensorrt {
namespace {

constexpr std::string_view kSpecial = ".^$*+?{}[]\\|()";

// The part of a regular expression that every match starts with: up to the first special character, less the
// character that a quantifier behind it makes optional.
std::string_view literal_start(std::string_view pattern) {
  if (pattern.find('|') != std::string_view::npos) return {};
  const std::size_t end = pattern.find_first_of(kSpecial);
  if (end == std::string_view::npos) return pattern;
  const bool optional = pattern[end] == '*' || pattern[end] == '?' || pattern[end] == '{';
  return pattern.substr(0, end - (optional && end > 0 ? 1 : 0));
}

}  // namespace

std::vector<std::string> peer_node_names(const PolicyGraph& graph) {
  std::vector<std::string> names(graph.graph().nodes().size());
  std::unordered_set<std::string> taken;
  for (const NodeId id : graph.nodes()) taken.insert(graph.graph().node(id).name);
  std::size_t number = taken.size();
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    std::string& name = names[static_cast<std::size_t>(id)];
    name = node.name;
    if (!name.empty()) continue;
    while (true) {
      name = node.op_type + "_" + std::to_string(number);
      if (taken.insert(name).second) break;
      ++number;
    }
  }
  return names;
}

std::vector<bool> expand_node_names_from_patterns(const std::vector<std::string>& names,
                                                  const std::vector<std::string>& patterns) {
  std::vector<std::size_t> sorted(names.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  std::vector<bool> matched(names.size(), false);
  for (const std::string& pattern : patterns) {
    const std::string_view start = literal_start(pattern);
    const bool literal = start.size() == pattern.size();
    // Anchored at the start only: the rest of the name may be anything.
    const Result<NameProgram> program = compile_regex("^(?:" + pattern + ")");
    if (!literal && !program.ok()) continue;
    auto at =
        std::lower_bound(sorted.begin(), sorted.end(), start,
                         [&](std::size_t index, std::string_view wanted) { return names[index] < wanted; });
    for (; at != sorted.end() && names[*at].starts_with(start); ++at) {
      if (literal || program.value().matches(names[*at])) matched[*at] = true;
    }
  }
  return matched;
}

}  // namespace halftone::tensorrt
