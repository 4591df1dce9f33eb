// What onnxruntime folds into the constant weights of a Conv when it opens a model, done here for weights
// that it will not know: BatchNormalization, Mul and Add with constants behind it. Source: the results of its
// own folding (ConvBNFusion, ConvMulFusion, ConvAddFusion, version 1.30), whose roundings these repeat.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "halftone/model.h"

namespace halftone {

struct FoldedConv {
  // The Conv's weights are multiplied with these, one after the other in float32: a factor for each output
  // channel, or one for all.
  std::vector<std::vector<float>> factors;
  std::optional<std::vector<float>> bias;  // the new one, one value a channel
  std::vector<NodeId> nodes;               // that are no longer needed, in graph order; empty: nothing folds
};

// For node `conv`, whose weight is a constant with one reader. Nodes that make or read a tensor of `kept`,
// other than the weight, stay.
FoldedConv fold_behind(const Model& model, NodeId conv, const std::unordered_set<TensorId>& kept);

// The weight [channels, …] as the folded Conv has it.
void multiply_channels(std::vector<float>& weight, std::size_t channels, const FoldedConv& folded);

}  // namespace halftone
