#include "halftone/staged.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "model/model_data.h"
#include "model/unique_names.h"
#include "model/value_types.h"

namespace halftone {
namespace {

constexpr std::int64_t kOpsetOfLess = 9;  // for int64

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

// Which stage computes each node, and what crosses.
class StageSearch {
 public:
  StageSearch(const Graph& graph, std::span<const std::vector<std::string>> cuts,
              std::span<const std::string> kept)
      : graph_(graph), stage_(graph.nodes().size(), kNone) {
    const bool bodies = std::any_of(graph.nodes().begin(), graph.nodes().end(),
                                    [](const GraphNode& node) { return node.has_subgraph; });
    if (bodies || graph.opset() < kOpsetOfLess) return;
    for (std::size_t cut = 0; cut < cuts.size(); ++cut) {
      if (claim(cuts[cut], kept)) borders_.push_back({cut, {}});
    }
    find_last_readers();
  }

  [[nodiscard]] std::int32_t stages() const { return static_cast<std::int32_t>(borders_.size()); }
  [[nodiscard]] std::vector<StageBorder> borders() const { return borders_; }
  // kNone behind the last border, and of nodes that only serve constants.
  [[nodiscard]] std::int32_t stage(NodeId node) const { return stage_[index_of(node)]; }
  // Of something that a stage makes.
  [[nodiscard]] bool crosses(TensorId tensor) const { return last_[index_of(tensor)] > made_in(tensor); }
  [[nodiscard]] std::int32_t last_reader(TensorId tensor) const { return last_[index_of(tensor)]; }
  [[nodiscard]] std::int32_t made_in(TensorId tensor) const {
    const NodeId producer = graph_.tensor(tensor).producer;
    return producer == kNone ? kNone : stage(producer);
  }

 private:
  // Gives the nodes that the tensors of a cut need, and no stage has yet, to the next stage; false: there are
  // none, or the cut can't be one.
  bool claim(const std::vector<std::string>& cut, std::span<const std::string> kept) {
    std::vector<NodeId> open;
    for (const std::string& name : cut) {
      const TensorId id = graph_.find_tensor(name);
      if (id == kNone || graph_.tensor(id).constant) return false;
      want(id, open);
    }
    std::vector<NodeId> claimed;
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      if (stage(node) != kNone) continue;
      stage_[index_of(node)] = stages();
      claimed.push_back(node);
      for (const TensorId input : graph_.node(node).inputs) {
        if (input != kNone) want(input, open);
      }
    }
    const bool fits = !claimed.empty() && std::none_of(kept.begin(), kept.end(), [&](const auto& name) {
      const TensorId id = graph_.find_tensor(name);
      return id != kNone && made_in(id) == stages();
    });
    if (!fits) {
      for (const NodeId node : claimed) stage_[index_of(node)] = kNone;
    }
    return fits;
  }

  void want(TensorId id, std::vector<NodeId>& open) const {
    const GraphTensor& tensor = graph_.tensor(id);
    if (tensor.producer != kNone && !tensor.constant) open.push_back(tensor.producer);
  }

  void find_last_readers() {
    last_.assign(graph_.tensors().size(), kNone);
    for (std::size_t i = 0; i < last_.size(); ++i) {
      for (const Use use : graph_.tensors()[i].consumers) {
        const std::int32_t reader = stage(use.node);
        last_[i] = std::max(last_[i], reader == kNone ? stages() : reader);
      }
    }
  }

  const Graph& graph_;
  std::vector<std::int32_t> stage_;  // by node
  std::vector<std::int32_t> last_;   // by tensor: of its readers; the number of stages for those behind all
  std::vector<StageBorder> borders_;
};

onnx::NodeProto node_of(const char* op_type, std::string name, const std::vector<std::string>& inputs,
                        std::string output) {
  onnx::NodeProto node;
  node.set_op_type(op_type);
  node.set_name(std::move(name));
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(std::move(output));
  return node;
}

onnx::GraphProto& branch_of(onnx::NodeProto& choice, const char* name) {
  onnx::AttributeProto& attribute = *choice.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  attribute.mutable_g()->set_name(choice.name() + "_" + name);
  return *attribute.mutable_g();
}

class Staging {
 public:
  Staging(const ModelData& base, const StageSearch& search)
      : graph_(*base.graph), base_(base), search_(search), data_(std::make_shared<ModelData>()) {
    data_->skeleton = base.skeleton;
    data_->store = base.store;
    data_->warnings = base.warnings;
    names_.emplace(base.skeleton);
    made_.borders = search.borders();
    nodes_.resize(made_.borders.size());
    for (const NodeId id : graph_.topological_order()) {
      if (search.stage(id) != kNone) nodes_[index_of(search.stage(id))].push_back(id);
    }
  }

