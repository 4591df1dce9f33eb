#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "exchange/json_text.h"
#include "halftone/exchange.h"
#include "plan/targets.h"

namespace halftone {
namespace {

Json shape_json(const GraphTensor& tensor) {
  if (!tensor.shape) return nullptr;
  Json shape = Json::array();
  for (const Dimension& dimension : *tensor.shape) {
    if (dimension.value >= 0) {
      shape.push_back(dimension.value);
    } else if (!dimension.symbol.empty()) {
      shape.push_back(dimension.symbol);
    } else {
      shape.push_back(nullptr);
    }
  }
  return shape;
}

Json values_json(const Graph& graph, std::span<const TensorId> ids) {
  Json list = Json::array();
  for (const TensorId id : ids) {
    const GraphTensor& tensor = graph.tensor(id);
    list.push_back(
        Json{{"name", tensor.name}, {"type", data_type_name(tensor.type)}, {"shape", shape_json(tensor)}});
  }
  return list;
}

Json opsets_json(const ModelInfo& info) {
  Json opsets = Json::object();
  for (const auto& [domain, version] : info.opsets) opsets[domain == "ai.onnx" ? "" : domain] = version;
  return opsets;
}

// The most frequent first; equally frequent ones by name.
Json counts_json(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::pair<std::string, std::int64_t>> ordered(counts.begin(), counts.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Json json = Json::object();
  for (const auto& [name, count] : ordered) append_member(json, name, count);
  return json;
}

Json operators_json(const Graph& graph) {
  std::map<std::string, std::int64_t> counts;
  for (const GraphNode& node : graph.nodes())
    ++counts[node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type];
  return counts_json(counts);
}

// How many node inputs each rule decided.
Json rules_json(const std::vector<InputDecision>& inputs) {
  std::map<std::string, std::int64_t> counts;
  for (const InputDecision& input : inputs) ++counts[input.rule];
  return counts_json(counts);
}

// What each target would do by default. A model that a target refuses gets the reason as a warning instead.
Json targets_json(const Model& model, std::vector<Warning>& warnings) {
  Json json = Json::object();
  std::set<std::string> refusals;
  for (const TargetRules* rules : all_target_rules()) {
    PlanOptions options;
    options.target = rules->target;
    const Result<Plan> plan = make_plan(model, options);
    if (!plan.ok()) {
      if (!refusals.insert(plan.error().message).second) continue;
      warnings.push_back(
          Warning{std::string(error_code_name(plan.error().code)), plan.error().message, plan.error().where});
      continue;
    }
    const std::vector<Site>& sites = plan.value().sites;
    const auto quantized =
        std::count_if(sites.begin(), sites.end(), [](const Site& site) { return site.quantized; });
    json[std::string(rules->name)] = Json{{"sites", sites.size()},
                                          {"quantized", quantized},
                                          {"inputs_by_rule", rules_json(plan.value().inputs)}};
  }
  return json;
}

}  // namespace

std::string inspect_to_json(const Model& model, const FileFacts& file) {
  const ModelInfo& info = model.info();
  const Graph& graph = model.graph();
  std::vector<Warning> warnings(model.warnings().begin(), model.warnings().end());
  Json targets = targets_json(model, warnings);
  const std::string producer =
      info.producer_version.empty() ? info.producer_name : info.producer_name + " " + info.producer_version;
  return json_text(
      Json{{"model", Json{{"name", file.name},
                          {"sha256", file.sha256},
                          {"bytes", info.file_bytes},
                          {"ir_version", info.ir_version},
                          {"opset", opsets_json(info)},
                          {"producer", producer},
                          {"inputs", values_json(graph, graph.inputs())},
                          {"outputs", values_json(graph, graph.outputs())}}},
           {"nodes", graph.nodes().size()},
           {"operators", operators_json(graph)},
           {"parameters", Json{{"count", info.parameter_count}, {"bytes", info.parameter_bytes}}},
           {"quantized", Json{{"pairs", info.quantized_pairs}}},
           {"targets", std::move(targets)},
           {"warnings", warnings_json(warnings)}});
}

}  // namespace halftone
