// Constants that an edit leaves without a reader: see edit_record.h.
#include <algorithm>
#include <vector>

#include "model/edit_record.h"

namespace halftone {
namespace {

class ReaderCount {
 public:
  ReaderCount(const Graph& graph, const EditRecord& record) : graph_(graph) {
    for (const GraphTensor& tensor : graph.tensors()) {
      readers_.push_back(static_cast<std::int64_t>(tensor.consumers.size()) + (tensor.graph_output ? 1 : 0) +
                         (tensor.read_by_subgraph ? 1 : 0));
    }
    std::unordered_map<std::int64_t, const std::string*> redirected;
    for (const auto& [use, tensor] : record.redirected) redirected[key(use)] = &tensor;
    for (const auto& [use_key, tensor] : redirected) {
      // An input that the edit adds behind the last reads nothing yet.
      const auto& inputs = graph.node(node_of(use_key)).inputs;
      if (input_of(use_key) < inputs.size()) take(inputs[input_of(use_key)]);
      if (!record.removed.contains(node_of(use_key))) give(*tensor);
    }
    for (const NodeId node : record.removed) {
      const auto& inputs = graph.node(node).inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!redirected.contains(key({node, static_cast<std::int32_t>(i)}))) take(inputs[i]);
      }
    }
    add_new_readers(record);
  }

  void take(TensorId id) {
    if (id == kNone) return;
    --readers_[static_cast<std::size_t>(id)];
    touched_.push_back(id);
  }

  [[nodiscard]] bool unused(TensorId id) const { return readers_[static_cast<std::size_t>(id)] <= 0; }

  // The next tensor that lost a reader, each as often as it lost one; kNone when there is no more.
  TensorId next_touched() {
    if (touched_.empty()) return kNone;
    const TensorId id = touched_.back();
    touched_.pop_back();
    return id;
  }

 private:
  static std::int64_t key(Use use) { return (static_cast<std::int64_t>(use.node) << 32) | use.input; }
  static NodeId node_of(std::int64_t key) { return static_cast<NodeId>(key >> 32); }
  static std::size_t input_of(std::int64_t key) { return static_cast<std::size_t>(key & 0xFFFFFFFF); }

  void give(const std::string& name) {
    const TensorId id = graph_.find_tensor(name);
    if (id != kNone) ++readers_[static_cast<std::size_t>(id)];
  }

  void add_new_readers(const EditRecord& record) {
    const auto add = [&](const std::vector<NewNode>& nodes) {
      for (const NewNode& node : nodes) {
        for (const std::string& input : node.inputs) give(input);
      }
    };
    add(record.front);
    add(record.end);
    for (const auto& [place, nodes] : record.before) add(nodes);
    for (const auto& [place, nodes] : record.after) add(nodes);
    for (const ValueDeclaration& output : record.outputs) give(output.name);
  }

  const Graph& graph_;
  std::vector<std::int64_t> readers_;
  std::vector<TensorId> touched_;
};

}  // namespace

UnusedConstants find_unused_constants(const Graph& graph, const EditRecord& record) {
  UnusedConstants unused;
  ReaderCount readers(graph, record);
  for (TensorId id = readers.next_touched(); id != kNone; id = readers.next_touched()) {
    const GraphTensor& tensor = graph.tensor(id);
    if ((!tensor.constant && !tensor.encoded) || !readers.unused(id) || unused.tensors.contains(id)) continue;
    unused.tensors.insert(id);
    if (tensor.producer == kNone || record.removed.contains(tensor.producer)) continue;
    unused.nodes.insert(tensor.producer);
    for (const TensorId input : graph.node(tensor.producer).inputs) readers.take(input);
  }
  return unused;
}

}  // namespace halftone
