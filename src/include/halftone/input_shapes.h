// A model for inputs of given shapes only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

using InputShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

// The same model with these dimensions declared for its graph inputs, and shapes inferred anew from them;
// what the model itself declares about other tensors' dimensions is dropped, since it may be about other
// sizes. Inputs that aren't listed stay as declared; for an empty list it is `model` itself. Linear in the
// size of the skeleton. Errors: kInvalidPolicy for a name that is no graph input, kShapeMismatch for a rank
// or a dimension other than a declared one and for a negative dimension, and those of opening a model.
Result<std::shared_ptr<const Model>> with_input_shapes(const std::shared_ptr<const Model>& model,
                                                       const InputShapes& shapes);

}  // namespace halftone
