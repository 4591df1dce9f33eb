// What JavaScript says about tensors and formats.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/result.h"
#include "halftone/storage_format.h"

namespace halftone::wasm {

// One of the four float types. Errors: kUnsupportedType.
Result<DataType> float_type_from_js(const std::string& name);
// Errors: kShapeMismatch for dimensions that no tensor has.
Result<std::vector<std::int64_t>> dims_from_js(const emscripten::val& dims);
// nullopt for null and undefined.
std::optional<std::vector<double>> numbers_from_js(const emscripten::val& list);

struct FormatChoice {
  const StorageFormat* format = nullptr;
  std::uint32_t block_size = 0;
};
// Errors: those of find_storage_format and storage_block_size.
Result<FormatChoice> format_choice(const std::string& name, double block);

}  // namespace halftone::wasm
