// The sentences of target tensorrt: why a node input reads a pair, or what would have to differ for it to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/target_rules.h"
#include "plan/tensorrt/policy.h"

namespace halftone::tensorrt {

class Reasons {
 public:
  // All must outlive this.
  Reasons(const PolicyGraph& graph, const Policy& policy, const PlanContext& context);

  // For a reading of a tensor that is computed, or of a constant that isn't quantized there. Precondition:
  // the input isn't omitted.
  [[nodiscard]] Decision explain(Use use) const;

  // "cask:conv1" or "kgen:mul", after the head; nullopt for a node in no partition.
  [[nodiscard]] std::optional<std::string> partition_label(NodeId node) const;

 private:
  [[nodiscard]] Decision quantized_reading(Use use, const Mark& mark) const;
  [[nodiscard]] Decision raw_reading(Use use, RawReason reason) const;
  [[nodiscard]] Decision unmarked_reading(Use use, TensorId tensor) const;
  [[nodiscard]] Decision node_reading(Use use, TensorId tensor) const;

  const PolicyGraph& graph_;
  const Policy& policy_;
  const Selection& patterns_;
  bool float8_;
  std::vector<std::int32_t> exclusion_of_;  // by node: index into policy_.exclusions, -1: none
};

}  // namespace halftone::tensorrt
