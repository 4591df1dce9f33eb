// Bits, block size and axis of each weight for mixed 4- and 8-bit quantization of weights: ModelOpt's
// get_layer_precision_mapping and get_layer_info.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "halftone/result.h"
#include "plan/tensorrt/policy_graph.h"

namespace halftone::tensorrt {

struct LayerPrecision {
  int precision = 4;              // bits: 4 or 8
  std::int64_t block_size = 128;  // elements along `axis` with one scale; -1: the whole channel
  std::int64_t axis = 0;
  bool operator==(const LayerPrecision&) const = default;
};

// By tensor name.
using LayerPrecisions = std::map<std::string, LayerPrecision, std::less<>>;

struct LayerPrecisionOptions {
  // Regular expressions that node names have to start with. Only Gemm and MatMul look at them.
  std::vector<std::string> nodes_to_exclude = {"/lm_head"};
  std::int64_t block_size = 128;
  std::int64_t quantize_axis = 0;
};

// The weight (input 1, stored data, not of rank 1) of every Gemm and MatMul that isn't excluded and whose
// input 0 isn't stored data: 8 bits with one scale a channel (block size -1, axis 0) for nodes that
// `layers_8bit` lists (see validate_8bit_layers), else 4 bits with the options' block size and axis.
//
// Without a list (nullopt or empty) it is chosen among the nodes named
// /model/layers.<k>/attn/qkv_proj/MatMul,
// .../attn/v_proj/..., .../self_attn/qkv_proj/..., .../self_attn/v_proj/... and .../mlp/down_proj/...: of
// the n nodes of each kind, in graph order, the first n/8, the last n/8, and every third of those between. A
// weight that two nodes read has the precision of the later one. Nodes without a name go by the peer's
// (peer_node_names). Errors: kInvalidPolicy for a list that can't be read.
Result<LayerPrecisions> get_layer_precision_mapping(const PolicyGraph& graph,
                                                    const std::optional<std::string>& layers_8bit = {},
                                                    const LayerPrecisionOptions& options = {});

struct LayerInfoOptions : LayerPrecisionOptions {
  bool enable_mixed_quant = false;
  std::string layers_8bit;  // separated by commas
  std::int64_t gather_block_size = 32;
  std::optional<std::int64_t> gather_quantize_axis;
};

// get_layer_precision_mapping's answer if mixed precision or a list of layers is asked for; with a Gather
// axis also 4 bits in blocks of gather_block_size along it for input 0 of every Gather, stored data or not,
// excluded or not. nullopt if none of these is asked for. Errors: kInvalidPolicy as above.
Result<std::optional<LayerPrecisions>> get_layer_info(const PolicyGraph& graph,
                                                      const LayerInfoOptions& options = {});

}  // namespace halftone::tensorrt
