#include "plan/tensorrt/fusible_backbone.h"

#include <algorithm>
#include <string_view>

namespace halftone::tensorrt {

FusibleBackbone::FusibleBackbone(const PolicyGraph& graph)
    : first_convolution_(graph.graph().nodes().size(), kNone), fuses_(graph.graph().nodes().size(), -1) {
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
  const NodeId first = first_convolution_[static_cast<std::size_t>(node)];
  if (first == kNone) return kNone;
  std::int8_t& fuses = fuses_[static_cast<std::size_t>(node)];
  if (fuses < 0) {
    const auto leads = [&](PathMatcher& path) { return path.matches(node); };
    fuses = std::any_of(paths_.begin(), paths_.end(), leads) ? 1 : 0;
  }
  return fuses == 1 ? first : kNone;
}

}  // namespace halftone::tensorrt
