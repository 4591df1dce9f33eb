#include "sensitivity/mixed_precision/neighbours.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "plan/bias_rule.h"
#include "plan/wording.h"
#include "sensitivity/mixed_precision/operand_precision.h"
#include "sensitivity/mixed_precision/shape_book.h"

namespace halftone {
namespace {

constexpr std::size_t kNamed = 5;

enum class Trouble : std::uint8_t { kNone, kHalfFloat, kWideWeight, kRunsInFloat };

std::string_view half_float(Target target) {
  if (target == Target::kAimet) {
    return "would read one operand as float and the other as integers, which HTP rejects (a FLOAT_16 x "
           "UFIXED_8 MatMul, for one): flip both operands to float";
  }
  if (target == Target::kTensorRT) {
    return "would read one operand as float and the other as integers, which TensorRT runs in float or "
           "rejects: flip both operands to float";
  }
  return "would read quantized data and float weights, of which onnxruntime's default optimizations quantize "
         "the weights or the bias by themselves: flip both operands to float, or the weights to 16 bits";
}

std::string_view words(Trouble trouble, Target target) {
  if (trouble == Trouble::kHalfFloat) return half_float(target);
  if (trouble == Trouble::kWideWeight) {
    return "would read weights of more bits than their activations, which HTP rejects; 16-bit activations "
           "with 8-bit weights are fine";
  }
  return "would run in float between its pairs: onnxruntime has integer kernels only where both operands "
         "have 8 bits";
}

// How a target takes a node's two operands.
Trouble trouble_of(const GraphNode& node, Target target, Operand data, Operand weight) {
  if (!data.quantized && !weight.quantized) return Trouble::kNone;
  if (target == Target::kOnnxRuntime) {
    // Seen in 1.30: WeightBiasQuantization, which looks at operators with a bias.
    if (data.quantized && !weight.quantized && has_bias_input(node)) return Trouble::kHalfFloat;
    return data.bits != 8 || weight.bits != 8 ? Trouble::kRunsInFloat : Trouble::kNone;
  }
  if (data.quantized != weight.quantized) return Trouble::kHalfFloat;
  return target == Target::kAimet && weight.bits > data.bits ? Trouble::kWideWeight : Trouble::kNone;
}

std::string names_of(const Graph& graph, std::span<const NodeId> nodes) {
  std::string names;
  for (std::size_t i = 0; i < nodes.size() && i < kNamed; ++i)
    names += (i > 0 ? ", " : "") + node_phrase(graph, nodes[i]);
  if (nodes.size() > kNamed) names += " and " + std::to_string(nodes.size() - kNamed) + " more";
  return names;
}

}  // namespace

void warn_of_neighbours(const Graph& graph, const Plan& before, const Plan& after,
                        std::vector<Warning>& warnings) {
  OperandPrecision old_operands(graph, before);
  OperandPrecision operands(graph, after);
  const auto trouble_in = [&](NodeId id, OperandPrecision& precision) {
    return trouble_of(graph.node(id), after.target, precision.of(id, 0), precision.of(id, 1));
  };
  std::map<Trouble, std::vector<NodeId>> found;
  for (const NodeId id : graph.topological_order()) {
    if (!multiplies(graph.node(id))) continue;
    const Trouble trouble = trouble_in(id, operands);
    if (trouble != Trouble::kNone && trouble != trouble_in(id, old_operands)) found[trouble].push_back(id);
  }
  for (const auto& [trouble, nodes] : found) {
    warnings.push_back({trouble == Trouble::kRunsInFloat ? "no_fused_kernel" : "mixed_operands",
                        names_of(graph, nodes) + " " + std::string(words(trouble, after.target)) + ".",
                        printable(graph.node_label(nodes.front()))});
  }
}

}  // namespace halftone
