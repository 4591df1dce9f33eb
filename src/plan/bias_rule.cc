#include "plan/bias_rule.h"

#include <cstdio>
#include <string>
#include <utility>

#include "plan/wording.h"

namespace halftone {
namespace {

std::optional<std::int64_t> known_dimension(const GraphTensor& tensor, std::size_t axis) {
  if (!tensor.shape || axis >= tensor.shape->size()) return std::nullopt;
  const std::int64_t value = (*tensor.shape)[axis].value;
  return value >= 0 ? std::optional<std::int64_t>(value) : std::nullopt;
}

std::optional<std::int64_t> output_channels(const Graph& graph, NodeId id) {
  const GraphNode& node = graph.node(id);
  const GraphTensor& weight = graph.tensor(node.inputs[1]);
  if (node.op_type == "Conv") return known_dimension(weight, 0);
  if (node.op_type == "Gemm")
    return known_dimension(weight, graph.int_attribute(id, "transB", 0) != 0 ? 0 : 1);
  const std::optional<std::int64_t> per_group = known_dimension(weight, 1);
  const std::int64_t group = graph.int_attribute(id, "group", 1);
  if (!per_group || group < 1 || *per_group > (std::int64_t{1} << 40) || group > (std::int64_t{1} << 20))
    return std::nullopt;
  return *per_group * group;
}

std::string shape_text(const GraphTensor& tensor) {
  if (!tensor.shape) return "unknown";
  std::string text = "[";
  for (std::size_t axis = 0; axis < tensor.shape->size(); ++axis) {
    const Dimension& dimension = (*tensor.shape)[axis];
    text +=
        (axis > 0 ? ", " : "") + (dimension.value >= 0 ? std::to_string(dimension.value) : std::string("?"));
  }
  return text + "]";
}

std::string number_text(float value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", static_cast<double>(value));
  return text;
}

}  // namespace

bool has_bias_input(const GraphNode& node) {
  return node.op_type == "Conv" || node.op_type == "ConvTranspose" || node.op_type == "Gemm";
}

std::optional<LeftOut> bias_left_out(const Graph& graph, NodeId id, bool operands_quantized) {
  const GraphNode& node = graph.node(id);
  const GraphTensor& bias = graph.tensor(node.inputs[kBiasInput]);
  const std::string subject = "Bias of " + node_phrase(graph, id) + ": stays float because ";
  if (!bias.constant)
    return LeftOut{"bias_not_constant", subject + "it is computed; a constant would be stored as int32."};
  if (bias.type != DataType::kFloat) {
    return LeftOut{"bias_not_float", subject + "it holds " + data_type_name(bias.type) +
                                         " values; only float32 becomes int32."};
  }
  if (!operands_quantized) {
    return LeftOut{
        "bias_needs_both_scales",
        subject + "int32 needs the scales of the node's other two inputs, and not both are quantized."};
  }
  const float alpha = graph.float_attribute(id, "alpha", 1.0F);
  const float beta = graph.float_attribute(id, "beta", 1.0F);
  if (node.op_type == "Gemm" && (alpha != 1.0F || beta != 1.0F)) {
    return LeftOut{"bias_gemm_factors", subject + "alpha is " + number_text(alpha) + " and beta " +
                                            number_text(beta) + "; with 1 and 1 it would be int32."};
  }
  const std::optional<std::int64_t> channels = output_channels(graph, id);
  if (!channels) {
    return LeftOut{"bias_channels_unknown",
                   subject +
                       "the number of output channels isn't known; with a known weight shape it "
                       "would be int32."};
  }
  if (!bias.shape || bias.shape->size() != 1 || (*bias.shape)[0].value != *channels) {
    return LeftOut{"bias_shape", subject + "its shape is " + shape_text(bias) + "; with [" +
                                     std::to_string(*channels) +
                                     "], one value per output channel, it would be int32."};
  }
  return std::nullopt;
}

}  // namespace halftone
