// The sentences of target tensorrt: why a node input reads a pair, or what would have to differ for it to.
#pragma once

#include <string>
#include <vector>

#include "plan/target_rules.h"
#include "plan/tensorrt/exclusions.h"
#include "plan/tensorrt/marks.h"
#include "plan/tensorrt/node_choice.h"
#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

struct PolicyOutcome {
  NodeChoice choice;
  Marks marks;
  std::vector<const Exclusion*> exclusion_of;  // by node; nullptr: not excluded
};

// The decision for one input that isn't omitted.
Decision explain(const PolicyGraph& graph, const PolicyOutcome& outcome, Use use);

// "cask:conv1" or "kgen:mul"; nullopt for a node in no partition.
std::optional<std::string> partition_label(const PolicyGraph& graph, const NodeChoice& choice, NodeId node);

}  // namespace halftone::tensorrt
