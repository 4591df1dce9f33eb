// Placement against ModelOpt's own answers on the small golden graphs: the set of (node, input) pairs that
// read a DequantizeLinear has to be the peer's, exactly.
#include <algorithm>
#include <cstdio>

#include "plan/modelopt_answers.h"
#include "plan/tensorrt/policy.h"

namespace halftone {
namespace {

using tensorrt::Peer;
using test::difference;
using test::golden_model;
using test::golden_names;
using test::has_answer;
using test::modelopt_answer;
using test::pairs_of_answer;
using test::shapes_of_samples;
using Pair = test::ReadPair;

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
      const std::set<Pair> theirs = pairs_of_answer(modelopt_answer(path), model->graph());
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
    const std::set<Pair> theirs = pairs_of_answer(modelopt_answer(path), model->graph());
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
