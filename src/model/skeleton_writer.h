// From a skeleton and its store to the bytes of a .onnx file. See halftone/writer.h for what the placements
// mean.
#pragma once

#include <memory>

#include "halftone/result.h"
#include "halftone/writer.h"
#include "model/onnx_messages.h"
#include "model/weight_store.h"

namespace halftone {

// The ropes keep `store` alive and hold views into it; the skeleton isn't needed afterwards. Fields come in
// the order in which protobuf writes them. Errors: those of write_model(), and kInvalidGraph for a list of
// integers that can't be decoded.
Result<WrittenModel> write_skeleton(const onnx::ModelProto& skeleton,
                                    const std::shared_ptr<const WeightStore>& store,
                                    const WriteOptions& options);

}  // namespace halftone
