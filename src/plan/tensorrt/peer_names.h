// Node names as ModelOpt sees them, and its use of names as patterns (catalogue Q1): only for --match
// modelopt.
#pragma once

#include <string>
#include <vector>

#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

// By node. A nameless node becomes <operator>_<k>: k starts at the number of distinct names (the empty one
// counts once) and grows only when that name is taken.
std::vector<std::string> peer_node_names(const PolicyGraph& graph);

// ModelOpt's expand_node_names_from_patterns: every node whose name a pattern matches at its start, where the
// pattern is itself a node's name that is read as a regular expression. By node. Near-linear for names
// without regular-expression characters.
std::vector<bool> expand_node_names_from_patterns(const std::vector<std::string>& names,
                                                  const std::vector<std::string>& patterns);

}  // namespace halftone::tensorrt
