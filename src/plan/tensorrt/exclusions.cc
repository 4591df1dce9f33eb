#include "plan/tensorrt/exclusions.h"

#include <algorithm>
#include <span>
#include <utility>

#include "plan/tensorrt/path_matcher.h"
#include "plan/wording.h"

namespace halftone::tensorrt {
namespace {

constexpr std::int64_t kSmallestGemm = 16;  // columns and terms
constexpr std::int64_t kSmallestChannels = 16;
constexpr std::int64_t kLongestSequenceInt8 = 512;
constexpr std::int64_t kLargestHeadFloat8 = 256;
constexpr std::int64_t kSmallestHeadFloat8 = 8;    // and this size itself is excluded
constexpr std::int64_t kLargestKernelFloat8 = 32;  // elements

TensorId input_of(const GraphNode& node, std::size_t input) {
  return input < node.inputs.size() ? node.inputs[input] : kNone;
}

std::string text(std::int64_t number) { return std::to_string(number); }

// --- MatMul and Gemm

std::optional<Exclusion> matmul_exclusion(const PolicyGraph& graph, const TensorShapes& shapes, NodeId id) {
  const GraphNode& node = graph.graph().node(id);
  const std::optional<Shape> out = node.outputs[0] == kNone ? std::nullopt : shapes.of(node.outputs[0]);
  if (!out) return std::nullopt;
  const std::size_t rank = out->size();
  const bool any_stored = std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId input) {
    return input != kNone && graph.is_stored(input);
  });
  const bool gemv = any_stored ? rank < 3 && std::find(out->begin(), out->end(), 1) != out->end()
                               : rank < 2 || out->back() == 1 || (*out)[rank - 2] == 1;
  if (gemv)
    return Exclusion{
        id, "gemv",
        node_phrase(graph.graph(), id) +
            " multiplies a matrix by a vector, which TensorRT runs faster in floating point; its "
            "result would need more than one row and one column."};
  const std::int64_t columns = rank >= 2 ? out->back() : 0;
  std::int64_t terms = 0;
  const TensorId right = input_of(node, 1);
  if (const std::optional<Shape> shape = right == kNone ? std::nullopt : shapes.of(right);
      shape && !shape->empty()) {
    const bool transposed = is_op(node, "Gemm") && graph.graph().int_attribute(id, "transB", 0) == 1;
    if (transposed) terms = shape->back();
    if (!transposed && shape->size() >= 2) terms = (*shape)[shape->size() - 2];
  }
  const bool small = (columns > 0 && columns < kSmallestGemm) || (terms > 0 && terms < kSmallestGemm);
  if (!small) return std::nullopt;
  return Exclusion{id, "small_gemm",
                   node_phrase(graph.graph(), id) + " is too small to gain: it has " + text(columns) +
                       " columns and " + text(terms) + " terms, and both would have to be at least 16."};
}

// --- Conv

struct ConvFacts {
  std::int64_t out_channels = 0;
  std::int64_t in_channels = 0;  // per group
  std::int64_t groups = 1;
  std::span<const std::int64_t> kernel;  // the attribute; [1, 1] without it
  std::int64_t kernel_elements = 1;      // of the weight's own shape
};

std::optional<ConvFacts> conv_facts(const PolicyGraph& graph, NodeId id) {
  const TensorId weight = input_of(graph.graph().node(id), 1);
  if (weight == kNone) return std::nullopt;
  const std::optional<std::vector<Dimension>>& shape = graph.graph().tensor(weight).shape;
  if (!shape || shape->size() < 3 || shape->size() > 5) return std::nullopt;
  ConvFacts facts;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const std::int64_t extent = (*shape)[i].value;
    if (extent < 0) return std::nullopt;
    if (i == 0) facts.out_channels = extent;
    if (i == 1) facts.in_channels = extent;
    // Only compared with 32, so a hostile product may saturate there.
    if (i > 1)
      facts.kernel_elements =
          std::min<std::int64_t>(facts.kernel_elements * std::min<std::int64_t>(extent, 1 << 20), 1 << 20);
  }
  facts.groups = graph.graph().int_attribute(id, "group", 1);
  const AttributeView* kernel = graph.graph().attribute(id, "kernel_shape");
  static constexpr std::int64_t kPoint[] = {1, 1};
  facts.kernel = kernel != nullptr && !kernel->ints.empty() ? kernel->ints : std::span(kPoint);
  return facts;
}

