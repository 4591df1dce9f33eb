#include "plan/tensorrt/reasons.h"

#include "plan/bias_rule.h"
#include "plan/wording.h"

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

struct Words {
  const char* rule;
  const char* why;  // follows the node's name
};

Words words_of_chosen(Standing standing) {
  switch (standing) {
    case Standing::kPartitionHead:
      return {"partition_head",
              "starts a group that TensorRT fuses into one kernel, which reads its input quantized."};
    case Standing::kPartitionEdge:
      return {"partition_edge",
              "ends a fused group and reads a second branch from outside, which TensorRT takes quantized."};
    case Standing::kKgenHead:
      return {"pointwise_head", "starts a chain of pointwise operators behind a quantized group."};
    case Standing::kLayerNormBehindConv:
      return {"layer_norm_behind_conv",
              "normalizes what a fused group makes, and TensorRT reads that quantized."};
    case Standing::kPoolingNextToQuantized:
      return {"pooling_next_to_quantized", "pools next to a quantized operator."};
    case Standing::kListed:
      return {"listed", "is one of the nodes that were asked for, which replaces the policy."};
    default:
      return {"leftover", "is quantizable and belongs to no fused group."};
  }
}

Words words_of_left(Standing standing) {
  switch (standing) {
    case Standing::kInsidePartition:
      return {"inside_partition",
              "is fused behind the head of its group and reads that kernel's own result; it would have to "
              "start a group to be quantized."};
    case Standing::kPointwiseChain:
      return {"pointwise_chain",
              "belongs to a chain of pointwise operators that TensorRT runs in floating point; it would have "
              "to be the first of the chain, behind a quantized group, without a constant input."};
    case Standing::kOffLimits:
      return {"off_limits",
              "is part of a LayerNorm, GELU or attention pattern, for which TensorRT has a kernel of its "
              "own; another operator in the middle of the pattern would break that."};
    case Standing::kOutputLayer:
      return {"output_layer",
              "makes an output of the model and is no Conv, Gemm or MatMul; an operator behind it would "
              "change that."};
    case Standing::kPoolingApart:
      return {"pooling_apart",
              "pools with nothing quantized next to it; a quantized operator in front of it or behind it "
              "would change that."};
    case Standing::kConstantOperand:
      return {"constant_operand",
              "combines a tensor with a constant outside all fused groups; both inputs would have to vary."};
    case Standing::kNotListed:
      return {"not_included",
              "is matched by no include pattern; one that matches it would quantize its inputs."};
    default:
      return {"operator_not_quantizable",
              "is an operator that TensorRT doesn't run on quantized data here; an include pattern op: with "
              "its type would quantize its inputs."};
  }
}

}  // namespace

Reasons::Reasons(const PolicyGraph& graph, const Policy& policy, const PlanContext& context)
    : graph_(graph),
      policy_(policy),
      patterns_(context.selection),
      float8_(context.formats.activations == NumberFormat::kFloat8E4M3Fn),
      exclusion_of_(graph.graph().nodes().size(), -1) {
  for (std::size_t i = 0; i < policy.exclusions.size(); ++i) {
    std::int32_t& known = exclusion_of_[index_of(policy.exclusions[i].node)];
    if (known < 0) known = static_cast<std::int32_t>(i);
  }
}

Decision Reasons::raw_reading(Use use, RawReason reason) const {
  const std::string node = node_phrase(graph_.graph(), use.node);
  if (reason == RawReason::kExcludedNode) {
    Decision decision = node_reading(use, graph_.graph().node(use.node).inputs[index_of(use.input)]);
    decision.why += " Without the option raw_excluded it would share its neighbours' pair.";
    return decision;
  }
  if (reason == RawReason::kSkipAlsoRaw)
    return {false,
            "skip_also_raw",
            node +
                " reads this branch raw because another operator has to read it raw too; if that one read "
                "it quantized, so would this.",
            {}};
  return {false,
          "fused_branch",
          node +
              " reads this branch raw: TensorRT fuses it with the operator that makes it, and a pair "
              "between would break that; the branch would have to come from outside its group.",
          {}};
}

Decision Reasons::quantized_reading(Use use, const Mark& mark) const {
  if (policy_.choice.selected[index_of(use.node)]) {
    const Words words = words_of_chosen(policy_.choice.standing[index_of(use.node)]);
    return {true, words.rule, node_phrase(graph_.graph(), use.node) + " " + words.why, {}};
  }
  return {true,
          "shared_pair",
          "The tensor has a pair for " + node_phrase(graph_.graph(), mark.by) +
              ", and all readers of a tensor share it; without that operator this input would be raw.",
          {}};
}

