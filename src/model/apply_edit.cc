// One pass that makes a new skeleton from a base and an edit: see edit_record.h.
#include <algorithm>
#include <string_view>
#include <utility>

#include "model/edit_record.h"
#include "model/extension_fields.h"
#include "model/graph_scopes.h"
#include "model/ir_version.h"
#include "model/stored_tensor.h"
#include "model/value_types.h"

namespace halftone {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

Error bad_edit(const std::string& what) {
  return {ErrorCode::kInvalidGraph, "The edit " + what + ".", "", ""};
}

void set_value(onnx::AttributeProto& attribute, const AttributeValue& value) {
  const std::string name = attribute.name();
  attribute.Clear();
  attribute.set_name(name);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(*text);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    attribute.set_type(onnx::AttributeProto::INTS);
    attribute.mutable_ints()->Assign(list->begin(), list->end());
  }
}

void set_attribute(onnx::NodeProto& node, const std::string& name, const AttributeValue& value) {
  for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == name) return set_value(attribute, value);
  }
  onnx::AttributeProto& added = *node.add_attribute();
  added.set_name(name);
  set_value(added, value);
}

void fill_node(onnx::NodeProto& made, NewNode& node) {
  for (std::string& input : node.inputs) made.add_input(std::move(input));
  for (std::string& output : node.outputs) made.add_output(std::move(output));
  if (!node.name.empty()) made.set_name(std::move(node.name));
  made.set_op_type(std::move(node.op_type));
  if (!node.domain.empty()) made.set_domain(std::move(node.domain));
  for (const auto& [name, value] : node.attributes) set_attribute(made, name, value);
}

template <typename Items, typename Keep>
void keep_if(Items& items, const Keep& keep) {
  int kept = 0;
  for (int i = 0; i < items.size(); ++i) {
    if (!keep(items.Get(i))) continue;
    if (kept != i) items.SwapElements(kept, i);
    ++kept;
  }
  while (items.size() > kept) items.RemoveLast();
}

class EditApplication {
 public:
  EditApplication(const ModelData& base, EditRecord record)
      : base_(base), graph_(*base.graph), record_(std::move(record)), data_(std::make_shared<ModelData>()) {}

  Result<std::shared_ptr<const Model>> run() {
    if (Result<void> valid = check_ids(); !valid.ok()) return valid.error();
    data_->skeleton = base_.skeleton;
    data_->store = base_.store;
    for (const Warning& warning : base_.warnings) {
      if (warning.code != "nodes_out_of_order")
        data_->warnings.push_back(warning);  // place_nodes() orders them
    }
    unused_ = find_unused_constants(graph_, record_);
    change_nodes();
    place_nodes();
    remove_initializers();
    add_initializers();
    add_encoded_initializers();
    remove_declarations();
    change_types();
    add_inputs();
    add_outputs();
    set_metadata();
    import_opsets();
    if (auto raised = raise_ir_version(data_->skeleton, needed_ir_))
      data_->warnings.push_back(*std::move(raised));
    return finish_derived(std::move(data_), base_, derivation_);
  }

 private:
  [[nodiscard]] onnx::GraphProto& proto() { return *data_->skeleton.mutable_graph(); }

  [[nodiscard]] bool has_node(NodeId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < graph_.nodes().size();
  }

  [[nodiscard]] Result<void> check_ids() const {
    for (const auto& [use, tensor] : record_.redirected) {
      const bool known = has_node(use.node) && use.input >= 0 &&
                         static_cast<std::size_t>(use.input) <= graph_.node(use.node).inputs.size();
      if (!known) return bad_edit("redirects an input that doesn't exist");
    }
    for (const EditRecord::Rename& rename : record_.renamed) {
      const bool known = has_node(rename.node) && rename.output >= 0 &&
                         static_cast<std::size_t>(rename.output) < graph_.node(rename.node).outputs.size();
      if (!known) return bad_edit("renames an output that doesn't exist");
    }
    const auto known_place = [this](const auto& placed) { return has_node(placed.first); };
    const bool places = std::all_of(record_.before.begin(), record_.before.end(), known_place) &&
                        std::all_of(record_.after.begin(), record_.after.end(), known_place);
    const bool attributes = std::all_of(record_.attributes.begin(), record_.attributes.end(),
                                        [this](const auto& attribute) { return has_node(attribute.node); });
    const bool removed = std::all_of(record_.removed.begin(), record_.removed.end(),
                                     [this](NodeId id) { return has_node(id); });
    const bool initializers = std::all_of(
        record_.removed_initializers.begin(), record_.removed_initializers.end(), [this](TensorId id) {
          return id >= 0 && static_cast<std::size_t>(id) < graph_.tensors().size() &&
                 (graph_.tensor(id).initializer || graph_.tensor(id).encoded);
        });
    if (!initializers) return bad_edit("removes an initializer that doesn't exist");
    const bool retyped =
        std::all_of(record_.retyped.begin(), record_.retyped.end(), [this](const auto& change) {
          return change.first >= 0 && static_cast<std::size_t>(change.first) < graph_.tensors().size() &&
                 (graph_.tensor(change.first).graph_input || graph_.tensor(change.first).graph_output);
        });
    if (!retyped) return bad_edit("changes the type of something that is no input or output of the graph");
    return places && attributes && removed ? Result<void>() : bad_edit("names a node that doesn't exist");
  }

