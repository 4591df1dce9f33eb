#include "plan/tensorrt/off_limits.h"

#include "plan/tensorrt/path_matcher.h"

namespace halftone::tensorrt {
namespace {

void append_matches(const PolicyGraph& graph, PathMatcher& path, std::string_view first,
                    std::vector<NodeId>& found) {
  for (const NodeId id : graph.nodes()) {
    if (is_op(graph.graph().node(id), first)) path.match_nodes(id, found);
  }
}

}  // namespace

OffLimits find_off_limits(const PolicyGraph& graph) {
  OffLimits off;
  PathMatcher gelu(graph, {"Div", "Erf", "Add", "Mul", "Mul"}, Direction::kForward);
  append_matches(graph, gelu, "Div", off.gelu);

  PathMatcher norm(graph, {"ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div", "Mul", "Add"},
                   Direction::kForward, {"Cast"});
  PathMatcher bare_norm(graph, {"ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div"},
                        Direction::kForward, {"Cast"});
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if (is_op(node, "LayerNormalization")) off.layer_norm.push_back(id);
    if (is_op(node, "ReduceMean") && !norm.match_nodes(id, off.layer_norm))
      bare_norm.match_nodes(id, off.layer_norm);
  }

  PathMatcher attention(graph, {"MatMul", "NonBiasAdd", "Softmax", "MatMul"}, Direction::kForward);
  append_matches(graph, attention, "MatMul", off.attention);
  return off;
}

std::vector<AttentionTriple> find_attention_triples(const PolicyGraph& graph) {
  PathMatcher path(graph, {"MatMul", "Softmax", "MatMul"}, Direction::kForward,
                   {"Div", "Mul", "ConstMul", "Add", "BiasAdd", "Reshape", "Transpose", "Flatten", "Cast"});
  std::vector<AttentionTriple> triples;
  for (const NodeId id : graph.nodes()) {
    std::vector<NodeId> found;
    if (is_op(graph.graph().node(id), "MatMul") && path.match_nodes(id, found) && found.size() == 3)
      triples.push_back({found[0], found[1], found[2]});
  }
  return triples;
}

}  // namespace halftone::tensorrt
