#include "sensitivity/mixed_precision/operand_precision.h"

#include <algorithm>

#include "plan/aimet/operators.h"

namespace halftone {
namespace {

Operand operand_of(const Site& site) { return {number_format_info(site.format).bits, true}; }

}  // namespace

OperandPrecision::OperandPrecision(const Graph& graph, const Plan& plan)
    : graph_(graph), passes_on_(plan.target == Target::kAimet), sites_(graph.tensors().size(), nullptr) {
  for (const Site& site : plan.sites) {
    const TensorId id = site.quantized ? graph.find_tensor(site.tensor) : kNone;
    if (id != kNone) sites_[static_cast<std::size_t>(id)] = &site;
  }
}

Operand OperandPrecision::of(NodeId node, std::int32_t input) {
  if (const Site* site = read_site(node, input)) return operand_of(*site);
  const TensorId tensor = graph_.node(node).inputs[static_cast<std::size_t>(input)];
  return passes_on_ && tensor != kNone ? passed_on(tensor) : Operand{};
}

const Site* OperandPrecision::read_site(NodeId node, std::int32_t input) const {
  const TensorId tensor = graph_.node(node).inputs[static_cast<std::size_t>(input)];
  const Site* site = tensor == kNone ? nullptr : sites_[static_cast<std::size_t>(tensor)];
  if (site == nullptr) return nullptr;
  const bool reads =
      std::any_of(site->consumers.begin(), site->consumers.end(), [&](const Consumer& consumer) {
        return consumer.input == input && graph_.find_node(consumer.node) == node;
      });
  return reads ? site : nullptr;
}

Operand OperandPrecision::passed_on(TensorId tensor) {
  std::vector<TensorId> chain;
  Operand found;
  while (true) {
    if (const auto known = known_.find(tensor); known != known_.end()) {
      found = known->second;
      break;
    }
    chain.push_back(tensor);
    const NodeId producer = graph_.tensor(tensor).producer;
    if (producer == kNone) break;
    const GraphNode& node = graph_.node(producer);
    if (!aimet::is_transparent(node) && !aimet::preserves_grid(node)) break;
    if (node.inputs.empty() || node.inputs[0] == kNone) break;
    if (const Site* site = read_site(producer, 0)) {
      found = operand_of(*site);
      break;
    }
    tensor = node.inputs[0];
  }
  for (const TensorId id : chain) known_[id] = found;
  return found;
}

}  // namespace halftone
