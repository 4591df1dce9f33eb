#include "halftone/editor.h"

#include <utility>

#include "model/edit_record.h"
#include "model/extension_fields.h"

namespace halftone {

struct ModelEditor::State {
  std::shared_ptr<const Model> base;
  EditRecord record;
  std::optional<UniqueNames> names;          // made at the first wish for a name
  std::unordered_set<std::string> reserved;  // given out by fresh_name, not yet used for an initializer

  UniqueNames& taken() {
    if (!names) names.emplace(base->data()->skeleton);
    return *names;
  }

  // Whether the edit has taken away what has this name.
  [[nodiscard]] bool is_given_up(const std::string& name) const {
    const TensorId id = base->graph().find_tensor(name);
    return id != kNone && (record.removed_initializers.contains(id) ||
                           record.removed.contains(base->graph().tensor(id).producer));
  }

  // Takes the name of a new initializer.
  Result<void> take(const std::string& name) {
    if (!name.empty() && (reserved.erase(name) != 0 || taken().take(name) || is_given_up(name))) return {};
    return Error{ErrorCode::kInvalidGraph,
                 "The name \"" + printable(name) + "\" for a new tensor is taken already.", printable(name),
                 ""};
  }
};

ModelEditor::ModelEditor(std::shared_ptr<const Model> base) : state_(std::make_unique<State>()) {
  state_->base = std::move(base);
}
ModelEditor::~ModelEditor() = default;
ModelEditor::ModelEditor(ModelEditor&&) noexcept = default;

std::string ModelEditor::fresh_name(std::string_view wanted) {
  std::string name = state_->taken().fresh(wanted);
  state_->reserved.insert(name);
  return name;
}

Result<void> ModelEditor::add_initializer(std::string name, DataType type, std::vector<std::int64_t> dims,
                                          std::vector<std::uint8_t> bytes) {
  const auto needed = raw_byte_count(type, dims);
  if (!needed || *needed != bytes.size()) {
    return Error{ErrorCode::kInvalidGraph,
                 "The new tensor \"" + printable(name) + "\" has " + std::to_string(bytes.size()) +
                     " bytes, but its type " + data_type_name(type) + " and dimensions need " +
                     (needed ? std::to_string(*needed) : "others") + ".",
                 printable(name), ""};
  }
  if (Result<void> taken = state_->take(name); !taken) return taken;
  state_->record.initializers.push_back({std::move(name), type, std::move(dims), std::move(bytes)});
  return {};
}

Result<void> ModelEditor::add_encoded_initializer(std::string name, std::vector<std::uint8_t> message) {
  FieldReference facts;
  if (Result<void> walked = describe_encoded_initializer(message, {0, message.size()}, facts); !walked)
    return walked;
  if (facts.name != name) {
    return Error{ErrorCode::kInvalidGraph,
                 "The new encoded initializer \"" + printable(name) + "\" says another name itself.",
                 printable(name), ""};
  }
  if (Result<void> taken = state_->take(name); !taken) return taken;
  state_->record.encoded.push_back({std::move(name), std::move(message)});
  return {};
}

void ModelEditor::remove_initializer(TensorId tensor) { state_->record.removed_initializers.insert(tensor); }

void ModelEditor::insert_before(NodeId before, NewNode node) {
  EditRecord& record = state_->record;
  (before == kNone ? record.end : record.before[before]).push_back(std::move(node));
}

void ModelEditor::insert_front(NewNode node) { state_->record.front.push_back(std::move(node)); }

void ModelEditor::insert_after(NodeId after, NewNode node) {
  state_->record.after[after].push_back(std::move(node));
}

void ModelEditor::redirect_input(Use use, std::string tensor) {
  state_->record.redirected.emplace_back(use, std::move(tensor));
}

void ModelEditor::rename_output(NodeId node, std::int32_t output, std::string tensor) {
  state_->record.renamed.push_back({node, output, std::move(tensor)});
}

void ModelEditor::set_attribute(NodeId node, std::string name, AttributeValue value) {
  state_->record.attributes.push_back({node, std::move(name), std::move(value)});
}

void ModelEditor::remove_node(NodeId node) { state_->record.removed.insert(node); }

void ModelEditor::add_graph_input(ValueDeclaration input) {
  state_->record.inputs.push_back(std::move(input));
}

void ModelEditor::add_graph_output(ValueDeclaration output) {
  state_->record.outputs.push_back(std::move(output));
}

void ModelEditor::set_element_type(TensorId tensor, DataType type) {
  state_->record.retyped.emplace_back(tensor, type);
}

void ModelEditor::require_opset(std::string domain, std::int64_t version) {
  state_->record.opsets.emplace_back(std::move(domain), version);
}

void ModelEditor::set_metadata(std::string key, std::string value) {
  state_->record.metadata.emplace_back(std::move(key), std::move(value));
}

Result<std::shared_ptr<const Model>> ModelEditor::finish() && {
  const std::shared_ptr<const Model> base = state_->base;
  return apply_edit(*base->data(), std::move(state_->record));
}

}  // namespace halftone
