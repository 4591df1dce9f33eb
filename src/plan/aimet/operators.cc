// Source: placement rules of AIMET's ONNX simulation, 2.x line.
#include "plan/aimet/operators.h"

#include <algorithm>
#include <array>

namespace halftone::aimet {
namespace {

constexpr Parameter kAffine[] = {{1, "weight"}, {2, "bias"}};
constexpr Parameter kBatchNorm[] = {{1, "weight"}, {2, "bias"}, {3, "running_mean"}, {4, "running_var"}};
constexpr Parameter kRecurrent[] = {{1, "weight_x"}, {2, "weight_r"}};
constexpr std::span<const Parameter> kWeightOnly(kAffine, 1);

struct Row {
  std::string_view op;
  std::span<const Parameter> parameters;
};

constexpr Row kParameters[] = {{"BatchNormalization", kBatchNorm},
                               {"Conv", kAffine},
                               {"ConvTranspose", kAffine},
                               {"GRU", kRecurrent},
                               {"Gemm", kAffine},
                               {"GroupNormalization", kAffine},
                               {"InstanceNormalization", kAffine},
                               {"LSTM", kRecurrent},
                               {"LayerNormalization", kAffine},
                               {"MatMul", kWeightOnly},
                               {"PRelu", kWeightOnly},
                               {"RMSNormalization", kWeightOnly},
                               {"RNN", kRecurrent}};

// Both sorted.
constexpr std::array<std::string_view, 26> kGridPreserving = {
    "Col2Im",         "Compress",  "DepthToSpace", "Dropout",   "Expand",       "Flatten", "Gather",
    "GatherElements", "GatherND",  "Identity",     "MaxPool",   "MaxRoiPool",   "NonZero", "Pad",
    "ReduceMax",      "ReduceMin", "Reshape",      "Slice",     "SpaceToDepth", "Split",   "SplitToSequence",
    "Squeeze",        "Tile",      "TopK",         "Transpose", "Unsqueeze"};
constexpr std::array<std::string_view, 11> kTransparent = {"Compress", "Flatten",   "Gather",   "Identity",
                                                           "Reshape",  "Shape",     "Split",    "Squeeze",
                                                           "Tile",     "Transpose", "Unsqueeze"};
static_assert(std::is_sorted(kGridPreserving.begin(), kGridPreserving.end()));
static_assert(std::is_sorted(kTransparent.begin(), kTransparent.end()));

}  // namespace

std::span<const Parameter> parameters_of(const GraphNode& node) {
  if (!node.domain.empty()) return {};
  for (const Row& row : kParameters) {
    if (row.op == node.op_type) return row.parameters;
  }
  return {};
}

bool preserves_grid(const GraphNode& node) {
  return node.domain.empty() &&
         std::binary_search(kGridPreserving.begin(), kGridPreserving.end(), std::string_view(node.op_type));
}

bool is_transparent(const GraphNode& node) {
  return node.domain.empty() &&
         std::binary_search(kTransparent.begin(), kTransparent.end(), std::string_view(node.op_type));
}

std::int32_t channel_axis(const Graph& graph, NodeId owner, std::string_view role, std::size_t rank) {
  if (rank == 1) return 0;
  const std::string& op = graph.node(owner).op_type;
  if (rank == 0 || role != "weight") return -1;
  if (op == "Conv") return 0;
  if (op == "ConvTranspose") return 1;
  if (op == "Gemm") return graph.int_attribute(owner, "transB", 0) != 0 ? 0 : 1;
  return op == "MatMul" ? static_cast<std::int32_t>(rank) - 1 : -1;
}

}  // namespace halftone::aimet
