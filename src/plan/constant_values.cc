#include "plan/constant_values.h"

#include <cstring>
#include <utility>

#include "plan/wording.h"

namespace halftone {

Result<ConstantValues> constant_values(const Model& model, std::string_view tensor) {
  const TensorId id = model.graph().find_tensor(tensor);
  if (id == kNone || !model.graph().tensor(id).constant) {
    return Error{ErrorCode::kInvalidPolicy, "The model has no constant " + quoted(tensor) + ".",
                 printable(tensor), "Make a new plan for this model."};
  }
  Result<ConstantTensor> constant = model.constant(id);
  if (!constant.ok()) return std::move(constant).error();
  if (constant.value().type != DataType::kFloat) {
    return Error{ErrorCode::kUnsupportedType,
                 quoted(tensor) + " holds " + data_type_name(constant.value().type) + " values, not float32.",
                 printable(tensor), "Leave it in float."};
  }
  const Result<FloatView> values = FloatView::from_bytes(constant.value().bytes);
  if (!values.ok()) return values.error();
  return ConstantValues{std::move(constant.value().dims), values.value()};
}

std::vector<float> copied(const FloatView& values) {
  std::vector<float> copy(values.size());
  if (!copy.empty()) std::memcpy(copy.data(), values.bytes(), copy.size() * sizeof(float));
  return copy;
}

}  // namespace halftone
