// Preconditions of the ONNX library's inference functions that the library itself doesn't check. Without them
// a hostile file can divide by zero, loop for hours or read outside an array there.
#pragma once

#include <optional>
#include <string>

#include "model/onnx_library.h"

namespace halftone {

// What keeps the node from being inferred, as the end of the sentence "the node …"; nullopt if nothing does.
std::optional<std::string> unsafe_to_infer(const onnx::NodeProto& node,
                                           const onnx::InferenceContext& context);

}  // namespace halftone
