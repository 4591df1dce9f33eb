// The IR version of a written model: what its tensors need, and what raising it means.
#pragma once

#include <cstdint>
#include <optional>

#include "halftone/data_type.h"
#include "halftone/result.h"
#include "model/onnx_messages.h"

namespace halftone {

// Below this, every initializer must also be listed as a graph input.
inline constexpr std::int64_t kIrWithFreeInitializers = 4;

// The first IR version that has the type (ONNX's history of its TensorProto.DataType).
std::int64_t ir_version_of(DataType type);

// Raises the model's IR version to `needed` if it is lower, and says so by the warning "ir_version_raised".
// When that passes kIrWithFreeInitializers, initializers are taken off the lists of graph inputs, where they
// would from now on count as defaults that a caller may override, which keeps runtimes from treating them as
// constants.
std::optional<Warning> raise_ir_version(onnx::ModelProto& model, std::int64_t needed);

}  // namespace halftone
