// Whether a model can be quantized at all.
#pragma once

#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

// Errors: kInvalidState with the number of pairs if the model is quantized already.
Result<void> check_not_quantized(const Model& model);

// Errors: kUnsupportedType naming the tensor, if an operand of the operators that targets quantize is
// float16, bfloat16 or double, or if such tensors are the only real numbers in the graph.
Result<void> check_float32(const Graph& graph);

}  // namespace halftone
