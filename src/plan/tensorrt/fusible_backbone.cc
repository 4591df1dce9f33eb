#include "plan/tensorrt/fusible_backbone.h"

#include <algorithm>
#include <string_view>

namespace halftone::tensorrt {

FusibleBackbone::FusibleBackbone(const PolicyGraph& graph)
    : first_convolution_(graph.graph().nodes().size(), kNone) {
  for (const std::string_view t : {"Conv", "ConvTranspose"}) {
    const std::vector<std::vector<std::string_view>> paths = {
        {"BiasAdd", "ConstMul", t},
        {"Relu", "BiasAdd", "ConstMul", t},
        {"BatchNormalization", "BiasAdd", t},
        {"Relu", "BatchNormalization", "BiasAdd", t},
        {"MaxPool", "Relu", "BatchNormalization", "BiasAdd", t},
        {"Mul", "Sigmoid", "BatchNormalization", t},
    };
    for (const std::vector<std::string_view>& path : paths)
      paths_.emplace_back(graph, path, Direction::kBackward, copy_operators());
  }
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    NodeId& first = first_convolution_[static_cast<std::size_t>(id)];
    if (is_op(node, "Conv") || is_op(node, "ConvTranspose")) first = id;
    for (const NodeId parent : graph.parents(id)) {
      if (first != kNone) break;
      first = first_convolution_[static_cast<std::size_t>(parent)];
    }
  }
}

NodeId FusibleBackbone::of(NodeId node) {
  const bool fuses =
      std::any_of(paths_.begin(), paths_.end(), [&](PathMatcher& path) { return path.matches(node); });
  return fuses ? first_convolution_[static_cast<std::size_t>(node)] : kNone;
}

}  // namespace halftone::tensorrt
