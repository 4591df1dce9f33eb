// What patterns of `include` and `exclude` would take, before a plan is made with them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

struct PatternMatch {
  std::string pattern;                   // as given
  std::vector<std::string> nodes;        // labels (Graph::node_label), in node order
  std::vector<std::string> tensors;      // in the order of the graph's tensors; none for "op:"
  std::vector<std::string> near_misses;  // names or operators nearest to it; only if nothing matches
};

// For each pattern, in order, everything that it matches by itself, also what an earlier one matches. Linear
// in nodes + tensors for each pattern. Errors: kInvalidPolicy for a pattern that can't be read, with the
// place.
Result<std::vector<PatternMatch>> preview_patterns(const Model& model, std::span<const std::string> patterns);

}  // namespace halftone
