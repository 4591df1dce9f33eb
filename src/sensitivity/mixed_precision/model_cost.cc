#include <algorithm>
#include <string>
#include <unordered_map>

#include "halftone/mixed_precision.h"
#include "sensitivity/mixed_precision/operand_precision.h"
#include "sensitivity/mixed_precision/shape_book.h"

namespace halftone {
namespace {

bool is_real(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 || type == DataType::kBfloat16 ||
         type == DataType::kDouble;
}

std::uint64_t real_bytes(DataType type) {
  if (type == DataType::kDouble) return 8;
  return type == DataType::kFloat ? 4 : 2;
}

class CostCounter {
 public:
  CostCounter(const Model& model, const Plan& plan, const MeasuredShapes& shapes)
      : graph_(model.graph()), plan_(plan), shapes_(graph_, shapes), operands_(graph_, plan) {
    for (const Site& site : plan.sites) {
      if (site.quantized) sites_[site.tensor] = &site;
    }
  }

  ModelCost count() {
    ModelCost cost;
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      if (is_stored(graph_.tensors()[i]))
        cost.weight_bytes = saturating_sum(cost.weight_bytes, stored_bytes(static_cast<TensorId>(i)));
    }
    for (const NodeId id : graph_.topological_order()) add_node(id, cost);
    return cost;
  }

 private:
  // Of a chain of constants the model needs what somebody reads that is no part of one.
  bool is_stored(const GraphTensor& tensor) const {
    if (!tensor.constant || !is_real(tensor.type)) return false;
    if (tensor.graph_output || tensor.read_by_subgraph) return true;
    return std::any_of(tensor.consumers.begin(), tensor.consumers.end(), [&](const Use& use) {
      const auto& outputs = graph_.node(use.node).outputs;
      return std::any_of(outputs.begin(), outputs.end(),
                         [&](TensorId output) { return output != kNone && !graph_.tensor(output).constant; });
    });
  }

  std::uint64_t stored_bytes(TensorId id) const {
    const GraphTensor& tensor = graph_.tensor(id);
    const auto dims = shapes_.shape(id);
    if (!dims) return 0;
    std::uint64_t values = 1;
    for (const std::uint64_t dim : *dims) values = saturating_product(values, dim);
    const std::uint64_t as_float = saturating_product(values, real_bytes(tensor.type));
    const auto found = sites_.find(tensor.name);
    if (found == sites_.end()) return as_float;
    const Site& site = *found->second;
    std::uint64_t bytes = as_float;
    if (site.role == Role::kBias || !plan_.options.float_weights)
      bytes = code_byte_count(site.format, values).value_or(as_float);
    const bool others =
        tensor.consumers.size() > site.consumers.size() || tensor.graph_output || tensor.read_by_subgraph;
    if (others && bytes != as_float) bytes = saturating_sum(bytes, as_float);
    return saturating_sum(bytes, parameter_bytes(site, *dims));
  }

  // Scales, and zero points where they are written; bounded by the tensor's own size.
  static std::uint64_t parameter_bytes(const Site& site, const std::vector<std::uint64_t>& dims) {
    std::uint64_t scales = 1;
    if (site.granularity == Granularity::kChannel && site.axis >= 0 &&
        static_cast<std::size_t>(site.axis) < dims.size())
      scales = dims[static_cast<std::size_t>(site.axis)];
    std::uint64_t bytes = saturating_product(scales, sizeof(float));
    if (site.role != Role::kBias)
      bytes = saturating_sum(bytes, code_byte_count(site.format, scales).value_or(0));
    return bytes;
  }

  void add_node(NodeId id, ModelCost& cost) {
    const GraphNode& node = graph_.node(id);
    if (!multiplies(node)) return;
    const std::optional<std::uint64_t> macs = node_macs(graph_, id, shapes_);
    if (!macs) {
      cost.unknown.push_back(graph_.node_label(id));
      return;
    }
    cost.macs = saturating_sum(cost.macs, *macs);
    const auto bits = static_cast<std::uint64_t>(operands_.of(id, 0).bits * operands_.of(id, 1).bits);
    cost.bit_ops = saturating_sum(cost.bit_ops, saturating_product(*macs, bits));
  }

  const Graph& graph_;
  const Plan& plan_;
  ShapeBook shapes_;
  OperandPrecision operands_;
  std::unordered_map<std::string_view, const Site*> sites_;  // quantized ones
};

}  // namespace

std::vector<std::string> shapes_for_cost(const Model& model) {
  const Graph& graph = model.graph();
  const MeasuredShapes none;
  const ShapeBook shapes(graph, none);
  std::vector<bool> seen(graph.tensors().size(), false);
  std::vector<std::string> names;
  for (const NodeId id : graph.topological_order()) {
    if (!multiplies(graph.node(id))) continue;
    for (const TensorId tensor : shapes_read(graph.node(id))) {
      if (tensor == kNone || seen[static_cast<std::size_t>(tensor)]) continue;
      seen[static_cast<std::size_t>(tensor)] = true;
      if (!graph.tensor(tensor).constant && !shapes.shape(tensor)) names.push_back(graph.tensor(tensor).name);
    }
  }
  return names;
}

ModelCost model_cost(const Model& model, const Plan& plan, const MeasuredShapes& shapes) {
  return CostCounter(model, plan, shapes).count();
}

}  // namespace halftone
