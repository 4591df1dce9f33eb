// ModelOpt's get_fusible_backbone: the convolution that a node fuses with, if the chain in front of the node
// allows it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/tensorrt/path_matcher.h"
#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

class FusibleBackbone {
 public:
  explicit FusibleBackbone(const PolicyGraph& graph);

  // For Conv, then ConvTranspose (T): does one of these lead backwards from the node, looking through copy
  // operators (BiasAdd and ConstMul are optional)?
  //   BiasAdd ConstMul T · Relu BiasAdd ConstMul T · BatchNormalization BiasAdd T · Relu BatchNormalization
  //   BiasAdd T · MaxPool Relu BatchNormalization BiasAdd T · Mul Sigmoid BatchNormalization T
  // If so: the first Conv or ConvTranspose that a depth-first walk through the inputs in order meets, the
  // node itself included, which need not be the one on the path. kNone otherwise. Gemm and MatMul are never
  // backbones. Amortised O(1): each path's answers are remembered.
  [[nodiscard]] NodeId of(NodeId node);

 private:
  std::vector<PathMatcher> paths_;
  std::vector<NodeId> first_convolution_;  // by node
  std::vector<std::int8_t> fuses_;         // by node: 0 or 1; -1: not asked yet
};

}  // namespace halftone::tensorrt
