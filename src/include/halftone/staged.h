// A model in stages that a run can skip: it then starts at a border between two stages, and is fed what
// crosses that border instead of running what makes it. One session serves starts at all borders.
//
// A stage is an If: one branch holds the nodes of the stage, the other hands on what is fed. What a stage
// makes and something behind it reads crosses each border in between; it is an output of the model, under its
// own name, so that a run from the beginning can tell what to feed later. Behind the last border the nodes
// stay as they are.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

// A graph input that stands for a tensor. It is fed in every run; where the tensor doesn't cross the border
// that a run starts at, any value of its type and rank will do.
struct StageFeed {
  std::string tensor;
  std::string feed;
  DataType type = DataType::kUndefined;
  std::size_t rank = 0;  // 1 where the tensor's isn't known; then the input is declared without one
};

struct StageBorder {
  std::size_t cut = 0;                // which of the cuts that were asked for
  std::vector<std::size_t> crossing;  // indices into StagedModel::feeds
};

struct StagedModel {
  std::shared_ptr<const Model> model;
  std::string start;  // a graph input, int64 [1]: how many stages a run skips; empty without borders
  std::vector<StageFeed> feeds;
  std::vector<StageBorder> borders;  // ascending; a run that skips n stages starts at borders[n - 1]
};

// Borders at `cuts`, each the tensors that are computed in front of it and read behind it, in ascending
// order. A cut is left out where a tensor of it isn't in the model or is constant, where nothing is computed
// between it and the one before, or where an output in `kept`, which every run has to make, lies in front of
// it. Other outputs that lie in a skipped stage have no value in that run, which any tensor of their type may
// stand for. No borders at all, and the model as it is: below opset 9, with control flow in it, or where
// something of unknown type would cross. Linear in the size of the graph. Errors: those of building a model.
Result<StagedModel> staged(const std::shared_ptr<const Model>& model,
                           std::span<const std::vector<std::string>> cuts, std::span<const std::string> kept);

}  // namespace halftone
