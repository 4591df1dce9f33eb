#include "halftone/graph.h"

#include <utility>

namespace halftone {
namespace {

// In node_ids_: a name that several nodes have.
constexpr NodeId kAmbiguous = -2;

std::string output_label(const GraphNode& node, std::span<const GraphTensor> tensors) {
  for (const TensorId output : node.outputs) {
    if (output != kNone) return "@" + tensors[static_cast<std::size_t>(output)].name;
  }
  return "@";
}

// A name that starts like an output label could be mistaken for another node's label, so it is none.
bool can_be_label(const std::string& name) { return !name.empty() && name.front() != '@'; }

}  // namespace

Graph::Graph(Parts parts) : parts_(std::move(parts)) {
  tensor_ids_.reserve(parts_.tensors.size());
  for (std::size_t i = 0; i < parts_.tensors.size(); ++i) {
    tensor_ids_.emplace(parts_.tensors[i].name, static_cast<TensorId>(i));
  }
  node_ids_.reserve(parts_.nodes.size());
  labelled_by_name_.assign(parts_.nodes.size(), false);
  for (std::size_t i = 0; i < parts_.nodes.size(); ++i) {
    if (!can_be_label(parts_.nodes[i].name)) continue;
    const auto [place, is_new] = node_ids_.emplace(parts_.nodes[i].name, static_cast<NodeId>(i));
    labelled_by_name_[i] = is_new;
    if (is_new) continue;
    if (place->second != kAmbiguous) labelled_by_name_[static_cast<std::size_t>(place->second)] = false;
    place->second = kAmbiguous;
  }
  for (std::size_t i = 0; i < parts_.nodes.size(); ++i) {
    const std::string label = node_label(static_cast<NodeId>(i));
    if (label.front() == '@') node_ids_.emplace(label, static_cast<NodeId>(i));
  }
}

TensorId Graph::find_tensor(std::string_view name) const {
  const auto place = tensor_ids_.find(std::string(name));
  return place == tensor_ids_.end() ? kNone : place->second;
}

NodeId Graph::find_node(std::string_view label) const {
  const auto place = node_ids_.find(std::string(label));
  if (place != node_ids_.end()) return place->second == kAmbiguous ? kNone : place->second;
  return label.starts_with('@') ? find_by_output(label) : kNone;
}

// A node that has a label of its own here may have had none in the model that this is a part of.
NodeId Graph::find_by_output(std::string_view label) const {
  const TensorId output = find_tensor(label.substr(1));
  const NodeId producer = output == kNone ? kNone : tensor(output).producer;
  return producer != kNone && output_label(node(producer), parts_.tensors) == label ? producer : kNone;
}

std::string Graph::node_label(NodeId id) const {
  const GraphNode& named = node(id);
  if (labelled_by_name_[static_cast<std::size_t>(id)]) return named.name;
  return output_label(named, parts_.tensors);
}

std::int64_t Graph::opset(std::string_view domain) const {
  const auto place = parts_.opsets.find(domain == "ai.onnx" ? std::string() : std::string(domain));
  return place == parts_.opsets.end() ? 0 : place->second;
}

const AttributeView* Graph::attribute(NodeId id, std::string_view name) const {
  for (const auto& [key, value] : parts_.attributes[static_cast<std::size_t>(id)]) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::int64_t Graph::int_attribute(NodeId id, std::string_view name, std::int64_t otherwise) const {
  const AttributeView* found = attribute(id, name);
  return found != nullptr && found->i ? *found->i : otherwise;
}

float Graph::float_attribute(NodeId id, std::string_view name, float otherwise) const {
  const AttributeView* found = attribute(id, name);
  return found != nullptr && found->f ? *found->f : otherwise;
}

}  // namespace halftone
