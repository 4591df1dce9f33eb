#include "model/graph_builder.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/extension_fields.h"
#include "model/graph_scopes.h"
#include "model/value_types.h"

namespace halftone {
namespace {

AttributeView attribute_view(const onnx::AttributeProto& attribute) {
  AttributeView view;
  using Type = onnx::AttributeProto;
  // Files of IR version 1 leave the type out.
  const bool untyped = attribute.type() == Type::UNDEFINED;
  if (attribute.type() == Type::INT || (untyped && attribute.has_i())) view.i = attribute.i();
  if (attribute.type() == Type::FLOAT || (untyped && attribute.has_f())) view.f = attribute.f();
  if (attribute.type() == Type::STRING || (untyped && attribute.has_s())) view.s = attribute.s();
  view.ints = {attribute.ints().data(), static_cast<std::size_t>(attribute.ints_size())};
  view.floats = {attribute.floats().data(), static_cast<std::size_t>(attribute.floats_size())};
  return view;
}

class GraphBuilder {
 public:
  GraphBuilder(const onnx::ModelProto& model, GraphScopes scopes) : model_(model), graph_(model.graph()) {
    scopes_ = std::move(scopes);
  }

  BuiltGraph build() {
    add_inputs();
    for (int i = 0; i < graph_.node_size(); ++i) add_node(i);
    add_outputs();
    for (const onnx::TensorProto& tensor : graph_.initializer()) add_initializer(tensor);
    for (const onnx::SparseTensorProto& tensor : graph_.sparse_initializer())
      tensor_id(tensor.values().name());
    for (const FieldReference& encoded : encoded_initializers(graph_)) {
      if (!encoded.name.empty()) tensor(tensor_id(encoded.name)).encoded = true;
    }
    for (const onnx::ValueInfoProto& info : graph_.value_info()) declare_if_known(info);
    add_opsets();
    built_.in_file_order = scopes_.in_file_order;
    built_.parts.order = std::move(scopes_.order);
    if (!built_.in_file_order) {
      built_.warnings.push_back(
          {"nodes_out_of_order",
           "The file lists nodes before the nodes that feed them; they are read in the right order.", ""});
    }
    return std::move(built_);
  }

 private:
  GraphTensor& tensor(TensorId id) { return built_.parts.tensors[static_cast<std::size_t>(id)]; }

  TensorId tensor_id(std::string_view name) {
    const auto [place, is_new] = ids_.emplace(name, static_cast<TensorId>(built_.parts.tensors.size()));
    if (is_new) built_.parts.tensors.emplace_back().name = std::string(name);
    return place->second;
  }

  void declare(TensorId id, const onnx::ValueInfoProto& info) {
    GraphTensor& known = tensor(id);
    ValueType merged{known.type, std::move(known.shape)};
    merge_value_type(merged, value_type(info.type()));
    known.type = merged.type;
    known.shape = std::move(merged.shape);
  }

  // value_info may name tensors that nothing uses: those are no part of the index.
  void declare_if_known(const onnx::ValueInfoProto& info) {
    const auto place = ids_.find(info.name());
    if (place != ids_.end()) declare(place->second, info);
  }

  void add_inputs() {
    std::unordered_set<std::string_view> initializers;
    for (const onnx::TensorProto& item : graph_.initializer()) initializers.insert(item.name());
    for (const onnx::SparseTensorProto& item : graph_.sparse_initializer())
      initializers.insert(item.values().name());
    for (const FieldReference& encoded : encoded_initializers(graph_)) initializers.insert(encoded.name);
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      if (initializers.contains(input.name())) continue;
      const TensorId id = tensor_id(input.name());
      tensor(id).graph_input = true;
      declare(id, input);
      built_.parts.inputs.push_back(id);
    }
  }

  void add_node(NodeId id) {
    const onnx::NodeProto& node = graph_.node(id);
    GraphNode& made = built_.parts.nodes.emplace_back();
    made.name = node.name();
    made.op_type = node.op_type();
    made.domain = std::string(canonical_domain(node.domain()));
    made.has_subgraph = !bodies(node).empty();
    for (int i = 0; i < node.input_size(); ++i) {
      made.inputs.push_back(node.input(i).empty() ? kNone : tensor_id(node.input(i)));
      if (made.inputs.back() != kNone) tensor(made.inputs.back()).consumers.push_back({id, i});
    }
    for (const std::string_view name : scopes_.captures[static_cast<std::size_t>(id)]) {
      tensor(tensor_id(name)).read_by_subgraph = true;
    }
    for (int i = 0; i < node.output_size(); ++i) {
      made.outputs.push_back(node.output(i).empty() ? kNone : tensor_id(node.output(i)));
      if (made.outputs.back() == kNone) continue;
      tensor(made.outputs.back()).producer = id;
      tensor(made.outputs.back()).producer_output = i;
    }
    auto& attributes = built_.parts.attributes.emplace_back();
    attributes.reserve(static_cast<std::size_t>(node.attribute_size()));
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      attributes.emplace_back(attribute.name(), attribute_view(attribute));
    }
  }

  void add_outputs() {
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      const TensorId id = tensor_id(output.name());
      if (tensor(id).graph_output) {
        built_.warnings.push_back(
            {"duplicate_graph_output",
             "The graph lists the output \"" + printable(output.name()) + "\" twice; it counts once.",
             printable(output.name())});
        continue;
      }
      tensor(id).graph_output = true;
      declare(id, output);
      built_.parts.outputs.push_back(id);
    }
  }

  // An initializer's own dims and type are the truth, whatever a declaration says.
  void add_initializer(const onnx::TensorProto& initializer) {
    GraphTensor& made = tensor(tensor_id(initializer.name()));
    made.initializer = true;
    ValueType own = value_type(initializer);
    made.type = own.type;
    made.shape = std::move(own.shape);
  }

  void add_opsets() {
    for (const onnx::OperatorSetIdProto& set : model_.opset_import()) {
      std::int64_t& version = built_.parts.opsets[std::string(canonical_domain(set.domain()))];
      version = std::max(version, set.version());
    }
  }

  const onnx::ModelProto& model_;
  const onnx::GraphProto& graph_;
  GraphScopes scopes_;
  BuiltGraph built_;
  std::unordered_map<std::string_view, TensorId> ids_;  // views into the skeleton
};

}  // namespace

Result<BuiltGraph> build_graph(const onnx::ModelProto& model) {
  if (!model.has_graph()) {
    return Error{ErrorCode::kInvalidGraph, "The model has no graph.", "",
                 "Check that the file is a complete ONNX model."};
  }
  Result<GraphScopes> scopes = resolve_scopes(model.graph());
  if (!scopes.ok()) return std::move(scopes).error();
  return GraphBuilder(model, std::move(scopes).value()).build();
}

}  // namespace halftone
