// The names of a graph nearest to a pattern that matches none of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halftone/graph.h"
#include "plan/pattern.h"

namespace halftone {

class NearNames {
 public:
  explicit NearNames(const Graph& graph) : graph_(graph) {}

  // At most three node labels or tensor names, operator types for "op:", best first; compared with what is
  // literal in the pattern. Views into the graph or into this object. The names are gathered at the first
  // call.
  std::vector<std::string_view> near(const Pattern& pattern);

 private:
  void gather_names();

  const Graph& graph_;
  std::vector<std::string> labels_;      // owns what the first of `names_` view
  std::vector<std::string_view> names_;  // labels, then tensors
  std::vector<std::string_view> operators_;
};

}  // namespace halftone
