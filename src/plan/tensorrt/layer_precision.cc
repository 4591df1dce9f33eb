#include "plan/tensorrt/layer_precision.h"

#include <algorithm>
#include <string_view>

#include "plan/tensorrt/layer_names.h"
#include "plan/tensorrt/peer_names.h"
#include "plan/wording.h"

namespace halftone::tensorrt {
namespace {

constexpr LayerPrecision kEightBits = {8, -1, 0};
constexpr std::size_t kOuterShare = 8;  // 1/8 of a group at its start, and at its end
constexpr std::size_t kInnerStep = 3;

bool is_product(const GraphNode& node) { return is_op(node, "Gemm") || is_op(node, "MatMul"); }

bool has_rank_one(const GraphTensor& tensor) { return tensor.shape && tensor.shape->size() == 1; }

// "attn.qkv_proj" for "/model/layers.7/attn/qkv_proj/MatMul"; empty for a name of another form.
std::string sensitive_group(std::string_view name) {
  constexpr std::string_view kStart = "/model/layers.";
  if (!name.starts_with(kStart) || name.find("lm_head") != std::string_view::npos) return {};
  name.remove_prefix(kStart.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const std::string_view rest = name.substr(digits);
  constexpr std::string_view kEnd = "/MatMul";
  if (digits == 0 || !rest.ends_with(kEnd) || rest.size() <= kEnd.size()) return {};
  const std::string_view layer = rest.substr(1, rest.size() - 1 - kEnd.size());
  constexpr std::string_view kLayers[] = {"attn/qkv_proj", "attn/v_proj", "self_attn/qkv_proj",
                                          "self_attn/v_proj", "mlp/down_proj"};
  if (rest.front() != '/' || std::find(std::begin(kLayers), std::end(kLayers), layer) == std::end(kLayers))
    return {};
  std::string group(layer);
  std::replace(group.begin(), group.end(), '/', '.');
  return group;
}

void choose_from_group(const std::vector<std::string>& group, std::vector<std::string>& chosen) {
  const std::size_t outer = group.size() / kOuterShare;
  const std::size_t end_of_inner = group.size() - outer;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const bool inner = i >= outer && i < end_of_inner;
    if (!inner || (i - outer) % kInnerStep == 0) chosen.push_back(group[i]);
  }
}

std::vector<std::string> default_8bit_layers(const PolicyGraph& graph,
                                             const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const NodeId id : graph.nodes()) {
    if (!is_product(graph.graph().node(id))) continue;
    const std::string& name = names[static_cast<std::size_t>(id)];
    if (std::string group = sensitive_group(name); !group.empty()) groups[group].push_back(name);
  }
  std::vector<std::string> chosen;
  for (const auto& [group, members] : groups) choose_from_group(members, chosen);
  return chosen;
}

// kNone if the node has no weight that counts.
TensorId weight_of(const PolicyGraph& graph, const GraphNode& node) {
  if (!is_product(node) || node.inputs.size() < 2 || node.inputs[1] == kNone) return kNone;
  if (node.inputs[0] != kNone && graph.is_stored(node.inputs[0])) return kNone;
  const TensorId weight = node.inputs[1];
  return graph.is_stored(weight) && !has_rank_one(graph.graph().tensor(weight)) ? weight : kNone;
}

}  // namespace

Result<LayerPrecisions> get_layer_precision_mapping(const PolicyGraph& graph,
                                                    const std::optional<std::string>& layers_8bit,
                                                    const LayerPrecisionOptions& options) {
  const std::string wanted = layers_8bit.value_or("");
  if (!validate_8bit_layers(wanted)) {
    return Error{ErrorCode::kInvalidPolicy, "The list of 8-bit layers " + quoted(wanted) + " can't be read.",
                 "layers_8bit",
                 "Separate the layers by commas, and use letters, digits and / _ . - in their names."};
  }
  const std::vector<std::string> names = peer_node_names(graph);
  const std::vector<bool> excluded = expand_node_names_from_patterns(names, options.nodes_to_exclude);
  const LayerList eight_bits(wanted.empty() ? default_8bit_layers(graph, names) : split_8bit_layers(wanted));
  LayerPrecisions precisions;
  for (const NodeId id : graph.nodes()) {
    const TensorId weight = weight_of(graph, graph.graph().node(id));
    if (weight == kNone || excluded[static_cast<std::size_t>(id)]) continue;
    const bool eight = eight_bits.should_quantize_to_8bit(names[static_cast<std::size_t>(id)]);
    precisions.insert_or_assign(
        graph.graph().tensor(weight).name,
        eight ? kEightBits : LayerPrecision{4, options.block_size, options.quantize_axis});
  }
  return precisions;
}

Result<std::optional<LayerPrecisions>> get_layer_info(const PolicyGraph& graph,
                                                      const LayerInfoOptions& options) {
  std::optional<LayerPrecisions> info;
  if (options.enable_mixed_quant || !options.layers_8bit.empty()) {
    Result<LayerPrecisions> mapping = get_layer_precision_mapping(graph, options.layers_8bit, options);
    if (!mapping.ok()) return mapping.error();
    info = std::move(mapping).value();
  }
  if (!options.gather_quantize_axis) return info;
  if (!info) info.emplace();
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if (!is_op(node, "Gather") || node.inputs.empty() || node.inputs[0] == kNone) continue;
    info->insert_or_assign(graph.graph().tensor(node.inputs[0]).name,
                           LayerPrecision{4, options.gather_block_size, *options.gather_quantize_axis});
  }
  return info;
}

}  // namespace halftone::tensorrt
