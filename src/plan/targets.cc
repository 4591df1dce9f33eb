#include "plan/targets.h"

namespace halftone {
namespace {

constexpr const TargetRules* kTargets[] = {
    &kTensorRTTarget,
    &kAimetTarget,
    &kOnnxRuntimeTarget,
};

}  // namespace

std::span<const TargetRules* const> all_target_rules() { return kTargets; }

const TargetRules& target_rules(Target target) {
  for (const TargetRules* rules : kTargets) {
    if (rules->target == target) return *rules;
  }
  return kOnnxRuntimeTarget;
}

std::string_view target_name(Target target) { return target_rules(target).name; }

Result<Target> target_from_name(std::string_view name) {
  std::string known;
  for (const TargetRules* rules : kTargets) {
    if (rules->name == name) return rules->target;
    known += (known.empty() ? "" : ", ") + std::string(rules->name);
  }
  return Error{ErrorCode::kInvalidPolicy, "There is no target \"" + printable(name) + "\".", "target",
               "The targets are: " + known + "."};
}

}  // namespace halftone
