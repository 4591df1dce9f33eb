// Where a sweep may cut a model: what lies in front of a quantizer gives the same values for all samples
// however often it runs, so it needs to run once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halftone/graph.h"
#include "halftone/plan.h"

namespace halftone {

// A place in the order of nodes, and the tensors that are computed in front of it and read behind it. Their
// values and the constants determine everything behind.
struct Cut {
  std::vector<std::string> tensors;
  std::int32_t place = 0;  // nodes of the topological order in front of it
};

class SweepCuts {
 public:
  // A cut at the graph's inputs, then at most `most` cuts with ascending places, spread evenly over the nodes
  // that `scored` depends on, each moved to a place near by where few tensors cross, and none that a runtime
  // may have joined away. A place doesn't qualify where a tensor of unknown type or a string crosses, or more
  // than kMostTensors, or behind the producer of a scored tensor. Empty for most 0, for a graph with less
  // than two nodes, or where nothing qualifies. Linear in the size of the graph for each cut.
  SweepCuts(const Graph& graph, std::span<const std::string> scored, std::size_t most);

  static constexpr std::size_t kMostTensors = 8;

  // Ascending by place; a view, so not of a temporary.
  [[nodiscard]] std::span<const Cut> cuts() const& { return cuts_; }
  std::span<const Cut> cuts() && = delete;
  // The last cut in front of everything that reads the site's tensor; kNone if there is none.
  [[nodiscard]] std::int32_t cut_for(const Graph& graph, const Site& site) const;
  // Whether each activation among `sites` has its float values while all of them are on, because it is made
  // in front of everything that reads the others. True for one site. May be false for some for which it
  // holds.
  [[nodiscard]] bool independent(const Graph& graph, std::span<const Site* const> sites) const;

 private:
  // The place of the first node that reads the site's tensor; the largest number if none does.
  [[nodiscard]] std::int32_t first_reader(const GraphTensor& tensor) const;

  std::vector<std::int32_t> position_;  // by node
  std::int32_t first_body_ = 0;         // position of the first node that has a body
  std::vector<Cut> cuts_;
};

}  // namespace halftone
