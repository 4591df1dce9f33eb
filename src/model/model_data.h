// Skeleton + store, shared by every Model derived from one file. Private to src/model (it shows the ONNX
// messages).
//
// In the skeleton a tensor whose data is in the store has data_location = EXTERNAL and exactly these
// external_data entries, made and read only by stored_tensor.h: "halftone.path", "halftone.offset",
// "halftone.length", "halftone.field" (a TensorField number). Tensors that were external in the file are
// rewritten to the same form with field kExternal, keeping their original location in "halftone.path" (equal
// to the store's path).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "halftone/graph.h"
#include "halftone/model.h"
#include "halftone/result.h"
#include "model/constant_index.h"
#include "model/onnx_messages.h"  // the one place that includes <onnx/onnx_pb.h>, with its warnings off
#include "model/weight_store.h"

namespace halftone {

class ModelData {
 public:
  onnx::ModelProto skeleton;
  std::shared_ptr<WeightStore> store;
  ModelInfo info;
  std::vector<Warning> warnings;
  std::optional<Graph> graph;  // built once, before the ModelData is shared

  std::vector<ConstantSource> constants;  // one a tensor of the graph

  // Values of folded constants and decoded varint tensors, made on first use.
  mutable std::mutex folded_mutex;
  mutable std::unordered_map<TensorId, ConstantTensor> folded;
  mutable std::vector<std::unique_ptr<std::vector<std::uint8_t>>> folded_bytes;
};

// The end of opening: fills info, infers types and shapes, checks, indexes. `data` has skeleton, store (the
// file's own buffers) and perhaps warnings. Errors: kInvalidGraph (cycle, duplicate names, missing producer,
// no graph …). Inference or checker failures are warnings.
Result<std::shared_ptr<const Model>> finish_model(std::shared_ptr<ModelData> data);

// The end of an edit: as above, but types and shapes are taken over from `base` by name, only what
// `derivation` says is inferred, and nothing is checked. A skeleton of 700 nodes takes about a millisecond.
struct Derivation {
  std::vector<bool> inferred_nodes;  // one flag a node of the new skeleton
  std::unordered_map<std::string, TensorId>
      renamed;  // new name -> tensor of the base graph with the same content
  std::unordered_map<std::string, DataType> retyped =
      {};  // graph inputs and outputs with another element type
};
Result<std::shared_ptr<const Model>> finish_derived(std::shared_ptr<ModelData> data, const ModelData& base,
                                                    const Derivation& derivation);

}  // namespace halftone