  void change_nodes() {
    for (auto& [use, tensor] : record_.redirected) {
      onnx::NodeProto& node = *proto().mutable_node(use.node);
      if (use.input == node.input_size())
        node.add_input(tensor);
      else
        node.set_input(use.input, tensor);
    }
    for (const EditRecord::Rename& rename : record_.renamed) {
      const TensorId id = graph_.node(rename.node).outputs[static_cast<std::size_t>(rename.output)];
      if (id != kNone) derivation_.renamed[rename.tensor] = id;
      proto().mutable_node(rename.node)->set_output(rename.output, rename.tensor);
    }
    for (const EditRecord::Attribute& attribute : record_.attributes) {
      set_attribute(*proto().mutable_node(attribute.node), attribute.name, attribute.value);
    }
  }

  // Base nodes keep their order; where the file's is none, they come in the order in which they were read.
  void place_nodes() {
    Nodes placed;
    placed.Reserve(proto().node_size() + 16);
    add_nodes(record_.front, placed);
    for (const NodeId id : graph_.topological_order()) {
      if (const auto here = record_.before.find(id); here != record_.before.end())
        add_nodes(here->second, placed);
      if (!is_removed(id)) {
        placed.Add()->Swap(proto().mutable_node(id));
        derivation_.inferred_nodes.push_back(false);
      }
      if (const auto here = record_.after.find(id); here != record_.after.end())
        add_nodes(here->second, placed);
    }
    add_nodes(record_.end, placed);
    proto().mutable_node()->Swap(&placed);
  }

  [[nodiscard]] bool is_removed(NodeId id) const {
    return record_.removed.contains(id) || unused_.nodes.contains(id);
  }

  void add_nodes(std::vector<NewNode>& nodes, Nodes& placed) {
    for (NewNode& node : nodes) {
      for (const std::string& output : node.outputs) made_.insert(output);
      fill_node(*placed.Add(), node);
      derivation_.inferred_nodes.push_back(true);
    }
  }

  [[nodiscard]] bool is_gone(std::string_view name) const {
    const TensorId id = graph_.find_tensor(name);
    return id != kNone && gone_.contains(id);
  }

  void remove_initializers() {
    gone_ = unused_.tensors;
    gone_.insert(record_.removed_initializers.begin(), record_.removed_initializers.end());
    if (gone_.empty()) return;
    keep_encoded_initializers(proto(), [this](std::string_view name) { return !is_gone(name); });
    keep_if(*proto().mutable_initializer(), [this](const auto& tensor) { return !is_gone(tensor.name()); });
    keep_if(*proto().mutable_input(), [this](const auto& input) { return !is_gone(input.name()); });
  }

  void add_initializers() {
    for (NewInitializer& made : record_.initializers) {
      onnx::TensorProto& tensor = *proto().add_initializer();
      made_.insert(made.name);
      tensor.set_name(made.name);
      tensor.set_data_type(static_cast<std::int32_t>(made.type));
      tensor.mutable_dims()->Assign(made.dims.begin(), made.dims.end());
      needed_ir_ = std::max({needed_ir_, kIrWithFreeInitializers, ir_version_of(made.type)});
      if (made.bytes.size() <= kInlineLimitBytes) {
        tensor.set_raw_data(made.bytes.data(), made.bytes.size());
        continue;
      }
      const std::uint64_t length = made.bytes.size();
      set_stored_tensor(tensor,
                        {own_store().add_new(std::move(made.bytes)), 0, length, TensorField::kRawData});
    }
  }

  WeightStore& own_store() {
    if (data_->store == base_.store) data_->store = base_.store->fork();
    return *data_->store;
  }

