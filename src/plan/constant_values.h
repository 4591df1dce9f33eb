// The values of a constant float32 tensor, by name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "halftone/float_view.h"
#include "halftone/model.h"
#include "halftone/result.h"

namespace halftone {

struct ConstantValues {
  std::vector<std::int64_t> dims;
  FloatView values;  // lives as long as the model
};

// Errors: kInvalidPolicy if there is no such tensor or it isn't constant; kUnsupportedType if it isn't
// float32; else those of Model::constant.
Result<ConstantValues> constant_values(const Model& model, std::string_view tensor);

// A copy that is aligned, for small tensors.
std::vector<float> copied(const FloatView& values);

}  // namespace halftone
