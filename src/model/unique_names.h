// Names that are free in a whole model: subgraphs see the tensors around them, so a name that is new in the
// main graph must not be one of theirs either.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "model/onnx_messages.h"

namespace halftone {

class UniqueNames {
 public:
  // Takes the names of all tensors and nodes in the main graph and every subgraph. `model` must outlive this.
  explicit UniqueNames(const onnx::ModelProto& model);

  // `wanted` if free, else wanted_1, wanted_2, …; taken from now on. An empty wish gets "tensor".
  std::string fresh(std::string_view wanted);
  // Takes a name as it is; false if it is taken already.
  bool take(std::string_view name);

 private:
  void take_all(const onnx::GraphProto& graph);
  [[nodiscard]] bool is_taken(const std::string& name) const {
    return taken_.contains(name) || made_.contains(name);
  }

  std::unordered_set<std::string_view> taken_;  // views into the model
  std::unordered_set<std::string> made_;
};

}  // namespace halftone
