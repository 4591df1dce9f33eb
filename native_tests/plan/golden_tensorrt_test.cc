// Target tensorrt against ModelOpt's own answers on the small golden graphs, from options to the rewritten
// model: which node inputs read a DequantizeLinear, the names and wiring of all pairs, outputs that come out
// of one, and the scales. Weight scales have to be bit-equal. Activation scales are checked where a golden
// has the range (to the last bit, since the arithmetic is all that is left); elsewhere the peer's are taken
// over.
#include <algorithm>
#include <cstdio>

#include "halftone/rewrite.h"
#include "plan/modelopt_answers.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

using Json = nlohmann::json;

struct Tally {
  int answers = 0;
  std::size_t pairs = 0;
  int weights = 0;  // tensors
  int weight_scales = 0;
  int activations = 0;  // scales made from a golden range
};

PlanOptions matching_options(const Graph& graph, NumberFormat format) {
  PlanOptions options;
  options.target = Target::kTensorRT;
  options.match = "modelopt";
  options.activations = format;
  options.sample_shapes = shapes_of_samples(graph);
  return options;
}

std::set<ReadPair> planned_pairs(const Plan& plan) {
  std::set<ReadPair> pairs;
  for (const InputDecision& input : plan.inputs) {
    CHECK_FALSE(input.rule.empty());
    CHECK(input.why.ends_with("."));
    if (input.quantized) pairs.emplace(input.node, input.input);
  }
  return pairs;
}

bool is_made_by(const Graph& graph, TensorId tensor, std::string_view op) {
  if (tensor == kNone || graph.tensor(tensor).producer == kNone) return false;
  return graph.node(graph.tensor(tensor).producer).op_type == op;
}

// The label that a node had before the output that it makes was renamed.
std::string label_before(const Graph& graph, NodeId id) {
  std::string label = graph.node_label(id);
  const std::string renamed = "_QuantizeLinear_Input";
  if (label.starts_with('@') && label.ends_with(renamed)) label.resize(label.size() - renamed.size());
  return label;
}

std::set<ReadPair> pairs_in(const Model& model) {
  const Graph& graph = model.graph();
  std::set<ReadPair> pairs;
  for (NodeId id = 0; static_cast<std::size_t>(id) < graph.nodes().size(); ++id) {
    const std::vector<TensorId>& inputs = graph.node(id).inputs;
    for (std::int32_t input = 0; static_cast<std::size_t>(input) < inputs.size(); ++input) {
      if (is_made_by(graph, inputs[static_cast<std::size_t>(input)], "DequantizeLinear"))
        pairs.emplace(label_before(graph, id), input);
    }
  }
  return pairs;
}

std::set<std::string> outputs_from_pairs(const Model& model) {
  std::set<std::string> names;
  for (const TensorId output : model.graph().outputs()) {
    if (is_made_by(model.graph(), output, "DequantizeLinear"))
      names.insert(model.graph().tensor(output).name);
  }
  return names;
}

std::vector<float> scales_of(const Json& answer, const std::string& tensor) {
  const Json& scales = answer.at("scales");
  if (!scales.contains(tensor)) return {};
  const Json& scale = scales.at(tensor);
  return scale.is_array() ? scale.get<std::vector<float>>() : std::vector<float>{scale.get<float>()};
}

Encodings peer_encodings(const Plan& plan, const Json& answer) {
  Encodings encodings;
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    INFO(site.tensor);
    Encoding encoding;
    encoding.format = site.format;
    encoding.scale = scales_of(answer, site.tensor);
    REQUIRE(encoding.scale.size() == 1);
    encoding.zero_point = {0};
    encodings.set(site.tensor, encoding);
  }
  return encodings;
}

// The peer's name of a constant that it copied for its first reader.
std::string peer_name(const Json& answer, const std::string& tensor) {
  for (const auto& [copy, original] : answer.at("duplicated_initializers").items()) {
    if (original == tensor) return copy;
  }
  return tensor;
}

void compare_weights(const Plan& plan, const Encodings& encodings, const Json& answer, Tally& tally) {
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kWeight) continue;
    INFO(site.tensor << " " << site.why);
    const Encoding* encoding = encodings.find(site.tensor);
    REQUIRE(encoding != nullptr);
    CHECK(encoding->scale == scales_of(answer, peer_name(answer, site.tensor)));
    ++tally.weights;
    tally.weight_scales += static_cast<int>(encoding->scale.size());
  }
}