// Why the node as a whole doesn't read quantized data, or why this input of it doesn't.
Decision Reasons::node_reading(Use use, TensorId tensor) const {
  const GraphNode& facts = graph_.graph().node(use.node);
  const std::string node = node_phrase(graph_.graph(), use.node);
  if (!facts.domain.empty())
    return {false, "custom_domain", node + " is of another domain, which is passed through.", {}};
  if (graph_.position(use.node) == kNone)
    return {false, "makes_constant", node + " only makes a constant, which is folded into its readers.", {}};
  const std::int32_t exclusion = exclusion_of_[index_of(use.node)];
  if (const std::optional<LeftOut> left_out = patterns_.left_out(use.node, tensor);
      left_out && (exclusion < 0 || left_out->rule == "excluded"))
    return {false, left_out->rule, left_out->why, {}};
  if (exclusion >= 0) {
    const Exclusion& found = policy_.exclusions[index_of(exclusion)];
    return {false, found.rule, found.why, {}};
  }
  const Standing standing = policy_.choice.standing[index_of(use.node)];
  const bool fused = standing == Standing::kInsidePartition || standing == Standing::kOffLimits;
  if (float8_ && !fused && is_quantizable_int8(facts.op_type) && !is_quantizable_float8(facts.op_type))
    return {false,
            "operator_not_quantizable",
            node + " has no float8 kernel in TensorRT; with int8 it could read its input quantized.",
            {}};
  if (!policy_.choice.selected[index_of(use.node)]) {
    const bool other = standing == Standing::kPointwiseChain && !is_quantizable_int8(facts.op_type);
    const Words words = words_of_left(other ? Standing::kOperatorNotQuantizable : standing);
    return {false, words.rule, node + " " + words.why, {}};
  }
  if (has_bias_input(facts) && use.input == kBiasInput)
    return {false,
            "bias_stays_float",
            "Bias of " + node +
                ": TensorRT adds it in floating point; an integer bias needs target "
                "onnxruntime.",
            {}};
  if (is_op(facts, "Clip"))
    return {false,
            "fused_clip",
            node +
                " is taken for a part of the operator in front of it; its input would have to be quantized "
                "for an earlier operator.",
            {}};
  return {false,
          "input_stays_float",
          "TensorRT reads input " + std::to_string(use.input) + " of " + node +
              " in floating point; no quantized form of it exists.",
          {}};
}

Decision Reasons::unmarked_reading(Use use, TensorId tensor) const {
  const GraphTensor& facts = graph_.graph().tensor(tensor);
  if (facts.type == DataType::kUndefined)
    return {false,
            "type_unknown",
            "The element type of " + quoted(facts.name) +
                " isn't known, since shape inference couldn't follow the graph to it; it has to be float32.",
            {}};
  if (facts.type != DataType::kFloat)
    return {
        false,
        "not_float",
        quoted(facts.name) + " holds " + data_type_name(facts.type) + " values; only float32 is quantized.",
        {}};
  return node_reading(use, tensor);
}

Decision Reasons::explain(Use use) const {
  const TensorId tensor = graph_.graph().node(use.node).inputs[index_of(use.input)];
  const Mark& mark = policy_.marks.tensors[index_of(tensor)];
  // A tensor that nobody reads quantized in the end has lost its mark, but its readings say why.
  const RawReason reason = policy_.marks.readings.at(use).raw;
  Decision decision;
  if (reason != RawReason::kNone) {
    decision = raw_reading(use, reason);
  } else if (mark.kind != MarkKind::kNone) {
    decision = quantized_reading(use, mark);
  } else {
    decision = unmarked_reading(use, tensor);
  }
  decision.partition = partition_label(use.node);
  return decision;
}

std::optional<std::string> Reasons::partition_label(NodeId node) const {
  const std::int32_t number = policy_.choice.partition[index_of(node)];
  if (number < 0) return std::nullopt;
  const std::string head = graph_.graph().node_label(policy_.choice.partition_heads[index_of(number)]);
  return (index_of(number) < policy_.choice.cask_count ? "cask:" : "kgen:") + head;
}

}  // namespace halftone::tensorrt
