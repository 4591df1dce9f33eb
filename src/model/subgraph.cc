#include "halftone/subgraph.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "model/extension_fields.h"
#include "model/ir_version.h"
#include "model/model_data.h"
#include "model/value_types.h"

namespace halftone {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

// Of a Constant node that holds a dense tensor; else nullptr.
const onnx::TensorProto* constant_tensor(const onnx::NodeProto& node) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  if (!standard || node.op_type() != "Constant" || node.attribute_size() != 1 || node.output_size() != 1)
    return nullptr;
  const onnx::AttributeProto& value = node.attribute(0);
  return value.name() == "value" && value.has_t() ? &value.t() : nullptr;
}

class Extraction {
 public:
  Extraction(const ModelData& base, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs)
      : base_(base), graph_(*base.graph), inputs_(inputs), outputs_(outputs) {}

  Result<std::shared_ptr<const Model>> run() {
    if (Result<void> known = find_inputs(); !known.ok()) return known.error();
    if (Result<void> known = find_outputs(); !known.ok()) return known.error();
    collect();
    for (const TensorId id : graph_.inputs()) {
      if (read_[index_of(id)] && !given_[index_of(id)]) return undetermined(graph_.tensor(id).name);
    }
    return build();
  }

 private:
  static Error undetermined(const std::string& name) {
    return Error{
        ErrorCode::kInvalidPolicy,
        "The graph input \"" + printable(name) + "\" is needed and isn't among the inputs of the part.",
        printable(name), "Give its value too, or cut the model elsewhere."};
  }

  static Error unknown(const std::string& name) {
    return Error{ErrorCode::kInvalidPolicy,
                 "The model has no tensor \"" + printable(name) + "\" that it could be cut at.",
                 printable(name), "Choose a tensor that is computed and whose type is known."};
  }

  Result<void> find_inputs() {
    given_.assign(graph_.tensors().size(), false);
    for (const std::string& name : inputs_) {
      const TensorId id = graph_.find_tensor(name);
      if (id == kNone || graph_.tensor(id).constant || graph_.tensor(id).type == DataType::kUndefined)
        return unknown(name);
      given_[index_of(id)] = true;
    }
    return {};
  }

  Result<void> find_outputs() {
    for (const std::string& name : outputs_) {
      const TensorId id = graph_.find_tensor(name);
      if (id == kNone || graph_.tensor(id).producer == kNone || given_[index_of(id)]) return unknown(name);
      open_.push_back(id);
    }
    return {};
  }

  void need(TensorId id) {
    if (id == kNone || read_[index_of(id)]) return;
    read_[index_of(id)] = true;
    const NodeId producer = graph_.tensor(id).producer;
    if (given_[index_of(id)] || producer == kNone || kept_[index_of(producer)]) return;
    kept_[index_of(producer)] = true;
    if (graph_.node(producer).has_subgraph) need_captured();
    const auto& inputs = graph_.node(producer).inputs;
    open_.insert(open_.end(), inputs.begin(), inputs.end());
  }

  // Which body reads which tensor isn't indexed, so a body counts as reading all that any of them reads.
  void need_captured() {
    if (captured_) return;
    captured_ = true;
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      if (graph_.tensors()[i].read_by_subgraph) open_.push_back(static_cast<TensorId>(i));
    }
  }

  void collect() {
    read_.assign(graph_.tensors().size(), false);
    kept_.assign(graph_.nodes().size(), false);
    while (!open_.empty()) {
      const TensorId id = open_.back();
      open_.pop_back();
      need(id);
    }
  }

  Result<std::shared_ptr<const Model>> build() {
    auto data = std::make_shared<ModelData>();
    data->skeleton = base_.skeleton;
    data->store = base_.store;
    data->warnings = base_.warnings;
    onnx::GraphProto& graph = *data->skeleton.mutable_graph();
    Derivation derivation;
    derivation.inferred_nodes = keep_nodes(graph);
    keep_initializers(graph);
    declare(graph);
    if (hoisted_) {
      if (auto raised = raise_ir_version(data->skeleton, kIrWithFreeInitializers))
        data->warnings.push_back(*std::move(raised));
    }
    return finish_derived(std::move(data), base_, derivation);
  }

  std::vector<bool> keep_nodes(onnx::GraphProto& graph) {
    google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
    for (const NodeId id : graph_.topological_order()) {
      if (!kept_[index_of(id)]) continue;
      onnx::NodeProto& node = *graph.mutable_node(id);
      if (constant_tensor(node) != nullptr) {
        onnx::TensorProto& made = *graph.add_initializer();
        made.Swap(node.mutable_attribute(0)->mutable_t());
        made.set_name(node.output(0));
        hoisted_ = true;
      } else {
        kept.Add()->Swap(&node);
      }
    }
    graph.mutable_node()->Swap(&kept);
    return std::vector<bool>(static_cast<std::size_t>(graph.node_size()), false);
  }

  [[nodiscard]] bool is_read(const std::string& name) const {
    const TensorId id = graph_.find_tensor(name);
    return id != kNone && read_[index_of(id)];
  }

  void keep_initializers(onnx::GraphProto& graph) {
    google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
    for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
      if (is_read(tensor.name())) kept.Add()->Swap(&tensor);
    }
    graph.mutable_initializer()->Swap(&kept);
    google::protobuf::RepeatedPtrField<onnx::SparseTensorProto> sparse;
    for (onnx::SparseTensorProto& tensor : *graph.mutable_sparse_initializer()) {
      if (is_read(tensor.values().name())) sparse.Add()->Swap(&tensor);
    }
    graph.mutable_sparse_initializer()->Swap(&sparse);
    keep_encoded_initializers(graph, [this](std::string_view name) { return is_read(std::string(name)); });
  }

  // Inputs of the base that are initializers stay listed: in IR 4 and above that makes a runtime take them
  // for values that may change, here as in the whole model.
  void declare(onnx::GraphProto& graph) {
    google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
    for (const std::string& name : inputs_) add_declaration(*inputs.Add(), name);
    for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
      const TensorId id = graph_.find_tensor(input.name());
      const bool has_default = id != kNone && (graph_.tensor(id).initializer || graph_.tensor(id).encoded);
      if (has_default && read_[index_of(id)]) inputs.Add()->Swap(&input);
    }
    graph.mutable_input()->Swap(&inputs);
    graph.clear_output();
    for (const std::string& name : outputs_) add_declaration(*graph.add_output(), name);
    graph.clear_value_info();
    graph.clear_quantization_annotation();
  }

  void add_declaration(onnx::ValueInfoProto& declaration, const std::string& name) const {
    const GraphTensor& tensor = graph_.tensor(graph_.find_tensor(name));
    declaration.set_name(name);
    if (tensor.type != DataType::kUndefined)
      *declaration.mutable_type() = type_proto(tensor.type, tensor.shape);
  }

  const ModelData& base_;
  const Graph& graph_;
  const std::vector<std::string>& inputs_;
  const std::vector<std::string>& outputs_;
  std::vector<TensorId> open_;
  std::vector<bool> given_;  // by tensor
  std::vector<bool> read_;   // by tensor
  std::vector<bool> kept_;   // by node
  bool captured_ = false;
  bool hoisted_ = false;
};

}  // namespace

Result<std::shared_ptr<const Model>> subgraph(const std::shared_ptr<const Model>& model,
                                              const std::vector<std::string>& inputs,
                                              const std::vector<std::string>& outputs) {
  return Extraction(*model->data(), inputs, outputs).run();
}

}  // namespace halftone
