// Operators that give values another shape or order, or repeat them.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "sensitivity/first_order/moved_values.h"
#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {

Result<void> back_reshape(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes the shape that it makes");
  step.given[0] = step.nodes.add("Reshape", {step.gradient(), step.shapes.of(step.node.inputs[0])},
                                 {{"allowzero", std::int64_t{1}}});
  return {};
}

Result<void> back_transpose(BackwardStep& step) {
  const AttributeView* given = step.graph.attribute(step.id, "perm");
  if (given == nullptr || given->ints.empty()) {
    step.given[0] = step.nodes.add("Transpose", {step.gradient()});
    return {};
  }
  const auto rank = static_cast<std::int64_t>(given->ints.size());
  Ints inverse(given->ints.size(), -1);
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t from = given->ints[static_cast<std::size_t>(i)];
    if (from < 0 || from >= rank) return step.unsupported("its permutation is none");
    inverse[static_cast<std::size_t>(from)] = i;
  }
  if (std::find(inverse.begin(), inverse.end(), -1) != inverse.end())
    return step.unsupported("its permutation is none");
  step.given[0] = step.nodes.add("Transpose", {step.gradient()}, {{"perm", inverse}});
  return {};
}

Result<void> back_expand(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes the shape that it makes");
  Broadcast broadcast(step.graph, step.shapes, step.nodes, {step.node.inputs[0], step.node.outputs[0]});
  step.given[0] = broadcast.to_operand(step.gradient(), step.node.inputs[0]);
  return {};
}

// The first form reads the blocks in the order in which SpaceToDepth writes them.
Result<void> back_depth_and_space(BackwardStep& step) {
  const bool to_space = step.node.op_type == "DepthToSpace";
  const AttributeView* mode = step.graph.attribute(step.id, "mode");
  if (to_space && mode != nullptr && mode->s && *mode->s != "DCR")
    return step.unsupported("it reads its blocks in the order " + printable(*mode->s));
  step.given[0] = step.nodes.add(to_space ? "SpaceToDepth" : "DepthToSpace", {step.gradient()},
                                 step.attributes({"blocksize"}));
  return {};
}

Result<void> back_pad(BackwardStep& step) {
  if (step.wants_any_behind(0)) return step.unsupported("a quantizer changes what it pads with");
  const AttributeView* mode = step.graph.attribute(step.id, "mode");
  if (mode != nullptr && mode->s && *mode->s != "constant") {
    give_moved(step, "int64");
    return {};
  }
  const std::optional<Ints> pads = step.constant_ints(1);
  std::string back;
  if (pads) {
    Ints negative = *pads;
    for (std::int64_t& pad : negative) {
      if (pad == INT64_MIN) return step.unsupported("its margins are beyond all sizes");
      pad = -pad;
    }
    back = step.nodes.ints(negative);
  } else {
    back = step.nodes.add("Neg", {step.input(1)});
  }
  std::vector<std::string> inputs = {step.gradient(), back};
  if (!step.input(3).empty()) inputs.insert(inputs.end(), {"", step.input(3)});
  step.given[0] = step.nodes.add("Pad", std::move(inputs));
  return {};
}

}  // namespace halftone::first_order_model
