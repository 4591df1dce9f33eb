// Placement against ModelOpt's own answers on the small golden graphs: the set of (node, input) pairs that
// read a DequantizeLinear has to be the peer's, exactly.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "halftone/model.h"
#include "plan/tensorrt/peer_names.h"
#include "plan/tensorrt/policy.h"
#include "support/model_builder.h"

namespace halftone {
namespace {

using Pair = std::pair<std::string, std::int32_t>;
using tensorrt::Peer;

std::shared_ptr<const Model> golden_model(const std::string& name) {
  const std::vector<std::uint8_t> bytes = test::golden_file("graphs/" + name + ".onnx");
  Result<std::shared_ptr<const Model>> model = open_model(bytes);
  REQUIRE(model.ok());
  return model.value();
}

// ModelOpt names nameless nodes; here they are "@first_output".
std::map<std::string, std::string> labels_of_peer_names(const Graph& graph) {
  const std::vector<std::string> names =
      tensorrt::peer_node_names(tensorrt::PolicyGraph(graph, Peer::kReproduce));
  std::map<std::string, std::string> labels;
  for (NodeId id = 0; static_cast<std::size_t>(id) < names.size(); ++id)
    labels[names[static_cast<std::size_t>(id)]] = graph.node_label(id);
  return labels;
}

std::set<Pair> peer_pairs(const std::string& path, const Graph& graph) {
  const std::map<std::string, std::string> labels = labels_of_peer_names(graph);
  const std::vector<std::uint8_t> bytes = test::golden_file(path);
  const nlohmann::json answer = nlohmann::json::parse(bytes.begin(), bytes.end());
  std::set<Pair> pairs;
  for (const nlohmann::json& entry : answer.at("quantized_inputs"))
    pairs.emplace(labels.at(entry.at(0).get<std::string>()), entry.at(1).get<std::int32_t>());
  return pairs;
}

// The one graph with a symbolic dimension, its batch, was calibrated with samples of two.
std::vector<std::pair<std::string, tensorrt::Shape>> shapes_of_samples(const Graph& graph) {
  constexpr std::int64_t kBatch = 2;
  std::vector<std::pair<std::string, tensorrt::Shape>> shapes;
  for (const GraphTensor& tensor : graph.tensors()) {
    if (!tensor.shape || tensor.shape->empty() || tensor.shape->front().symbol.empty()) continue;
    tensorrt::Shape shape = {kBatch};
    for (std::size_t i = 1; i < tensor.shape->size(); ++i) shape.push_back((*tensor.shape)[i].value);
    shapes.emplace_back(tensor.name, shape);
  }
  return shapes;
}

std::set<Pair> our_pairs(const Model& model, Peer peer, tensorrt::Precision precision) {
  const Graph& graph = model.graph();
  const tensorrt::PolicyGraph view(graph, peer);
  const tensorrt::TensorShapes shapes(graph, shapes_of_samples(graph));
  tensorrt::PolicyOptions options;
  options.precision = precision;
  const tensorrt::Policy policy =
      tensorrt::apply_policy(view, shapes, options, std::vector<bool>(graph.nodes().size(), false));
  std::set<Pair> pairs;
  for (const NodeId id : view.nodes()) {
    for (std::int32_t input = 0; static_cast<std::size_t>(input) < graph.node(id).inputs.size(); ++input) {
      if (policy.marks.quantized(graph, {id, input})) pairs.emplace(graph.node_label(id), input);
    }
  }
  return pairs;
}

std::string difference(const std::set<Pair>& ours, const std::set<Pair>& theirs) {
  std::string text;
  for (const Pair& pair : ours)
    if (!theirs.contains(pair)) text += " +" + pair.first + "[" + std::to_string(pair.second) + "]";
  for (const Pair& pair : theirs)
    if (!ours.contains(pair)) text += " -" + pair.first + "[" + std::to_string(pair.second) + "]";
  return text;
}

std::vector<std::string> golden_names() {
  const std::vector<std::uint8_t> bytes = test::golden_file("graphs/index.json");
  const nlohmann::json index = nlohmann::json::parse(bytes.begin(), bytes.end());
  std::vector<std::string> names;
  for (const nlohmann::json& entry : index) names.push_back(entry.at("name").get<std::string>());
  return names;
}

bool has_answer(const std::string& path) {
  return std::filesystem::exists(std::filesystem::path(HALFTONE_GOLDEN_DIR) / path);
}

TEST_CASE("TensorRT placement with the peer's faults equals ModelOpt's on every golden graph",
          "[plan][tensorrt][golden]") {
  std::size_t graphs = 0;
  std::size_t pairs = 0;
  for (const std::string& name : golden_names()) {
    const std::shared_ptr<const Model> model = golden_model(name);
    for (const auto& [job, precision] :
         {std::pair{"int8_max", tensorrt::Precision::kInt8}, {"fp8_max", tensorrt::Precision::kFloat8}}) {
      const std::string path = "modelopt/" + name + "/" + job + ".json";
      if (!has_answer(path)) continue;
      INFO(path);
      const std::set<Pair> theirs = peer_pairs(path, model->graph());
      const std::set<Pair> ours = our_pairs(*model, Peer::kReproduce, precision);
      INFO("ours + theirs -:" << difference(ours, theirs));
      CHECK(ours == theirs);
      ++graphs;
      pairs += theirs.size();
    }
  }
  std::printf("ModelOpt placement: %zu answers, %zu (node, input) pairs compared\n", graphs, pairs);
  CHECK(graphs >= 35);
}

TEST_CASE("By default only g57 differs from ModelOpt, by the names that it reads as patterns",
          "[plan][tensorrt][golden]") {
  for (const std::string& name : golden_names()) {
    const std::shared_ptr<const Model> model = golden_model(name);
    const std::string hoisted = "modelopt/" + name + "/int8_max_hoisted.json";
    const std::string path = has_answer(hoisted) ? hoisted : "modelopt/" + name + "/int8_max.json";
    INFO(path);
    const std::set<Pair> theirs = peer_pairs(path, model->graph());
    const std::set<Pair> ours = our_pairs(*model, Peer::kCorrect, tensorrt::Precision::kInt8);
    INFO("ours + theirs -:" << difference(ours, theirs));
    if (name == "g57_gemv") {
      CHECK(ours.size() == theirs.size() + 2);
      CHECK(std::includes(ours.begin(), ours.end(), theirs.begin(), theirs.end()));
    } else {
      CHECK(ours == theirs);
    }
  }
}

}  // namespace
}  // namespace halftone
