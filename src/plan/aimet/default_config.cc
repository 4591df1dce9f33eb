// Source: the per-channel default configuration of AIMET's ONNX simulation, 2.x line, as rules.
#include "halftone/aimet_config.h"

namespace halftone {
namespace {

AimetConfig make_default() {
  AimetConfig config;
  config.ops.output_quantized = true;
  config.ops.symmetric = false;
  config.parameters.quantized = true;
  config.parameters.symmetric = true;
  for (const char* role : {"bias", "BatchNormalization/running_mean", "BatchNormalization/running_var"})
    config.parameters_by_role[role].quantized = false;
  config.op_types["BatchNormalization"];
  config.op_types["Cast"].output_quantized = false;
  for (const char* op : {"Conv", "ConvTranspose", "Gemm", "MatMul", "PRelu"})
    config.op_types[op].per_channel = true;
  config.supergroups = {
      {"Conv", "Relu"}, {"Conv", "Clip"}, {"ConvTranspose", "Relu"}, {"Add", "Relu"}, {"Gemm", "Relu"}};
  config.matmul_add = true;
  config.model_input.input_quantized = true;
  return config;
}

}  // namespace

const AimetConfig& default_aimet_config() {
  static const AimetConfig kConfig = make_default();
  return kConfig;
}

}  // namespace halftone
