#include "sensitivity/conv_folding.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "plan/constant_values.h"

namespace halftone {
namespace {

constexpr float kDefaultEpsilon = 1e-5F;
// Weights of fewer dimensions are left alone by the runtime.
constexpr std::size_t kLeastRank = 4;

bool is_standard(const GraphNode& node) { return node.domain.empty() || node.domain == "ai.onnx"; }

class Folding {
 public:
  Folding(const Model& model, NodeId conv, const std::unordered_set<TensorId>& kept)
      : model_(model), graph_(model.graph()), kept_(kept), conv_(conv) {}

  FoldedConv run() {
    if (!start()) return {};
    NodeId last = conv_;
    while (const std::optional<NodeId> next = follower(last)) {
      if (!fold(*next)) break;
      folded_.nodes.push_back(*next);
      last = *next;
    }
    if (folded_.nodes.empty()) return {};
    if (has_bias_) folded_.bias = bias_;
    return std::move(folded_);
  }

 private:
  bool start() {
    const GraphNode& conv = graph_.node(conv_);
    if (conv.op_type != "Conv" || !is_standard(conv) || conv.inputs.size() < 2) return false;
    const TensorId weight = conv.inputs[1];
    if (weight == kNone || graph_.tensor(weight).consumers.size() != 1) return false;
    const Result<ConstantValues> values = constant_values(model_, graph_.tensor(weight).name);
    if (!values.ok() || values.value().dims.size() < kLeastRank) return false;
    rank_ = values.value().dims.size();
    channels_ = static_cast<std::size_t>(values.value().dims.front());
    if (conv.inputs.size() < 3 || conv.inputs[2] == kNone) return true;
    const std::optional<std::vector<float>> bias = channel_values(conv.inputs[2]);
    if (!bias || bias->size() != channels_) return false;
    bias_ = *bias;
    has_bias_ = true;
    return true;
  }

  // The one reader of what a node makes.
  [[nodiscard]] std::optional<NodeId> follower(NodeId node) const {
    const auto& outputs = graph_.node(node).outputs;
    if (outputs.empty() || outputs.front() == kNone) return std::nullopt;
    const GraphTensor& made = graph_.tensor(outputs.front());
    const bool alone = made.consumers.size() == 1 && !made.graph_output && !made.read_by_subgraph &&
                       !kept_.contains(outputs.front());
    if (!alone || made.consumers.front().input != 0) return std::nullopt;
    return made.consumers.front().node;
  }

  bool fold(NodeId id) {
    const GraphNode& node = graph_.node(id);
    if (!is_standard(node) || node.has_subgraph) return false;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      if (kept_.contains(node.inputs[i])) return false;
    }
    if (node.op_type == "BatchNormalization") return fold_normalization(id);
    if (node.op_type == "Mul" && node.inputs.size() == 2) return fold_product(node.inputs[1]);
    if (node.op_type == "Add" && node.inputs.size() == 2) return fold_sum(node.inputs[1]);
    return false;
  }

  bool fold_normalization(NodeId id) {
    const GraphNode& node = graph_.node(id);
    std::size_t outputs = 0;
    for (const TensorId output : node.outputs) outputs += output == kNone ? 0 : 1;
    if (node.inputs.size() != 5 || outputs != 1 || graph_.int_attribute(id, "training_mode", 0) != 0)
      return false;
    std::vector<std::vector<float>> parameters;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      std::optional<std::vector<float>> values = channel_values(node.inputs[i]);
      if (!values || values->size() != channels_) return false;
      parameters.push_back(*std::move(values));
    }
    const float epsilon = graph_.float_attribute(id, "epsilon", kDefaultEpsilon);
    std::vector<float> factor(channels_);
    std::vector<float> bias(channels_);
    for (std::size_t c = 0; c < channels_; ++c) {
      factor[c] = parameters[0][c] / std::sqrt(parameters[3][c] + epsilon);
      const float mean = parameters[2][c];
      bias[c] =
          has_bias_ ? (bias_[c] - mean) * factor[c] + parameters[1][c] : parameters[1][c] - mean * factor[c];
    }
    folded_.factors.push_back(std::move(factor));
    set_bias(std::move(bias));
    return true;
  }

  bool fold_product(TensorId tensor) {
    std::optional<std::vector<float>> values = spread_values(tensor);
    if (!values || (values->size() != channels_ && !is_scalar(tensor))) return false;
    if (has_bias_) {
      for (std::size_t c = 0; c < channels_; ++c)
        bias_[c] *= values->size() == 1 ? (*values)[0] : (*values)[c];
    }
    folded_.factors.push_back(*std::move(values));
    return true;
  }

  bool fold_sum(TensorId tensor) {
    std::optional<std::vector<float>> values = spread_values(tensor);
    if (!values || values->size() != channels_ || is_scalar(tensor)) return false;
    for (std::size_t c = 0; has_bias_ && c < channels_; ++c) (*values)[c] = bias_[c] + (*values)[c];
    set_bias(*std::move(values));
    return true;
  }

  void set_bias(std::vector<float> bias) {
    bias_ = std::move(bias);
    has_bias_ = true;
  }

  [[nodiscard]] bool is_scalar(TensorId tensor) const {
    const auto& shape = graph_.tensor(tensor).shape;
    return shape && shape->empty();
  }

  // Of a constant of one dimension.
  [[nodiscard]] std::optional<std::vector<float>> channel_values(TensorId tensor) const {
    const std::optional<ConstantValues> constant = floats(tensor);
    if (!constant || constant->dims.size() != 1) return std::nullopt;
    return copied(constant->values);
  }

  // Of a scalar, or of a constant that is 1 everywhere but at the channels of what the Conv makes.
  [[nodiscard]] std::optional<std::vector<float>> spread_values(TensorId tensor) const {
    const std::optional<ConstantValues> constant = floats(tensor);
    if (!constant) return std::nullopt;
    const std::vector<std::int64_t>& dims = constant->dims;
    if (!dims.empty() && dims.size() != rank_ && dims.size() + 1 != rank_) return std::nullopt;
    const std::size_t axis = dims.size() == rank_ ? 1 : 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (i != axis && dims[i] != 1) return std::nullopt;
    }
    return copied(constant->values);
  }

  [[nodiscard]] std::optional<ConstantValues> floats(TensorId tensor) const {
    if (tensor == kNone || !graph_.tensor(tensor).constant) return std::nullopt;
    Result<ConstantValues> values = constant_values(model_, graph_.tensor(tensor).name);
    if (!values.ok()) return std::nullopt;
    return std::move(values).value();
  }

  const Model& model_;
  const Graph& graph_;
  const std::unordered_set<TensorId>& kept_;
  NodeId conv_;
  std::size_t rank_ = 0;
  std::size_t channels_ = 0;
  std::vector<float> bias_;
  bool has_bias_ = false;
  FoldedConv folded_;
};

}  // namespace

FoldedConv fold_behind(const Model& model, NodeId conv, const std::unordered_set<TensorId>& kept) {
  return Folding(model, conv, kept).run();
}

void multiply_channels(std::vector<float>& weight, std::size_t channels, const FoldedConv& folded) {
  if (channels == 0) return;
  const std::size_t each = weight.size() / channels;
  for (const std::vector<float>& factor : folded.factors) {
    for (std::size_t c = 0; c < channels; ++c) {
      const float by = factor.size() == 1 ? factor[0] : factor[c];
      for (std::size_t i = 0; i < each; ++i) weight[c * each + i] *= by;
    }
  }
}

}  // namespace halftone
