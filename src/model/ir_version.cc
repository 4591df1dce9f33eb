#include "model/ir_version.h"

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "model/graph_scopes.h"

namespace halftone {
namespace {

// Recursion is bounded by kMaxSubgraphDepth.
int free_initializers(onnx::GraphProto& graph) {
  int freed = 0;
  std::unordered_set<std::string_view> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) initializers.insert(tensor.values().name());
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> kept;
  for (auto& input : *graph.mutable_input()) {
    if (initializers.contains(input.name())) {
      ++freed;
    } else {
      *kept.Add() = std::move(input);
    }
  }
  graph.mutable_input()->Swap(&kept);
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) freed += free_initializers(*attribute.mutable_g());
      for (auto& body : *attribute.mutable_graphs()) freed += free_initializers(body);
    }
  }
  return freed;
}

}  // namespace

std::int64_t ir_version_of(DataType type) {
  switch (type) {
    case DataType::kFloat8E4M3FN:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FNUZ:
      return 9;
    case DataType::kUint4:
    case DataType::kInt4:
      return 10;
    case DataType::kFloat4E2M1:
      return 11;
    case DataType::kFloat8E8M0:
      return 12;
    case DataType::kUint2:
    case DataType::kInt2:
      return 13;
    default:
      return 1;
  }
}

std::optional<Warning> raise_ir_version(onnx::ModelProto& model, std::int64_t needed) {
  const std::int64_t before = model.ir_version();
  if (before >= needed) return std::nullopt;
  model.set_ir_version(needed);
  std::string message = "The IR version was raised from " + std::to_string(before) + " to " +
                        std::to_string(needed) + ", which the new tensors need";
  if (before < kIrWithFreeInitializers && needed >= kIrWithFreeInitializers) {
    const int freed = free_initializers(*model.mutable_graph());
    if (freed > 0) message += "; " + std::to_string(freed) + " initializers are no longer listed as inputs";
  }
  return Warning{"ir_version_raised", message + ".", ""};
}

}  // namespace halftone