  void add_encoded_initializers() {
    for (NewEncodedInitializer& made : record_.encoded) {
      made_.insert(made.name);
      const std::size_t length = made.message.size();
      const std::string path = own_store().add_new(std::move(made.message));
      FieldReference reference{kEncodedInitializerField, path, 0, length, {}, {}};
      // Walked before: see ModelEditor::add_encoded_initializer.
      static_cast<void>(describe_encoded_initializer(own_store().find(path), {0, length}, reference));
      append_field_reference(*proto().mutable_unknown_fields(), reference);
    }
  }

  void import_opsets() {
    for (const auto& [domain, version] : record_.opsets) {
      onnx::OperatorSetIdProto* found = nullptr;
      for (auto& set : *data_->skeleton.mutable_opset_import()) {
        if (canonical_domain(set.domain()) == canonical_domain(domain)) found = &set;
      }
      if (found == nullptr) {
        found = data_->skeleton.add_opset_import();
        found->set_domain(domain);
      }
      found->set_version(std::max(found->version(), version));
    }
  }

  // Declarations of tensors that the edit took away, unless something new has the name.
  void remove_declarations() {
    for (const NodeId id : record_.removed) {
      for (const TensorId output : graph_.node(id).outputs) {
        if (output != kNone) gone_.insert(output);
      }
    }
    for (const EditRecord::Rename& rename : record_.renamed) {
      const TensorId id = graph_.node(rename.node).outputs[static_cast<std::size_t>(rename.output)];
      if (id != kNone) gone_.insert(id);
      made_.insert(rename.tensor);
    }
    if (gone_.empty()) return;
    const auto exists = [this](const std::string& name) { return made_.contains(name) || !is_gone(name); };
    keep_if(*proto().mutable_value_info(), [&](const auto& info) { return exists(info.name()); });
    keep_if(*proto().mutable_quantization_annotation(),
            [&](const auto& note) { return exists(note.tensor_name()); });
  }

  void change_types() {
    if (record_.retyped.empty()) return;
    for (const auto& [tensor, type] : record_.retyped) derivation_.retyped[graph_.tensor(tensor).name] = type;
    for (auto* values : {proto().mutable_input(), proto().mutable_output(), proto().mutable_value_info()}) {
      for (onnx::ValueInfoProto& value : *values) {
        const auto change = derivation_.retyped.find(value.name());
        if (change == derivation_.retyped.end() || !value.type().has_tensor_type()) continue;
        value.mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<std::int32_t>(change->second));
      }
    }
    for (const auto& [name, type] : derivation_.retyped)
      needed_ir_ = std::max(needed_ir_, ir_version_of(type));
  }

  void add_inputs() {
    for (const ValueDeclaration& input : record_.inputs) {
      onnx::ValueInfoProto& added = *proto().add_input();
      added.set_name(input.name);
      *added.mutable_type() = type_proto(input.type, input.shape);
    }
  }

  void add_outputs() {
    for (const ValueDeclaration& output : record_.outputs) {
      const auto& present = proto().output();
      const bool listed =
          std::any_of(present.begin(), present.end(), [&](const auto& o) { return o.name() == output.name; });
      if (listed) continue;
      onnx::ValueInfoProto& added = *proto().add_output();
      added.set_name(output.name);
      if (output.type != DataType::kUndefined) *added.mutable_type() = type_proto(output.type, output.shape);
    }
  }

  void set_metadata() {
    for (const auto& [key, value] : record_.metadata) {
      if (key == "producer_name") {
        data_->skeleton.set_producer_name(value);
      } else if (key == "producer_version") {
        data_->skeleton.set_producer_version(value);
      } else {
        set_metadata_entry(key, value);
      }
    }
  }

  void set_metadata_entry(const std::string& key, const std::string& value) {
    for (auto& entry : *data_->skeleton.mutable_metadata_props()) {
      if (entry.key() == key) return entry.set_value(value);
    }
    auto& added = *data_->skeleton.add_metadata_props();
    added.set_key(key);
    added.set_value(value);
  }

  const ModelData& base_;
  const Graph& graph_;
  EditRecord record_;
  std::shared_ptr<ModelData> data_;
  Derivation derivation_;
  UnusedConstants unused_;
  std::unordered_set<TensorId> gone_;     // tensors of the base that the edit takes away
  std::unordered_set<std::string> made_;  // names that the edit gives
  std::int64_t needed_ir_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Model>> apply_edit(const ModelData& base, EditRecord record) {
  return EditApplication(base, std::move(record)).run();
}

}  // namespace halftone
