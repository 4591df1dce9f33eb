// Read-only index over the main graph of a model: tensors, producers, consumers, attributes, order.
//
// Ownership: a Graph belongs to its Model and lives as long as it. Ids are dense indexes, valid for this
// Graph only; an edited model has a new Graph. Threading: immutable after construction. Building it is linear
// in nodes + edges. Subgraphs (bodies of If, Loop, Scan) are not indexed: a tensor of the main graph that one
// of them reads is marked `read_by_subgraph`, and the node that owns the body is marked `has_subgraph`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "halftone/data_type.h"

namespace halftone {

using TensorId = std::int32_t;
using NodeId = std::int32_t;
inline constexpr std::int32_t kNone = -1;

// One dimension of a shape: a value, or a symbol (possibly empty) when it is not known.
struct Dimension {
  std::int64_t value = -1;  // -1: not known
  std::string symbol;
};

// One reading of a tensor: node `node` reads it as its input number `input` (0-based).
struct Use {
  NodeId node = kNone;
  std::int32_t input = 0;
};

struct GraphTensor {
  std::string name;
  DataType type = DataType::kUndefined;         // kUndefined: not known
  std::optional<std::vector<Dimension>> shape;  // nullopt: rank not known
  NodeId producer = kNone;                      // kNone: graph input or initializer
  std::int32_t producer_output = 0;
  std::vector<Use> consumers;  // in node order, then input order
  bool graph_input = false;    // not true for a (perhaps encoded) initializer that is also listed as an input
  bool graph_output = false;
  bool initializer = false;
  bool constant = false;  // an initializer, a Constant node's output, or a
                          // foldable chain over one (see Model::constant)
  bool read_by_subgraph = false;
  bool encoded = false;  // an encoded initializer (encoded_model.h): a value without an element type, which
                         // only ai.rt::Dequantize makes a tensor of
};

struct GraphNode {
  std::string name;  // may be empty
  std::string op_type;
  std::string domain;             // "" is ai.onnx
  std::vector<TensorId> inputs;   // kNone: an omitted optional input
  std::vector<TensorId> outputs;  // kNone: an omitted optional output
  bool has_subgraph = false;
};

// The values of an attribute; the member that matches its type is set.
struct AttributeView {
  std::optional<std::int64_t> i;
  std::optional<float> f;
  std::optional<std::string_view> s;
  std::span<const std::int64_t> ints;
  std::span<const float> floats;
};

class Graph {
 public:
  // Filled by src/model; see graph_builder.h there. `attributes` is parallel to `nodes`.
  struct Parts {
    std::vector<GraphNode> nodes;
    std::vector<GraphTensor> tensors;
    std::vector<TensorId> inputs;  // real graph inputs (initializers that double
                                   // as inputs are left out)
    std::vector<TensorId> outputs;
    std::vector<NodeId> order;  // a topological order (file order where that is one)
    std::unordered_map<std::string, std::int64_t> opsets;  // domain -> version; "ai.onnx" is stored as ""
    std::vector<std::vector<std::pair<std::string, AttributeView>>> attributes;
  };
  explicit Graph(Parts parts);

  [[nodiscard]] std::span<const GraphNode> nodes() const { return parts_.nodes; }
  [[nodiscard]] std::span<const GraphTensor> tensors() const { return parts_.tensors; }
  [[nodiscard]] const GraphNode& node(NodeId id) const { return parts_.nodes[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const GraphTensor& tensor(TensorId id) const {
    return parts_.tensors[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::span<const TensorId> inputs() const { return parts_.inputs; }
  [[nodiscard]] std::span<const TensorId> outputs() const { return parts_.outputs; }
  [[nodiscard]] std::span<const NodeId> topological_order() const { return parts_.order; }

  // kNone if there is no such tensor / node. O(1).
  [[nodiscard]] TensorId find_tensor(std::string_view name) const;
  // By label (see node_label): a node's name where it has one, else "@first_output", which finds any node.
  [[nodiscard]] NodeId find_node(std::string_view label) const;

  // The stable name of a node: its own, or "@" + its first output's name when it is nameless or its name
  // isn't unique.
  [[nodiscard]] std::string node_label(NodeId id) const;

  // Version of an operator set; 0 if the model doesn't import it. `domain` "" or "ai.onnx" is the default
  // one.
  [[nodiscard]] std::int64_t opset(std::string_view domain = "") const;

  // nullptr if the node has no such attribute.
  [[nodiscard]] const AttributeView* attribute(NodeId id, std::string_view name) const;
  [[nodiscard]] std::int64_t int_attribute(NodeId id, std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] float float_attribute(NodeId id, std::string_view name, float otherwise) const;

 private:
  [[nodiscard]] NodeId find_by_output(std::string_view label) const;

  Parts parts_;
  std::unordered_map<std::string, TensorId> tensor_ids_;
  std::unordered_map<std::string, NodeId> node_ids_;
  std::vector<bool> labelled_by_name_;  // by node
};

}  // namespace halftone
