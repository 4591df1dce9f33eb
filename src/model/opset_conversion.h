// Raising the version of the default operator set: see Model::with_opset.
#pragma once

#include <cstdint>
#include <memory>

#include "halftone/result.h"
#include "model/model_data.h"

namespace halftone {

// Nodes whose operator means the same at both versions stay untouched; the others go through the ONNX library
// one by one (onnx_door.h) and keep their name, their outputs' names, and every attribute that the conversion
// doesn't change. New nodes have no name; new constants are initializers of the graph that the node is in.
// Functions of the model stay as they are if their operators mean the same. Errors: kUnsupportedOpset: a
// version below the present one or above kNewestKnownOpset, a model without the default operator set, an
// operator that is not known or can't be converted, a function that would need conversion.
Result<std::shared_ptr<const Model>> convert_opset(const ModelData& base, std::int64_t version);

}  // namespace halftone
