#include "plan/untouched.h"

#include <map>
#include <string>

#include "plan/wording.h"

namespace halftone {

void warn_of_untouched(const Graph& graph, std::vector<Warning>& warnings) {
  std::map<std::string, std::size_t> custom;
  std::size_t bodies = 0;
  for (const GraphNode& node : graph.nodes()) {
    if (!node.domain.empty()) ++custom[node.domain];
    if (node.has_subgraph) ++bodies;
  }
  for (const auto& [domain, count] : custom) {
    warnings.push_back({"custom_domain",
                        count_phrase(count, "node", "nodes") + " of the domain " + quoted(domain) +
                            (count == 1 ? " is" : " are") + " passed through and not quantized.",
                        printable(domain)});
  }
  if (bodies > 0) {
    warnings.push_back({"subgraph_not_planned",
                        "The bodies of " +
                            count_phrase(bodies, "If, Loop or Scan node", "If, Loop or Scan nodes") +
                            " stay float: only the main graph is quantized.",
                        ""});
  }
}

}  // namespace halftone
