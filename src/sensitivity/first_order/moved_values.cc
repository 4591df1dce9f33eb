#include "sensitivity/first_order/moved_values.h"

#include <cstdint>

namespace halftone::first_order_model {
namespace {

std::string cast(NodeWriter& nodes, const std::string& tensor, DataType type) {
  return nodes.add("Cast", {tensor}, {{"to", static_cast<std::int64_t>(type)}});
}

}  // namespace

std::string scattered(BackwardStep& step, const std::string& gradient, const std::string& places,
                      TensorId like) {
  NodeWriter& nodes = step.nodes;
  const std::string flat = nodes.ints({-1});
  const std::string size = nodes.add("Reshape", {step.shapes.size(like), flat});
  const std::string zeros = nodes.add("ConstantOfShape", {size});
  const std::string sums =
      nodes.add("ScatterElements",
                {zeros, nodes.add("Reshape", {places, flat}), nodes.add("Reshape", {gradient, flat})},
                {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}});
  return nodes.add("Reshape", {sums, step.shapes.of(like)}, {{"allowzero", std::int64_t{1}}});
}

void give_moved(BackwardStep& step, std::string_view type) {
  NodeWriter& nodes = step.nodes;
  const TensorId from = step.node.inputs[0];
  const std::string count = nodes.add("Range", {nodes.integer(0), step.shapes.size(from), nodes.integer(1)});
  std::string numbers = nodes.add("Reshape", {count, step.shapes.of(from)}, {{"allowzero", std::int64_t{1}}});
  if (type == "int32") numbers = cast(nodes, numbers, DataType::kInt32);
  std::vector<std::string> inputs = {numbers};
  for (std::size_t i = 1; i < step.node.inputs.size(); ++i) inputs.push_back(step.input(i));
  std::string moved =
      nodes.add(step.node.op_type, std::move(inputs),
                step.attributes({"axes", "axis", "batch_dims", "coordinate_transformation_mode",
                                 "keep_aspect_ratio_policy", "mode", "nearest_mode"}));
  if (type == "int32") moved = cast(nodes, moved, DataType::kInt64);
  step.given[0] = scattered(step, step.gradient(), moved, from);
}

}  // namespace halftone::first_order_model
