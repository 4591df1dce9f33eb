#include "plan/tensorrt/resize_scales.h"

#include <utility>

namespace halftone::tensorrt {

Result<std::vector<ResizeScales>> get_resize_scales(const Model& model, const PolicyGraph& graph) {
  std::vector<ResizeScales> found;
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if (!is_op(node, "Resize") || node.inputs.size() < 3 || node.inputs[2] == kNone) continue;
    const TensorId scales = node.inputs[2];
    if (!graph.is_stored(scales) || graph.graph().tensor(scales).type != DataType::kFloat) continue;
    const Result<ConstantTensor> data = model.constant(scales);
    if (!data.ok()) return data.error();
    found.push_back({graph.graph().node_label(id),
                     DataType::kFloat,
                     {data.value().bytes.begin(), data.value().bytes.end()}});
  }
  return found;
}

}  // namespace halftone::tensorrt