  Result<StagedModel> run() {
    onnx::GraphProto& graph = *data_->skeleton.mutable_graph();
    google::protobuf::RepeatedPtrField<onnx::NodeProto> old;
    old.Swap(graph.mutable_node());
    add_start(graph);
    place(graph, old, [this](NodeId id) { return serves_constants(id); });
    for (std::int32_t stage = 0; stage < search_.stages(); ++stage) add_stage(graph, old, stage);
    place(graph, old, [this](NodeId id) { return search_.stage(id) == kNone && !serves_constants(id); });
    Derivation derivation;
    derivation.inferred_nodes.assign(static_cast<std::size_t>(graph.node_size()), false);
    Result<std::shared_ptr<const Model>> model = finish_derived(std::move(data_), base_, derivation);
    if (!model.ok()) return model.error();
    made_.model = std::move(model).value();
    return std::move(made_);
  }

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  [[nodiscard]] bool serves_constants(NodeId id) const {
    const auto& outputs = graph_.node(id).outputs;
    return std::all_of(outputs.begin(), outputs.end(),
                       [this](TensorId output) { return output == kNone || graph_.tensor(output).constant; });
  }

  template <typename Wanted>
  void place(onnx::GraphProto& graph, Nodes& old, const Wanted& wanted) const {
    for (const NodeId id : graph_.topological_order()) {
      if (wanted(id)) graph.add_node()->Swap(old.Mutable(id));
    }
  }

  void add_start(onnx::GraphProto& graph) {
    made_.start = names_->fresh("start_stage");
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(made_.start);
    *input.mutable_type() = type_proto(DataType::kInt64, std::vector<Dimension>{{1, {}}});
    for (std::int32_t stage = 0; stage < search_.stages(); ++stage) {
      const std::string number = "stage_" + std::to_string(stage);
      onnx::TensorProto& value = *graph.add_initializer();
      value.set_name(names_->fresh(number));
      value.set_data_type(onnx::TensorProto::INT64);
      value.add_dims(1);
      value.add_int64_data(stage);
      skipped_.push_back(names_->fresh(number + "_skipped"));
      *graph.add_node() =
          node_of("Less", names_->fresh(number + "_Less"), {value.name(), made_.start}, skipped_.back());
    }
  }

  void add_stage(onnx::GraphProto& graph, Nodes& old, std::int32_t stage) {
    onnx::NodeProto choice;
    choice.set_op_type("If");
    choice.set_name(names_->fresh("stage_" + std::to_string(stage) + "_If"));
    choice.add_input(skipped_[index_of(stage)]);
    onnx::GraphProto& fed = branch_of(choice, "then_branch");
    onnx::GraphProto& computed = branch_of(choice, "else_branch");
    std::unordered_map<std::string, std::string> inner;
    for (const NodeId id : nodes_[index_of(stage)]) {
      for (const TensorId output : graph_.node(id).outputs) {
        if (output == kNone || !leaves(output)) continue;
        const std::string& name = graph_.tensor(output).name;
        inner[name] = names_->fresh(name + "_computed");
        hand_on(graph, fed, output, stage);
        add_output(computed, inner[name], output);
        choice.add_output(name);
      }
      onnx::NodeProto& node = *computed.add_node();
      node.Swap(old.Mutable(id));
      rename(*node.mutable_input(), inner);
      rename(*node.mutable_output(), inner);
    }
    graph.add_node()->Swap(&choice);
  }

  [[nodiscard]] bool leaves(TensorId tensor) const {
    return search_.crosses(tensor) || graph_.tensor(tensor).graph_output;
  }

