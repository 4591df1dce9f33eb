#include "model/unique_names.h"

#include <cstdint>

#include "model/extension_fields.h"
#include "model/graph_scopes.h"

namespace halftone {

UniqueNames::UniqueNames(const onnx::ModelProto& model) { take_all(model.graph()); }

// Recursion is bounded: graphs nested deeper than kMaxSubgraphDepth are refused at opening.
void UniqueNames::take_all(const onnx::GraphProto& graph) {
  for (const auto& info : graph.input()) taken_.insert(info.name());
  for (const auto& tensor : graph.initializer()) taken_.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) taken_.insert(tensor.values().name());
  for (const FieldReference& encoded : encoded_initializers(graph)) taken_.insert(encoded.name);
  for (const onnx::NodeProto& node : graph.node()) {
    taken_.insert(node.name());
    for (const std::string& output : node.output()) taken_.insert(output);
    for (const onnx::GraphProto* body : bodies(node)) take_all(*body);
  }
}

std::string UniqueNames::fresh(std::string_view wanted) {
  const std::string base(wanted.empty() ? std::string_view("tensor") : wanted);
  std::string name = base;
  for (std::uint64_t i = 1; is_taken(name); ++i) name = base + "_" + std::to_string(i);
  made_.insert(name);
  return name;
}

bool UniqueNames::take(std::string_view name) {
  std::string copy(name);
  if (is_taken(copy)) return false;
  made_.insert(std::move(copy));
  return true;
}

}  // namespace halftone
