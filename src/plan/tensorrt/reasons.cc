#include "plan/tensorrt/reasons.h"

#include "plan/wording.h"

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

struct Words {
  const char* rule;
  const char* why;  // follows the node's name
};

Words words_of(Standing standing) {
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
    case Standing::kLeftover:
      return {"leftover", "is quantizable and belongs to no fused group."};
    case Standing::kPoolingNextToQuantized:
      return {"pooling_next_to_quantized", "pools next to a quantized operator."};
    case Standing::kInsidePartition:
      return {"inside_partition",
              "is fused behind the head of its group and reads that kernel's own result; it would have to "
              "start a "
              "group to be quantized."};
    case Standing::kPointwiseChain:
      return {"pointwise_chain",
              "belongs to a chain of pointwise operators that TensorRT runs in floating point; it would have "
              "to be "
              "the first of the chain, behind a quantized group, without a constant input."};
    case Standing::kOffLimits:
      return {"off_limits",
              "is part of a LayerNorm, GELU or attention pattern, for which TensorRT has a kernel of its "
              "own; another "
              "operator in the middle of the pattern would break that."};
    case Standing::kExcluded:
      return {"excluded", "is excluded."};
    case Standing::kOutputLayer:
      return {"output_layer",
              "makes an output of the model and is no Conv, Gemm or MatMul; an operator behind it would "
              "change that."};
    case Standing::kOperatorNotQuantizable:
      return {"operator_not_quantizable", "is an operator that TensorRT doesn't run on quantized data."};
    case Standing::kPoolingApart:
      return {"pooling_apart", "pools with nothing quantized in front of it or behind it."};
    case Standing::kConstantOperand:
      return {"constant_operand",
              "combines a tensor with a constant outside all fused groups; both inputs would have to vary."};
  }
  return {"internal", ""};
}

Decision raw_reading(const PolicyGraph& graph, Use use, RawReason reason) {
  const std::string node = node_phrase(graph.graph(), use.node);
  if (reason == RawReason::kSkipAlsoRaw)
    return {false,
            "skip_also_raw",
            node + " reads this tensor raw because another operator has to read it raw too.",
            {}};
  return {false,
          "fused_branch",
          node +
              " reads this branch raw: TensorRT fuses it with the operator that makes it, and a pair between "
              "would break that.",
          {}};
}

// A reading of a tensor that has a pair.
Decision quantized_reading(const PolicyGraph& graph, const PolicyOutcome& outcome, Use use,
                           const Mark& mark) {
  if (outcome.choice.selected[index_of(use.node)]) {
    const Words words = words_of(outcome.choice.standing[index_of(use.node)]);
    return {true, words.rule, node_phrase(graph.graph(), use.node) + " " + words.why, {}};
  }
  return {true,
          "shared_pair",
          "The tensor has a pair for " + node_phrase(graph.graph(), mark.by) +
              ", and all readers of a tensor share it; without that "
              "operator this input would be raw.",
          {}};
}

Decision weight_reading(const PolicyGraph& graph, Use use, const Mark& mark) {
  const std::string node = node_phrase(graph.graph(), use.node);
  if (mark.axis >= 0)
    return {true,
            "weight_per_channel",
            "Constant operand of " + node + ": symmetric, one scale per channel (axis " +
                std::to_string(mark.axis) + ").",
            {}};
  return {true, "weight_per_tensor", "Constant operand of " + node + ": symmetric, one scale.", {}};
}

Decision unmarked_reading(const PolicyGraph& graph, const PolicyOutcome& outcome, Use use, TensorId tensor) {
  const GraphTensor& facts = graph.graph().tensor(tensor);
  const std::string node = node_phrase(graph.graph(), use.node);
  if (facts.type == DataType::kUndefined)
    return {false,
            "type_unknown",
            "The element type of " + quoted(facts.name) + " isn't known; it has to be float32.",
            {}};
  if (facts.type != DataType::kFloat)
    return {
        false,
        "not_float",
        quoted(facts.name) + " holds " + data_type_name(facts.type) + " values; only float32 is quantized.",
        {}};
  if (!graph.graph().node(use.node).domain.empty())
    return {false, "custom_domain", node + " is of another domain, which is passed through.", {}};
  if (const Exclusion* exclusion = outcome.exclusion_of[index_of(use.node)]; exclusion != nullptr)
    return {false, exclusion->rule, exclusion->why, {}};
  if (!outcome.choice.selected[index_of(use.node)]) {
    const Words words = words_of(outcome.choice.standing[index_of(use.node)]);
    return {false, words.rule, node + " " + words.why, {}};
  }
  return {false,
          "input_stays_float",
          "TensorRT reads input " + std::to_string(use.input) + " of " + node +
              " in floating point; no quantized form of it exists.",
          {}};
}

}  // namespace

Decision explain(const PolicyGraph& graph, const PolicyOutcome& outcome, Use use) {
  const std::size_t input = index_of(use.input);
  const TensorId tensor = graph.graph().node(use.node).inputs[input];
  const std::vector<Mark>& constants = outcome.marks.constants[index_of(use.node)];
  Decision decision;
  if (input < constants.size() && constants[input].kind == MarkKind::kWeight) {
    decision = weight_reading(graph, use, constants[input]);
  } else if (const Mark& mark = outcome.marks.tensors[index_of(tensor)]; mark.kind != MarkKind::kNone) {
    const std::vector<RawReason>& raw = outcome.marks.raw[index_of(use.node)];
    const RawReason reason = raw.empty() ? RawReason::kNone : raw[input];
    decision = reason == RawReason::kNone ? quantized_reading(graph, outcome, use, mark)
                                          : raw_reading(graph, use, reason);
  } else {
    decision = unmarked_reading(graph, outcome, use, tensor);
  }
  decision.partition = partition_label(graph, outcome.choice, use.node);
  return decision;
}

std::optional<std::string> partition_label(const PolicyGraph& graph, const NodeChoice& choice, NodeId node) {
  const std::int32_t number = choice.partition[index_of(node)];
  if (number < 0) return std::nullopt;
  const std::string head = graph.graph().node_label(choice.partition_heads[index_of(number)]);
  return (index_of(number) < choice.cask_count ? "cask:" : "kgen:") + head;
}

}  // namespace halftone::tensorrt
