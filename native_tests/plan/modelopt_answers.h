// ModelOpt's answers on the small golden graphs, in Halftone's terms.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "halftone/model.h"
#include "plan/tensorrt/peer_names.h"
#include "support/model_builder.h"

namespace halftone::test {

// (label of a node, input) that reads a DequantizeLinear.
using ReadPair = std::pair<std::string, std::int32_t>;

inline std::shared_ptr<const Model> golden_model(const std::string& name) {
  const std::vector<std::uint8_t> bytes = golden_file("graphs/" + name + ".onnx");
  Result<std::shared_ptr<const Model>> model = open_model(bytes);
  REQUIRE(model.ok());
  return model.value();
}

inline nlohmann::json modelopt_answer(const std::string& path) {
  const std::vector<std::uint8_t> bytes = golden_file(path);
  return nlohmann::json::parse(bytes.begin(), bytes.end());
}

inline bool has_answer(const std::string& path) {
  return std::filesystem::exists(std::filesystem::path(HALFTONE_GOLDEN_DIR) / path);
}

// ModelOpt names nameless nodes; here they are "@first_output".
inline std::map<std::string, std::string> labels_of_peer_names(const Graph& graph) {
  const std::vector<std::string> names =
      tensorrt::peer_node_names(tensorrt::PolicyGraph(graph, tensorrt::Peer::kReproduce));
  std::map<std::string, std::string> labels;
  for (NodeId id = 0; static_cast<std::size_t>(id) < names.size(); ++id)
    labels[names[static_cast<std::size_t>(id)]] = graph.node_label(id);
  return labels;
}

inline std::set<ReadPair> pairs_of_answer(const nlohmann::json& answer, const Graph& graph) {
  const std::map<std::string, std::string> labels = labels_of_peer_names(graph);
  std::set<ReadPair> pairs;
  for (const nlohmann::json& entry : answer.at("quantized_inputs"))
    pairs.emplace(labels.at(entry.at(0).get<std::string>()), entry.at(1).get<std::int32_t>());
  return pairs;
}

// The one graph with a symbolic dimension, its batch, was calibrated with samples of two.
inline std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes_of_samples(const Graph& graph) {
  constexpr std::int64_t kBatch = 2;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes;
  for (const GraphTensor& tensor : graph.tensors()) {
    if (!tensor.shape || tensor.shape->empty() || tensor.shape->front().symbol.empty()) continue;
    std::vector<std::int64_t> shape = {kBatch};
    for (std::size_t i = 1; i < tensor.shape->size(); ++i) shape.push_back((*tensor.shape)[i].value);
    shapes.emplace_back(tensor.name, shape);
  }
  return shapes;
}

inline std::string difference(const std::set<ReadPair>& ours, const std::set<ReadPair>& theirs) {
  std::string text;
  for (const ReadPair& pair : ours)
    if (!theirs.contains(pair)) text += " +" + pair.first + "[" + std::to_string(pair.second) + "]";
  for (const ReadPair& pair : theirs)
    if (!ours.contains(pair)) text += " -" + pair.first + "[" + std::to_string(pair.second) + "]";
  return text;
}

inline std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const nlohmann::json& entry : modelopt_answer("graphs/index.json"))
    names.push_back(entry.at("name").get<std::string>());
  return names;
}

}  // namespace halftone::test
