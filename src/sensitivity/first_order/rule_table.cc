#include <algorithm>
#include <array>

#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {
namespace {

constexpr std::array kRules = {
    Rule{"Abs", back_activation},
    Rule{"Add", back_arithmetic},
    Rule{"AveragePool", back_average_pool},
    Rule{"BatchNormalization", back_batch_normalization},
    Rule{"Cast", back_activation},
    Rule{"Clip", back_activation},
    Rule{"Concat", back_concat},
    Rule{"Conv", back_conv},
    Rule{"ConvTranspose", back_conv_transpose},
    Rule{"Cos", back_activation},
    Rule{"DepthToSpace", back_depth_and_space},
    Rule{"Div", back_arithmetic},
    Rule{"Dropout", back_activation},
    Rule{"Elu", back_activation},
    Rule{"Erf", back_activation},
    Rule{"Exp", back_activation},
    Rule{"Expand", back_expand},
    Rule{"Flatten", back_reshape},
    Rule{"Gather", back_gather},
    Rule{"GatherElements", back_gather},
    Rule{"GatherND", back_gather},
    Rule{"Gelu", back_activation},
    Rule{"Gemm", back_gemm},
    Rule{"GlobalAveragePool", back_global_average},
    Rule{"GlobalMaxPool", back_global_max},
    Rule{"HardSigmoid", back_activation},
    Rule{"HardSwish", back_activation},
    Rule{"Identity", back_activation},
    Rule{"InstanceNormalization", back_instance_normalization},
    Rule{"LayerNormalization", back_layer_normalization},
    Rule{"LeakyRelu", back_activation},
    Rule{"Log", back_activation},
    Rule{"LogSoftmax", back_softmax},
    Rule{"MatMul", back_matmul},
    Rule{"Max", back_extremum},
    Rule{"MaxPool", back_max_pool},
    Rule{"Mean", back_arithmetic},
    Rule{"Min", back_extremum},
    Rule{"Mish", back_activation},
    Rule{"Mul", back_arithmetic},
    Rule{"Neg", back_activation},
    Rule{"PRelu", back_prelu},
    Rule{"Pad", back_pad},
    Rule{"Pow", back_arithmetic},
    Rule{"Reciprocal", back_activation},
    Rule{"ReduceL2", back_reduction},
    Rule{"ReduceMax", back_reduction},
    Rule{"ReduceMean", back_reduction},
    Rule{"ReduceMin", back_reduction},
    Rule{"ReduceSum", back_reduction},
    Rule{"ReduceSumSquare", back_reduction},
    Rule{"Relu", back_activation},
    Rule{"Reshape", back_reshape},
    Rule{"Resize", back_resize},
    Rule{"Sigmoid", back_activation},
    Rule{"Sin", back_activation},
    Rule{"Slice", back_slice},
    Rule{"Softmax", back_softmax},
    Rule{"Softplus", back_activation},
    Rule{"Softsign", back_activation},
    Rule{"SpaceToDepth", back_depth_and_space},
    Rule{"Split", back_split, true},
    Rule{"Sqrt", back_activation},
    Rule{"Squeeze", back_reshape},
    Rule{"Sub", back_arithmetic},
    Rule{"Sum", back_arithmetic},
    Rule{"Tanh", back_activation},
    Rule{"ThresholdedRelu", back_activation},
    Rule{"Tile", back_gather},
    Rule{"Transpose", back_transpose},
    Rule{"Unsqueeze", back_reshape},
    Rule{"Where", back_where},
};

}  // namespace

const Rule* rule_of(std::string_view op) {
  const auto found =
      std::find_if(kRules.begin(), kRules.end(), [&](const Rule& rule) { return rule.op == op; });
  return found == kRules.end() ? nullptr : &*found;
}

}  // namespace halftone::first_order_model
