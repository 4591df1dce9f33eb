// AIMET's configuration of a quantization simulation: which quantizers are on, and how. Read from its JSON
// file by aimet_config_from_json (exchange.h).
//
// Sections apply in rising priority: defaults, params, op_type, supergroups, model_input, model_output.
// What no section switches on is off.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "halftone/quant_params.h"
#include "halftone/result.h"

namespace halftone {

// One section; what it doesn't say is unset.
struct AimetSettings {
  std::optional<bool> input_quantized;   // is_input_quantized; false is the same as not said
  std::optional<bool> output_quantized;  // is_output_quantized
  std::optional<bool> quantized;         // is_quantized, of a parameter
  std::optional<bool> symmetric;         // is_symmetric
  std::optional<bool> per_channel;       // per_channel_quantization
  std::optional<ValueRange> range;       // encoding_constraints with both ends
};

using AimetSections = std::map<std::string, AimetSettings, std::less<>>;

struct AimetConfig {
  AimetSettings ops;         // defaults.ops
  AimetSettings parameters;  // defaults.params
  bool strict_symmetric = false;
  bool unsigned_symmetric = false;
  bool per_channel = false;
  // By role ("bias"), and by operator and role ("BatchNormalization/running_mean"), which wins.
  AimetSections parameters_by_role;
  AimetSections op_types;
  std::vector<std::vector<std::string>> supergroups;  // chains of at least two operator types
  bool matmul_add = false;                            // of supergroup_pass_list: MatmulAdd
  AimetSettings model_input;
  AimetSettings model_output;
  std::vector<Warning> warnings;  // keys that are unknown, or known and not followed
  std::string text;               // the JSON object that this was read from; empty for the default
};

// AIMET's default: per-channel weights, symmetric parameters, no biases, asymmetric activations.
const AimetConfig& default_aimet_config();

}  // namespace halftone
