#include "plan/tensorrt/op_classes.h"

#include <algorithm>
#include <array>
#include <span>

namespace halftone::tensorrt {
namespace {

// Each list is sorted, so that a look-up is a binary search.
constexpr std::array<std::string_view, 4> kLinear = {"Conv", "ConvTranspose", "Gemm", "MatMul"};

constexpr std::array<std::string_view, 16> kCopy = {
    "Concat",  "Expand",          "Flatten",         "Gather",    "GatherElements", "GatherND", "OneHot",
    "Reshape", "ReverseSequence", "ScatterElements", "ScatterND", "Slice",          "Split",    "Squeeze",
    "Tile",    "Transpose"};

constexpr std::array<std::string_view, 42> kPointwise = {"Abs",
                                                         "Add",
                                                         "Atan",
                                                         "BitShift",
                                                         "BitwiseAnd",
                                                         "BitwiseOr",
                                                         "BitwiseXor",
                                                         "Cast",
                                                         "Ceil",
                                                         "Cos",
                                                         "CumSum",
                                                         "Div",
                                                         "Elu",
                                                         "Equal",
                                                         "Erf",
                                                         "Exp",
                                                         "Floor",
                                                         "Gelu",
                                                         "Greater",
                                                         "GreaterOrEqual",
                                                         "InstanceNormalization",
                                                         "IsInf",
                                                         "IsNaN",
                                                         "LeakyRelu",
                                                         "Less",
                                                         "LessOrEqual",
                                                         "Log",
                                                         "Max",
                                                         "Min",
                                                         "Mul",
                                                         "Neg",
                                                         "Not",
                                                         "Pow",
                                                         "Round",
                                                         "Sigmoid",
                                                         "Sign",
                                                         "Sin",
                                                         "Softmax",
                                                         "Softplus",
                                                         "Sqrt",
                                                         "Sub",
                                                         "Tanh"};

constexpr std::array<std::string_view, 10> kPooling = {
    "AveragePool",   "BlackmanWindow",   "GlobalAveragePool", "GlobalLpPool",
    "GlobalMaxPool", "HammingWindow",    "HannWindow",        "LpPool",
    "MaxPool",       "MaxPoolGridSample"};

constexpr std::array<std::string_view, 16> kInt8 = {"Add",
                                                    "AveragePool",
                                                    "BatchNormalization",
                                                    "Clip",
                                                    "Conv",
                                                    "ConvTranspose",
                                                    "Gemm",
                                                    "GlobalAveragePool",
                                                    "HardSwish",
                                                    "LRN",
                                                    "LayerNormalization",
                                                    "MatMul",
                                                    "MaxPool",
                                                    "Mul",
                                                    "Resize",
                                                    "TopK"};

constexpr std::array<std::string_view, 4> kFloat8 = {"Add", "Conv", "Gemm", "MatMul"};

static_assert(std::is_sorted(kLinear.begin(), kLinear.end()) && std::is_sorted(kCopy.begin(), kCopy.end()) &&
              std::is_sorted(kPointwise.begin(), kPointwise.end()) &&
              std::is_sorted(kPooling.begin(), kPooling.end()) &&
              std::is_sorted(kInt8.begin(), kInt8.end()) && std::is_sorted(kFloat8.begin(), kFloat8.end()));

bool listed(std::span<const std::string_view> sorted, std::string_view op_type) {
  return std::binary_search(sorted.begin(), sorted.end(), op_type);
}

}  // namespace

std::uint8_t op_classes(const GraphNode& node) {
  if (!node.domain.empty()) return 0;
  const auto in = [&](std::span<const std::string_view> sorted, OpClass op_class) {
    return listed(sorted, node.op_type) ? static_cast<unsigned>(op_class) : 0U;
  };
  return static_cast<std::uint8_t>(in(kLinear, OpClass::kLinear) | in(kCopy, OpClass::kCopy) |
                                   in(kPointwise, OpClass::kPointwise) | in(kPooling, OpClass::kPooling));
}

bool is_quantizable_int8(std::string_view op_type) { return listed(kInt8, op_type); }

bool is_quantizable_float8(std::string_view op_type) { return listed(kFloat8, op_type); }

}  // namespace halftone::tensorrt