  // What the stage gives where it is skipped.
  void hand_on(onnx::GraphProto& graph, onnx::GraphProto& fed, TensorId id, std::int32_t stage) {
    const GraphTensor& tensor = graph_.tensor(id);
    const std::string given = names_->fresh(tensor.name + "_given");
    const std::string node = names_->fresh(tensor.name + "_Identity");
    if (search_.crosses(id)) {
      const std::string feed = names_->fresh(tensor.name + "_fed");
      add_feed(graph, tensor, feed);
      for (std::int32_t border = stage; border < search_.last_reader(id); ++border)
        made_.borders[index_of(border)].crossing.push_back(made_.feeds.size() - 1);
      *fed.add_node() = node_of("Identity", node, {feed}, given);
      if (!tensor.graph_output) declare(*graph.add_output(), tensor.name, tensor);
    } else {
      *fed.add_node() = node_of("Identity", node, {nothing_of(graph, tensor.type)}, given);
    }
    add_output(fed, given, id);
  }

  // With a rank only: of what isn't needed, anything may be fed.
  static void declare(onnx::ValueInfoProto& value, const std::string& name, const GraphTensor& tensor) {
    std::optional<std::vector<Dimension>> shape;
    if (tensor.shape) shape.emplace(tensor.shape->size());
    value.set_name(name);
    *value.mutable_type() = type_proto(tensor.type, shape);
  }

  void add_feed(onnx::GraphProto& graph, const GraphTensor& tensor, const std::string& feed) {
    declare(*graph.add_input(), feed, tensor);
    made_.feeds.push_back({tensor.name, feed, tensor.type, tensor.shape ? tensor.shape->size() : 1});
  }

  // Of a branch, without a rank: the other branch may have another one.
  void add_output(onnx::GraphProto& branch, const std::string& name, TensorId id) const {
    onnx::ValueInfoProto& output = *branch.add_output();
    output.set_name(name);
    *output.mutable_type() = type_proto(graph_.tensor(id).type, std::nullopt);
  }

  // An empty tensor of a type.
  std::string nothing_of(onnx::GraphProto& graph, DataType type) {
    std::string& name = nothing_[type];
    if (!name.empty()) return name;
    name = names_->fresh("nothing");
    onnx::TensorProto& value = *graph.add_initializer();
    value.set_name(name);
    value.set_data_type(static_cast<std::int32_t>(type));
    value.add_dims(0);
    return name;
  }

  static void rename(google::protobuf::RepeatedPtrField<std::string>& names,
                     const std::unordered_map<std::string, std::string>& inner) {
    for (std::string& name : names) {
      const auto known = inner.find(name);
      if (known != inner.end()) name = known->second;
    }
  }

  const Graph& graph_;
  const ModelData& base_;
  const StageSearch& search_;
  std::shared_ptr<ModelData> data_;
  std::optional<UniqueNames> names_;
  StagedModel made_;
  std::vector<std::vector<NodeId>> nodes_;  // by stage, in order
  std::vector<std::string> skipped_;        // by stage: the bool that says so
  std::unordered_map<DataType, std::string> nothing_;
};

// Whether everything that leaves a stage can be declared.
bool all_typed(const Graph& graph, const StageSearch& search) {
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const GraphTensor& tensor = graph.tensors()[i];
    const auto id = static_cast<TensorId>(i);
    if (tensor.constant || search.made_in(id) == kNone) continue;
    const bool leaves = search.crosses(id) || tensor.graph_output;
    if (leaves && (tensor.type == DataType::kUndefined || tensor.type == DataType::kString)) return false;
  }
  return true;
}

}  // namespace

Result<StagedModel> staged(const std::shared_ptr<const Model>& model,
                           std::span<const std::vector<std::string>> cuts,
                           std::span<const std::string> kept) {
  const ModelData& base = *model->data();
  const StageSearch search(*base.graph, cuts, kept);
  if (search.stages() == 0 || !all_typed(*base.graph, search)) return StagedModel{model, {}, {}, {}};
  return Staging(base, search).run();
}

}  // namespace halftone
