#include "plan/untouched.h"

#include <algorithm>
#include <map>
#include <string>

#include "plan/wording.h"

namespace halftone {

void warn_of_untouched(const Graph& graph, std::vector<Warning>& warnings) {
  std::map<std::string, std::size_t> custom;
  for (const GraphNode& node : graph.nodes()) {
    if (!node.domain.empty()) ++custom[node.domain];
  }
  for (const auto& [domain, count] : custom) {
    warnings.push_back({"custom_domain",
                        count_phrase(count, "node", "nodes") + " of the domain " + quoted(domain) +
                            (count == 1 ? " is" : " are") + " passed through and not quantized.",
                        printable(domain)});
  }
  warn_of_bodies(graph, warnings);
}

void warn_of_bodies(const Graph& graph, std::vector<Warning>& warnings) {
  const auto bodies = static_cast<std::size_t>(std::count_if(
      graph.nodes().begin(), graph.nodes().end(), [](const GraphNode& node) { return node.has_subgraph; }));
  if (bodies > 0) {
    warnings.push_back({"subgraph_not_planned",
                        "The bodies of " +
                            count_phrase(bodies, "If, Loop or Scan node", "If, Loop or Scan nodes") +
                            " stay float: only the main graph is quantized.",
                        ""});
  }
}

}  // namespace halftone
