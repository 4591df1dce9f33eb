// What a target is to the planner: its name, the options it accepts, and the function that decides.
//
// A new target is a new file with a TargetRules and one line in targets.cc. Patterns, order of sites, opset
// and the shape of a Plan are the same for all of them and are not a target's concern.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/graph.h"
#include "halftone/plan.h"
#include "halftone/result.h"
#include "plan/selection.h"

namespace halftone {

// What the options about formats come to once a target's defaults are filled in.
struct TargetFormats {
  NumberFormat activations = NumberFormat::kUint8;
  NumberFormat weights = NumberFormat::kInt8;
  bool activations_symmetric = false;
};

struct PlanContext {
  const Graph& graph;
  const PlanOptions& options;
  const TargetFormats& formats;
  const Selection& selection;
};

// What becomes of one node input.
struct Decision {
  bool quantized = false;
  std::string rule;
  std::string why;
  std::optional<std::string> partition;
};

// One Decision for every input of every node.
class InputDecisions {
 public:
  explicit InputDecisions(const Graph& graph);
  // Precondition: the node has such an input.
  [[nodiscard]] Decision& at(Use use) { return decisions_[place(use)]; }
  [[nodiscard]] const Decision& at(Use use) const { return decisions_[place(use)]; }
  [[nodiscard]] std::size_t size() const { return decisions_.size(); }

 private:
  [[nodiscard]] std::size_t place(Use use) const {
    return first_[static_cast<std::size_t>(use.node)] + static_cast<std::size_t>(use.input);
  }
  std::vector<std::size_t> first_;  // by node
  std::vector<Decision> decisions_;
};

struct SiteDraft {
  TensorId tensor = kNone;
  Site site;
};

struct TargetDecisions {
  explicit TargetDecisions(const Graph& graph) : inputs(graph) {}
  std::vector<SiteDraft> sites;  // at most one per tensor; in any order unless the target has no site_order
  InputDecisions inputs;
  std::vector<Warning> warnings;
};

struct TargetRules {
  Target target;
  std::string_view name;  // as in options and files
  TargetFormats (*formats)(const PlanOptions& options);
  // Errors: kInvalidPolicy.
  Result<void> (*check_options)(const PlanOptions& options, const TargetFormats& formats,
                                std::vector<Warning>& warnings);
  Result<TargetDecisions> (*decide)(const PlanContext& context);
  // By tensor id: its place in the order of sites. nullptr: as `decide` lists them.
  std::vector<std::int32_t> (*site_order)(const Graph& graph);
};

}  // namespace halftone
