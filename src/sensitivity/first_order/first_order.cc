#include "halftone/first_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "halftone/editor.h"
#include "halftone/subgraph.h"
#include "plan/opset_needed.h"
#include "plan/qdq_writer.h"
#include "plan/raised_opset.h"
#include "plan/wording.h"
#include "sensitivity/first_order/located_sites.h"
#include "sensitivity/first_order/node_writer.h"
#include "sensitivity/first_order/reverse_pass.h"

namespace halftone {
namespace {

using ModelPointer = std::shared_ptr<const Model>;

// Lists of axes as inputs, and sums in ScatterElements.
constexpr std::int64_t kOpsetOfRules = 17;

Result<TensorId> find_scored(const Graph& graph, const std::string& scored) {
  const TensorId id = graph.find_tensor(scored);
  if (id == kNone) {
    return Error{ErrorCode::kInvalidPolicy, "The model has no tensor " + quoted(scored) + ".",
                 printable(scored), "Choose one of its tensors."};
  }
  if (graph.tensor(id).type != DataType::kFloat) {
    return Error{ErrorCode::kUnsupportedType, "The scored tensor " + quoted(scored) + " is not float32.",
                 printable(scored), "Score a float32 tensor."};
  }
  return id;
}

// Only what the effects need, with all inputs of the model.
Result<ModelPointer> cut_to(const ModelPointer& model, const std::string& effects) {
  std::vector<std::string> inputs;
  for (const TensorId id : model->graph().inputs()) inputs.push_back(model->graph().tensor(id).name);
  return subgraph(model, inputs, {effects});
}

// Numbers as one tensor. By way of a sequence, so that not each of them needs a node that makes it a list.
std::string list_of(first_order_model::NodeWriter& nodes, std::vector<std::string> numbers) {
  if (numbers.empty()) return nodes.add("Identity", {nodes.floats({0}, {})});
  return nodes.add("ConcatFromSequence", {nodes.add("SequenceConstruct", std::move(numbers))},
                   {{"axis", std::int64_t{0}}, {"new_axis", std::int64_t{1}}});
}

}  // namespace

Result<FirstOrder> first_order(const ModelPointer& model, const std::string& scored,
                               std::span<const Site* const> sites, const Encodings& encodings,
                               const InputShapes& shapes) {
  std::int64_t needed = kOpsetOfRules;
  for (const Site* site : sites) needed = std::max(needed, opset_needed_for(*site));
  const Result<ModelPointer> at_opset = raised_to(model, needed);
  if (!at_opset.ok()) return at_opset.error();
  const Result<ModelPointer> raised = with_input_shapes(at_opset.value(), shapes);
  if (!raised.ok()) return raised.error();
  const Graph& graph = raised.value()->graph();
  const Result<TensorId> target = find_scored(graph, scored);
  if (!target.ok()) return target.error();
  const auto located = first_order_model::located_sites(model->graph(), graph, sites, encodings);
  if (!located.ok()) return located.error();

  ModelEditor editor(raised.value());
  QdqWriter quantizers(*raised.value(), editor);
  first_order_model::NodeWriter nodes(editor, graph.opset());
  first_order_model::ReversePass pass(*raised.value(), located.value(), nodes, quantizers);
  FirstOrder made{nullptr, nodes.fresh_name("cotangent"), {}};
  editor.add_graph_input({made.cotangent, DataType::kFloat, graph.tensor(target.value()).shape});
  if (Result<void> gone = pass.run(target.value(), made.cotangent); !gone.ok()) return gone.error();
  std::vector<std::string> effects;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    Result<std::string> effect = pass.effect(i);
    if (!effect.ok()) return effect.error();
    effects.push_back(std::move(effect).value());
  }
  made.effects = list_of(nodes, std::move(effects));
  if (nodes.error()) return *nodes.error();
  editor.add_graph_output({made.effects, DataType::kFloat,
                           std::vector<Dimension>{{static_cast<std::int64_t>(sites.size()), {}}}});
  const Result<ModelPointer> whole = std::move(editor).finish();
  if (!whole.ok()) return whole.error();
  Result<ModelPointer> part = cut_to(whole.value(), made.effects);
  if (!part.ok()) return part.error();
  made.model = std::move(part).value();
  return made;
}

}  // namespace halftone
