#include "plan/tensorrt/policy_case.h"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <utility>

#include "plan/tensorrt/off_limits.h"
#include "plan/tensorrt/residual.h"

namespace halftone::test {
namespace {

constexpr float kWeightValue = 0.5F;

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \n") + 1 - begin));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    if (std::string part = trimmed(text.substr(0, end)); !part.empty()) parts.push_back(std::move(part));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<float> weight_values(const Dims& dims) {
  return std::vector<float>(static_cast<std::size_t>(element_count(dims).value()), kWeightValue);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<bool> flags_of(const Graph& graph, const std::vector<std::string>& labels) {
  std::vector<bool> flags(graph.nodes().size(), false);
  for (const std::string& label : labels) {
    const NodeId id = graph.find_node(label);
    INFO(label);
    REQUIRE(id != kNone);
    flags[static_cast<std::size_t>(id)] = true;
  }
  return flags;
}

}  // namespace

PolicyCase& PolicyCase::input(std::string_view name, const Dims& dims) {
  declared_.emplace(name);
  builder_.input(name, dims);
  return *this;
}

PolicyCase& PolicyCase::weight(std::string_view name, const Dims& dims) {
  declared_.emplace(name);
  builder_.floats(name, dims, weight_values(dims));
  return *this;
}

PolicyCase& PolicyCase::constant_node(std::string_view name, const Dims& dims) {
  declared_.emplace(name);
  builder_.constant_node(name, dims, weight_values(dims));
  return *this;
}

PolicyCase& PolicyCase::integers(std::string_view name, const std::vector<std::int64_t>& values) {
  declared_.emplace(name);
  std::string raw(values.size() * sizeof(std::int64_t), '\0');
  if (!raw.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  builder_.tensor(name, DataType::kInt64, {static_cast<std::int64_t>(values.size())}, raw);
  return *this;
}

PolicyCase& PolicyCase::node(std::string_view line, const Attributes& attributes, std::string_view domain) {
  const std::size_t equals = line.find('=');
  const std::size_t open = line.find('(');
  const std::size_t close = line.find(')');
  const std::size_t hash = line.find('#');
  INFO(line);
  REQUIRE((equals < open && open < close && close != std::string_view::npos));
  std::vector<std::string> inputs = split(line.substr(open + 1, close - open - 1), ',');
  for (std::string& name : inputs) {
    if (name == "_") name.clear();
    if (name.starts_with('w') && !declared_.contains(name)) weight(name, {32, 32, 1, 1});
  }
  const std::vector<std::string> outputs = split(line.substr(0, equals), ',');
  declared_.insert(outputs.begin(), outputs.end());
  builder_.node(trimmed(line.substr(equals + 1, open - equals - 1)), inputs, outputs,
                hash == std::string_view::npos ? "" : trimmed(line.substr(hash + 1)), attributes, domain);
  return *this;
}

PolicyCase& PolicyCase::nodes(std::string_view lines) {
  for (const std::string& line : split(lines, ';')) node(line);
  return *this;
}

PolicyCase& PolicyCase::output(std::string_view name) {
  builder_.untyped_output(name);
  return *this;
}

Placed::Placed(std::shared_ptr<const Model> model, const PlacedOptions& options)
    : model_(std::move(model)),
      view_(model_->graph(), options.peer),
      policy_(tensorrt::apply_policy(view_, tensorrt::TensorShapes(model_->graph(), {}), options.policy,
                                     flags_of(model_->graph(), options.excluded))) {}

std::string Placed::reads(std::string_view label) const {
  const NodeId id = node(label);
  const std::vector<TensorId>& inputs = graph().node(id).inputs;
  std::vector<std::string> words;
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    if (inputs[input] == kNone) {
      words.emplace_back("-");
      continue;
    }
    const std::string& name = graph().tensor(inputs[input]).name;
    const bool quantized = policy_.marks.quantized(graph(), {id, static_cast<std::int32_t>(input)});
    words.push_back(quantized ? "DQ(" + name + ")" : name);
  }
  return joined(words);
}

Lines Placed::reads() const {
  Lines lines;
  for (const NodeId id : view_.nodes()) {
    const std::string label = graph().node_label(id);
    lines.push_back(label + ": " + reads(label));
  }
  return lines;
}

std::string Placed::selected() const {
  std::vector<std::string> labels;
  for (const NodeId id : view_.nodes()) {
    if (policy_.choice.selected[static_cast<std::size_t>(id)]) labels.push_back(graph().node_label(id));
  }
  return joined(labels);
}

std::string Placed::exclusions() const {
  std::vector<std::string> words;
  for (const tensorrt::Exclusion& exclusion : policy_.exclusions)
    words.push_back(graph().node_label(exclusion.node) + ":" + exclusion.rule);
  return joined(words);
}

std::string Placed::scale_groups() const {
  std::vector<std::string> groups;
  for (std::int32_t group = 0;; ++group) {
    std::set<std::string> names;
    for (TensorId id = 0; static_cast<std::size_t>(id) < policy_.scale_group.size(); ++id) {
      if (policy_.scale_group[static_cast<std::size_t>(id)] == group) names.insert(graph().tensor(id).name);
    }
    if (names.empty()) return joined(groups);
    groups.push_back("{" + joined({names.begin(), names.end()}) + "}");
  }
}

NodeId Placed::node(std::string_view label) const {
  const NodeId id = graph().find_node(label);
  INFO(label);
  REQUIRE(id != kNone);
  return id;
}

TensorId Placed::tensor(std::string_view name) const {
  const TensorId id = graph().find_tensor(name);
  INFO(name);
  REQUIRE(id != kNone);
  return id;
}

std::string node_text(const Graph& graph, std::span<const NodeId> nodes) {
  std::vector<std::string> labels;
  for (const NodeId id : nodes) labels.push_back(graph.node_label(id));
  return joined(labels);
}

std::string partition_text(const Graph& graph, const tensorrt::PartitionList& partitions) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < partitions.size(); ++i)
    texts.push_back("[" + node_text(graph, partitions[i]) + "]");
  return joined(texts);
}

std::string edge_text(const Graph& graph, const std::vector<tensorrt::RawEdge>& edges) {
  std::vector<std::string> texts;
  for (const tensorrt::RawEdge& edge : edges)
    texts.push_back(graph.node_label(edge.producer) + ">" + graph.node_label(edge.consumer) + ":" +
                    graph.tensor(edge.tensor).name);
  return joined(texts);
}

tensorrt::Partitions partitions_of(const tensorrt::PolicyGraph& graph) {
  tensorrt::FusibleBackbone backbone(graph);
  const tensorrt::NonResidualInputs non_residual = build_non_residual_input_map(graph, backbone);
  std::vector<bool> partitioned(graph.graph().nodes().size(), false);
  const tensorrt::OffLimits off = find_off_limits(graph);
  for (const std::vector<NodeId>* nodes : {&off.gelu, &off.layer_norm, &off.attention}) {
    for (const NodeId id : *nodes) partitioned[static_cast<std::size_t>(id)] = true;
  }
  return find_fusible_partitions(graph, partitioned, non_residual, backbone);
}

}  // namespace halftone::test