bool reads_graph_input(const PolicyGraph& graph, NodeId id) {
  const std::vector<TensorId>& inputs = graph.graph().node(id).inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](TensorId input) {
    return input != kNone && graph.graph().tensor(input).graph_input;
  });
}

bool small_conv_kept_in_int8(const PolicyGraph& graph, NodeId id, const ConvFacts& facts) {
  const auto equal = [&] {
    return std::all_of(facts.kernel.begin(), facts.kernel.end(),
                       [&](std::int64_t k) { return k == facts.kernel[0]; });
  };
  if (facts.groups == 1) {
    const bool multiple = facts.out_channels % 8 == 0 || facts.in_channels % 8 == 0;
    const bool fed = reads_graph_input(graph, id) || facts.out_channels >= kSmallestChannels ||
                     facts.in_channels >= kSmallestChannels;
    return multiple && fed && equal();
  }
  const bool wide =
      std::all_of(facts.kernel.begin(), facts.kernel.end(), [](std::int64_t k) { return k >= 3; });
  return facts.groups > 1 && facts.out_channels % 8 == 0 && wide;
}

std::string channels_text(const ConvFacts& facts) {
  return text(facts.out_channels) + " output and " + text(facts.in_channels) + " input channels per group";
}

std::optional<Exclusion> conv_exclusion(const PolicyGraph& graph, NodeId id, Precision precision) {
  const auto phrase = [&] { return node_phrase(graph.graph(), id); };
  const std::optional<ConvFacts> facts = conv_facts(graph, id);
  if (!facts)
    return Exclusion{id, "weight_shape_unknown",
                     "The weight shape of " + phrase() + " isn't known, so it can't be judged."};
  if (facts->out_channels < kSmallestChannels || facts->in_channels < kSmallestChannels) {
    if (precision == Precision::kInt8 && small_conv_kept_in_int8(graph, id, *facts)) return std::nullopt;
    return Exclusion{id, "small_convolution",
                     phrase() + " has " + channels_text(*facts) +
                         ", too few for TensorRT's quantized kernels; both would have to be at least 16."};
  }
  if (precision == Precision::kInt8) return std::nullopt;
  if (facts->kernel_elements > kLargestKernelFloat8)
    return Exclusion{
        id, "large_kernel",
        phrase() + " has a kernel of more than 32 elements, for which TensorRT has no float8 kernel."};
  if (facts->out_channels <= kSmallestChannels || facts->in_channels <= kSmallestChannels)
    return Exclusion{id, "small_convolution",
                     phrase() + " has " + channels_text(*facts) + "; float8 needs more than 16 of both."};
  return std::nullopt;
}

// --- attention

// Whether a Softmax stands where TensorRT's fused attention wants it. The paths remember their answers, so
// one object serves all.
class FusedAttention {
 public:
  explicit FusedAttention(const PolicyGraph& graph)
      : after_(graph, {"Softmax", "MatMul"}, Direction::kForward, kThrough) {
    const std::vector<std::vector<std::string_view>> paths = {{"Softmax", "MatMul"},
                                                              {"Softmax", "Add", "MatMul"},
                                                              {"Softmax", "Div", "MatMul"},
                                                              {"Softmax", "Mul", "MatMul"},
                                                              {"Softmax", "Add", "Div", "MatMul"},
                                                              {"Softmax", "Add", "Mul", "MatMul"}};
    for (const std::vector<std::string_view>& path : paths)
      before_.emplace_back(graph, path, Direction::kBackward, kThrough);
  }
  bool around(NodeId softmax) {
    return after_.matches(softmax) && std::any_of(before_.begin(), before_.end(),
                                                  [&](PathMatcher& path) { return path.matches(softmax); });
  }

