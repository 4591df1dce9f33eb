// The rank of what Reshape makes where only the length of its target is known.
#pragma once

#include <optional>

#include "model/inference_scope.h"
#include "model/onnx_messages.h"

namespace halftone {

// The output's type with that many open dimensions: a target of n elements makes rank n, whatever they are.
// The library knows that from operator set 14 on; exporters that compute a target from a Shape write older
// ones, too. nullopt for any other operator, and where the target's length or the data's type isn't known.
std::optional<onnx::TypeProto> reshaped_rank(const onnx::NodeProto& node, const InferenceScope& scope);

}  // namespace halftone
