// What a model says about itself.
#pragma once

#include "halftone/model.h"
#include "model/onnx_messages.h"

namespace halftone {

// All of ModelInfo but file_bytes. Sums saturate. Recursion is bounded by kMaxSubgraphDepth.
ModelInfo model_info(const onnx::ModelProto& model);

}  // namespace halftone