 private:
  inline static const std::vector<std::string_view> kThrough = {"Reshape", "Transpose", "Flatten", "Cast"};
  PathMatcher after_;
  std::vector<PathMatcher> before_;
};

std::optional<std::pair<std::string, std::string>> attention_exclusion(const PolicyGraph& graph,
                                                                       const TensorShapes& shapes,
                                                                       const AttentionTriple& triple,
                                                                       Precision precision,
                                                                       FusedAttention& fused) {
  const TensorId keys = input_of(graph.graph().node(triple.first), 1);
  const std::optional<Shape> shape = keys == kNone ? std::nullopt : shapes.of(keys);
  const std::string phrase = "The attention around " + node_phrase(graph.graph(), triple.softmax);
  if (shape && shape->size() >= 2) {
    const std::int64_t sequence = shape->back();
    const std::int64_t head = (*shape)[shape->size() - 2];
    if (precision == Precision::kInt8 && sequence > kLongestSequenceInt8)
      return {
          {"long_attention", phrase + " runs over " + text(sequence) + " positions; int8 pays up to 512."}};
    if (precision == Precision::kFloat8 && (head > kLargestHeadFloat8 || head <= kSmallestHeadFloat8))
      return {{"attention_head_size",
               phrase + " has heads of " + text(head) + " values; float8 needs 9 to 256."}};
  }
  if (precision == Precision::kFloat8 && !fused.around(triple.softmax))
    return {{"attention_not_fused", phrase + " isn't one of the patterns that TensorRT fuses in float8."}};
  return std::nullopt;
}

}  // namespace

std::vector<Exclusion> find_nodes_from_matmul_to_exclude(const PolicyGraph& graph,
                                                         const TensorShapes& shapes) {
  std::vector<Exclusion> found;
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if ((!is_op(node, "MatMul") && !is_op(node, "Gemm")) || node.outputs.empty()) continue;
    if (std::optional<Exclusion> exclusion = matmul_exclusion(graph, shapes, id))
      found.push_back(std::move(*exclusion));
  }
  return found;
}

std::vector<Exclusion> find_nodes_from_convs_to_exclude(const PolicyGraph& graph, Precision precision) {
  std::vector<Exclusion> found;
  for (const NodeId id : graph.nodes()) {
    if (!is_op(graph.graph().node(id), "Conv")) continue;
    if (std::optional<Exclusion> exclusion = conv_exclusion(graph, id, precision))
      found.push_back(std::move(*exclusion));
  }
  return found;
}

std::vector<Exclusion> find_nodes_from_mha_to_exclude(const PolicyGraph& graph, const TensorShapes& shapes,
                                                      Precision precision) {
  std::vector<Exclusion> found;
  FusedAttention fused(graph);
  for (const AttentionTriple& triple : find_attention_triples(graph)) {
    const auto reason = attention_exclusion(graph, shapes, triple, precision, fused);
    if (!reason) continue;
    for (const NodeId id : {triple.first, triple.second})
      found.push_back({id, reason->first, reason->second});
  }
  return found;
}

std::vector<TensorId> find_unknown_shapes(const PolicyGraph& graph, const TensorShapes& shapes) {
  std::vector<TensorId> unknown;
  const auto ask = [&](TensorId tensor) {
    if (tensor != kNone && !shapes.is_known(tensor)) unknown.push_back(tensor);
  };
  for (const NodeId id : graph.nodes()) {
    const GraphNode& node = graph.graph().node(id);
    if (!is_op(node, "MatMul") && !is_op(node, "Gemm")) continue;
    ask(node.outputs[0]);
    ask(input_of(node, 1));
  }
  for (const AttentionTriple& triple : find_attention_triples(graph))
    ask(input_of(graph.graph().node(triple.first), 1));
  std::sort(unknown.begin(), unknown.end());
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  return unknown;
}

}  // namespace halftone::tensorrt
