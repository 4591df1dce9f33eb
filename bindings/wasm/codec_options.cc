#include "codec_options.h"

#include "conversions.h"

namespace halftone::wasm {

Result<DataType> float_type_from_js(const std::string& name) {
  for (const DataType type : {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kBfloat16}) {
    if (data_type_name(type) == name) return type;
  }
  return Error{
      ErrorCode::kUnsupportedType,
      "Number formats hold float32, double, float16 or bfloat16 values, not " + printable(name) + ".", "",
      "Convert the array to float32."};
}

Result<std::vector<std::int64_t>> dims_from_js(const val& dims) {
  std::vector<std::int64_t> shape;
  const auto rank = dims["length"].as<std::size_t>();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Result<std::uint64_t> dimension = size_from_js(dims[axis].as<double>());
    if (!dimension.ok()) return dimension.error();
    shape.push_back(static_cast<std::int64_t>(dimension.value()));
  }
  if (!element_count(shape)) {
    return Error{ErrorCode::kShapeMismatch, "The tensor's dimensions are too large.", "",
                 "Check the dimensions."};
  }
  return shape;
}

std::optional<std::vector<double>> numbers_from_js(const val& list) {
  if (list.isNull() || list.isUndefined()) return std::nullopt;
  return emscripten::convertJSArrayToNumberVector<double>(list);
}

Result<FormatChoice> format_choice(const std::string& name, double block) {
  const Result<const StorageFormat*> format = find_storage_format(name);
  if (!format.ok()) return format.error();
  const Result<std::uint64_t> wanted = size_from_js(block);
  if (!wanted.ok()) {
    return Error{ErrorCode::kInvalidPolicy, "A block size is a whole number from 1 on.", "",
                 "Leave it out for the format's own."};
  }
  const Result<std::uint32_t> size = storage_block_size(*format.value(), wanted.value());
  if (!size.ok()) return size.error();
  return FormatChoice{format.value(), size.value()};
}

}  // namespace halftone::wasm
