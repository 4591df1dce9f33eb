// What a ModelEditor was told, until finish() applies it in one pass.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "halftone/editor.h"
#include "model/model_data.h"
#include "model/unique_names.h"

namespace halftone {

struct NewInitializer {
  std::string name;
  DataType type = DataType::kUndefined;
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> bytes;
};

struct NewEncodedInitializer {
  std::string name;
  std::vector<std::uint8_t> message;
};

struct EditRecord {
  std::vector<NewInitializer> initializers;
  std::vector<NewEncodedInitializer> encoded;
  std::unordered_set<TensorId> removed_initializers;
  std::vector<NewNode> front;
  std::vector<NewNode> end;
  std::unordered_map<NodeId, std::vector<NewNode>> before;
  std::unordered_map<NodeId, std::vector<NewNode>> after;
  std::vector<std::pair<Use, std::string>>
      redirected;  // in order of the calls: of two for one use the later one counts
  struct Rename {
    NodeId node;
    std::int32_t output;
    std::string tensor;
  };
  std::vector<Rename> renamed;
  struct Attribute {
    NodeId node;
    std::string name;
    AttributeValue value;
  };
  std::vector<Attribute> attributes;
  std::unordered_set<NodeId> removed;
  std::vector<ValueDeclaration> inputs;
  std::vector<ValueDeclaration> outputs;
  std::vector<std::pair<TensorId, DataType>> retyped;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::pair<std::string, std::int64_t>> opsets;
};

// Errors: see ModelEditor::finish.
Result<std::shared_ptr<const Model>> apply_edit(const ModelData& base, EditRecord record);

// Which constants lose their last reader by the edit, and the nodes that only served them (Constant nodes,
// folded chains).
struct UnusedConstants {
  std::unordered_set<NodeId> nodes;      // of the base graph, besides those that the edit removes itself
  std::unordered_set<TensorId> tensors;  // constants that are gone: initializers, and what those nodes made
};
UnusedConstants find_unused_constants(const Graph& graph, const EditRecord& record);

}  // namespace halftone
