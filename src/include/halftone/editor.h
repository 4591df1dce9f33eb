// Editing: a new model from an old one. The weights that an edit doesn't change are shared, never copied.
//
// Ids are those of the base model's graph and stay valid during the edit. Every name that the editor makes is
// unique in the model (subgraphs included): a taken name gets _1, _2, … Names of initializers and nodes that
// the edit has taken away are free for new initializers. Calls record changes; finish() applies them in one
// linear pass.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/graph.h"
#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;

struct NewNode {
  std::string op_type;
  std::string domain;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, AttributeValue>> attributes;
};

// A graph input or output as the model declares it.
struct ValueDeclaration {
  std::string name;
  DataType type = DataType::kUndefined;  // kUndefined: written without a type,
                                         // which onnxruntime accepts
  std::optional<std::vector<Dimension>> shape;
};

class ModelEditor {
 public:
  explicit ModelEditor(std::shared_ptr<const Model> base);
  ~ModelEditor();
  ModelEditor(ModelEditor&&) noexcept;

  // `wanted` if free, else wanted_1, wanted_2, …; reserved from now on.
  [[nodiscard]] std::string fresh_name(std::string_view wanted);

  // A new initializer of the main graph. `bytes` is row-major little endian (sub-byte types packed) and is
  // moved, not copied. Errors: kInvalidGraph if the size doesn't fit dims and type, or the name is taken by
  // another tensor.
  Result<void> add_initializer(std::string name, DataType type, std::vector<std::int64_t> dims,
                               std::vector<std::uint8_t> bytes);

  // A new encoded initializer of the main graph. `message` is an EncodedValueProto of that name and moves
  // into the store; what it says beyond name and logical type is not looked at. Errors: as above, and
  // kTruncated or kInvalidGraph for a message that can't be walked.
  Result<void> add_encoded_initializer(std::string name, std::vector<std::uint8_t> message);
  // Takes an initializer away, encoded or not, though it may have readers: something of the edit has to make
  // its name. An initializer that is also listed as an input is listed no more.
  void remove_initializer(TensorId tensor);

  // Places a node directly before node `before` of the base graph (kNone: at the end), after any placed there
  // earlier.
  void insert_before(NodeId before, NewNode node);
  // Places a node at the very front, after any placed there earlier: for DequantizeLinear of constants and
  // Q/DQ of graph inputs.
  void insert_front(NewNode node);
  // Places a node directly after node `after`, after any placed there earlier.
  void insert_after(NodeId after, NewNode node);

  // Node `use.node` reads `tensor` at `use.input` from now on. The number behind its last input adds one.
  void redirect_input(Use use, std::string tensor);
  // Node `node` writes `tensor` as its output number `output`.
  void rename_output(NodeId node, std::int32_t output, std::string tensor);
  // Node attributes: set (or replace) one.
  void set_attribute(NodeId node, std::string name, AttributeValue value);
  void remove_node(NodeId node);
  // A graph input of a name from fresh_name(), after those that there are.
  void add_graph_input(ValueDeclaration input);
  // A graph output that is listed already stays as it is.
  void add_graph_output(ValueDeclaration output);
  // Declares another element type for a graph input or output; what makes or reads it is left alone.
  void set_element_type(TensorId tensor, DataType type);
  // Imports an operator set, or raises its version; nodes stay as they are.
  void require_opset(std::string domain, std::int64_t version);
  // Sets a key of metadata_props, replacing an old value. The keys "producer_name" and "producer_version" set
  // the model's fields of that name instead.
  void set_metadata(std::string key, std::string value);

  // Applies the edit in one linear pass. Nodes of the base keep their order (the topological one where the
  // file's is none). Constants (initializers, encoded ones, Constant nodes, foldable chains over them) are
  // removed if the edit took their last reader away; what nobody read before stays, and so do functions,
  // unknown fields, and declarations of tensors that still exist. Types and shapes are taken over from the
  // base and inferred for new nodes only; the checker doesn't run. Types that need a newer IR version, and
  // new initializers in a model below IR 4, raise it; the result's warnings() say so ("ir_version_raised").
  // New tensors above kInlineLimitBytes live in a buffer "new/<k>" that goes with the result; all others are
  // shared with the base. Errors: kInvalidGraph if the edit leaves an input without a producer, defines a
  // tensor twice, names a node, input or output that doesn't exist, or puts a node before one that feeds it.
  Result<std::shared_ptr<const Model>> finish() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halftone