// [name, op, inputs, outputs, axis], as the goldens list them.
Json pair_nodes(const Model& model) {
  const Graph& graph = model.graph();
  std::set<Json> nodes;
  for (NodeId id = 0; static_cast<std::size_t>(id) < graph.nodes().size(); ++id) {
    const GraphNode& node = graph.node(id);
    if (node.op_type != "QuantizeLinear" && node.op_type != "DequantizeLinear") continue;
    Json json = Json::array({node.name, node.op_type, Json::array(), Json::array()});
    for (const TensorId input : node.inputs) json[2].push_back(graph.tensor(input).name);
    for (const TensorId output : node.outputs) json[3].push_back(graph.tensor(output).name);
    if (const AttributeView* axis = graph.attribute(id, "axis"); axis != nullptr)
      json.push_back(Json{{"axis", axis->i.value_or(-1)}});
    nodes.insert(json);
  }
  return Json(std::vector<Json>(nodes.begin(), nodes.end()));
}

Json sorted(const Json& list) {
  std::vector<Json> items(list.begin(), list.end());
  std::sort(items.begin(), items.end());
  return Json(items);
}

std::shared_ptr<const Model> rewritten(const std::shared_ptr<const Model>& model, const Plan& plan,
                                       const Encodings& encodings) {
  const Result<QuantizedModel> quantized = insert_qdq(model, plan, encodings, {"minmax", 4, false});
  INFO((quantized.ok() ? "" : quantized.error().message));
  REQUIRE(quantized.ok());
  return quantized.value().model;
}

void compare(const std::string& name, const std::string& job, NumberFormat format, Tally& tally) {
  const std::string path = "modelopt/" + name + "/" + job + ".json";
  if (!has_answer(path)) return;
  INFO(path);
  const Json answer = modelopt_answer(path);
  const std::shared_ptr<const Model> model = golden_model(name);
  const std::set<ReadPair> theirs = pairs_of_answer(answer, model->graph());
  Plan plan = plan_of(*model, matching_options(model->graph(), format));
  INFO("planned, ours + theirs -:" << difference(planned_pairs(plan), theirs));
  CHECK(planned_pairs(plan) == theirs);

  Encodings encodings = peer_encodings(plan, answer);
  const Result<void> completed = complete_encodings(*model, plan, encodings);
  INFO((completed.ok() ? "" : completed.error().message));
  REQUIRE(completed.ok());
  compare_weights(plan, encodings, answer, tally);

  std::set<std::string> served;
  for (const Json& entry : answer.at("graph_outputs_from_dq")) served.insert(entry.at(0).get<std::string>());
  for (const bool float_weights : {false, true}) {
    plan.options.float_weights = float_weights;
    const std::shared_ptr<const Model> quantized = rewritten(model, plan, encodings);
    INFO("rewritten, ours + theirs -:" << difference(pairs_in(*quantized), theirs));
    CHECK(pairs_in(*quantized) == theirs);
    CHECK(outputs_from_pairs(*quantized) == served);
    // The peer's form of weights. Its copies of shared weights have names of their own.
    const bool copies = std::any_of(plan.sites.begin(), plan.sites.end(), [&](const Site& site) {
      return site.quantized && peer_name(answer, site.tensor) != site.tensor;
    });
    if (float_weights && !copies) CHECK(pair_nodes(*quantized) == sorted(answer.at("qdq_nodes")));
  }
  ++tally.answers;
  tally.pairs += theirs.size();
}

}  // namespace

TEST_CASE("Plans and models that match ModelOpt equal its answers on every golden graph",
          "[plan][tensorrt][golden]") {
  Tally tally;
  for (const std::string& name : golden_names()) {
    compare(name, "int8_max", NumberFormat::kInt8, tally);
    compare(name, "fp8_max", NumberFormat::kFloat8E4M3Fn, tally);
  }
  std::printf("ModelOpt models: %d answers, %zu (node, input) pairs, %d weights with %d scales compared\n",
              tally.answers, tally.pairs, tally.weights, tally.weight_scales);
  // Exactly what the goldens hold, so that nothing drops out of the comparison unseen.
  CHECK(tally.answers == 35);
  CHECK(tally.pairs == 275);
}

TEST_CASE("Activation scales follow from ranges as ModelOpt's do", "[plan][tensorrt][golden]") {
  int compared = 0;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Json& entry : modelopt_answer("ranges_onnxruntime.json")) {
    const auto graph = entry.at("graph").get<std::string>();
    const auto tensor = entry.at("tensor").get<std::string>();
    if (!seen.emplace(graph, tensor).second) continue;
    const std::shared_ptr<const Model> model = golden_model(graph);
    const Plan plan = plan_of(*model, matching_options(model->graph(), NumberFormat::kInt8));
    const Site* site = plan.find(tensor);
    if (site == nullptr || !site->quantized) continue;
    INFO(graph << " " << tensor);
    const Result<Encoding> encoding = activation_encoding(
        *site, {entry.at("min").get<float>(), entry.at("max").get<float>()}, float8_scale_of(plan));
    REQUIRE(encoding.ok());
    CHECK(encoding.value().scale ==
          scales_of(modelopt_answer("modelopt/" + graph + "/int8_max.json"), tensor));
    ++compared;
  }
  CHECK(compared == 9);
}

}  // namespace halftone::test
