#include "plan/tensorrt/residual.h"

#include "plan/tensorrt/common_ancestor.h"

namespace halftone::tensorrt {
namespace {

// 0 or 1: the non-residual input; -1: none.
int non_residual_input(NodeId first, NodeId second, FusibleBackbone& backbone, AncestorFinder& ancestors) {
  const NodeId first_backbone = backbone.of(first);
  const NodeId second_backbone = backbone.of(second);
  if (first_backbone == kNone && second_backbone == kNone) return -1;
  if (first_backbone == second_backbone) return -1;
  const AncestorRelation common = ancestors.relate(first, second);
  if (first_backbone != kNone && second_backbone != kNone) return common.first_is_farther ? 0 : 1;
  if (first_backbone != kNone) return common.node == first_backbone ? -1 : 0;
  return common.node == second_backbone ? -1 : 1;
}

}  // namespace

NonResidualInputs build_non_residual_input_map(const PolicyGraph& graph, FusibleBackbone& backbone) {
  NonResidualInputs result;
  result.of_node.assign(graph.graph().nodes().size(), kNone);
  AncestorFinder ancestors(graph);
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if (!is_op(node, "Add") || node.inputs.size() < 2 || graph.has_const_input(id)) continue;
    const NodeId first = graph.producer(node.inputs[0]);
    const NodeId second = graph.producer(node.inputs[1]);
    if (first == kNone || second == kNone) continue;
    const int input = non_residual_input(first, second, backbone, ancestors);
    if (input < 0) continue;
    const TensorId tensor = node.inputs[static_cast<std::size_t>(input)];
    result.of_node[static_cast<std::size_t>(id)] = tensor;
    result.edges.push_back({input == 0 ? first : second, id, tensor});
  }
  return result;
}

}  // namespace halftone::tensorrt
