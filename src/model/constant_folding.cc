#include "model/constant_folding.h"

#include <utility>

namespace halftone {
namespace {

using Kind = ConstantSource::Kind;

TensorBytes attribute_bytes(const ConstantSource& source) {
  TensorBytes made;
  made.type = source.type;
  made.dims = source.dims;
  const onnx::AttributeProto& attribute = *source.attribute;
  const auto own = [&](auto value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    made.owned.assign(bytes, bytes + sizeof(value));
    made.view = made.owned;
  };
  const auto borrow = [&](const auto& values) {
    made.view = {reinterpret_cast<const std::uint8_t*>(values.data()),
                 static_cast<std::size_t>(values.size()) * sizeof(*values.data())};
  };
  if (attribute.name() == "value_float") own(attribute.f());
  if (attribute.name() == "value_int") own(attribute.i());
  if (attribute.name() == "value_floats") borrow(attribute.floats());
  if (attribute.name() == "value_ints") borrow(attribute.ints());
  return made;
}

void apply(const ConstantSource& step, TensorBytes& value) {
  if (step.kind == Kind::kTranspose) {
    value.owned = transpose_values(value.view, data_type_bits(value.type) / 8, value.dims, step.permutation);
    value.view = value.owned;
  } else if (step.kind == Kind::kCast) {
    value.owned = cast_values(value.view, value.type, step.type);
    value.view = value.owned;
  }
  value.type = step.type;
  value.dims = step.dims;
}

}  // namespace

Result<TensorBytes> fold_constant(const std::vector<ConstantSource>& sources, TensorId id,
                                  const WeightStore& store) {
  std::vector<const ConstantSource*> steps;  // at most 2 * kMaxFoldSteps + 1
  const ConstantSource* source = &sources[static_cast<std::size_t>(id)];
  while (source->from != kNone) {
    steps.push_back(source);
    source = &sources[static_cast<std::size_t>(source->from)];
  }
  if (source->kind == Kind::kNotConstant) {
    return Error{ErrorCode::kInvalidState, "The value of a tensor was asked for that isn't constant.", "",
                 ""};
  }
  Result<TensorBytes> value =
      source->kind == Kind::kTensor ? tensor_bytes(*source->tensor, store) : attribute_bytes(*source);
  if (!value.ok()) return value;
  for (std::size_t i = steps.size(); i > 0; --i) apply(*steps[i - 1], value.value());
  return value;
}

}  // namespace halftone
