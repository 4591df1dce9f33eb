#include "model/external_reference.h"

#include <charconv>
#include <optional>
#include <string>

#include "model/external_location.h"

namespace halftone {
namespace {

Error bad_reference(std::string_view name, const std::string& what) {
  return {ErrorCode::kInvalidGraph, "Tensor \"" + std::string(name) + "\" " + what + ".", std::string(name),
          "Save the model and its external data again."};
}

const std::string* find_value(const TensorFacts& facts, std::string_view key) {
  const std::string* found = nullptr;
  for (const auto& [entry_key, value] : facts.external_data) {
    if (entry_key == key) found = &value;  // the last one counts, as in ONNX's own reader
  }
  return found;
}

std::optional<std::uint64_t> parse_offset(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<StoredTensor> external_reference(const TensorFacts& facts, std::string_view name) {
  const std::string* location = find_value(facts, "location");
  if (location == nullptr)
    return bad_reference(name, "says that its data is in another file but not in which");
  Result<std::string> path = normal_location(*location);
  if (!path) return path.error();
  const std::string* offset_text = find_value(facts, "offset");
  const std::optional<std::uint64_t> offset = offset_text != nullptr ? parse_offset(*offset_text) : 0;
  if (!offset) return bad_reference(name, "gives an offset of external data that is no number");
  const std::optional<std::uint64_t> expected = raw_byte_count(facts.type, facts.dims);
  const std::string* length_text = find_value(facts, "length");
  const std::optional<std::uint64_t> length = length_text != nullptr ? parse_offset(*length_text) : expected;
  if (!length) {
    return bad_reference(name, length_text != nullptr ? "gives a length of external data that is no number"
                                                      : "has external data of unknown length");
  }
  if (facts.type == DataType::kString)
    return bad_reference(name, "has strings as external data, which ONNX doesn't allow");
  if (expected && *expected != *length) {
    return bad_reference(name, "has " + std::to_string(*length) +
                                   " bytes of external data, but its type and dimensions ask for " +
                                   std::to_string(*expected));
  }
  if (*length > UINT64_MAX - *offset) return bad_reference(name, "has external data beyond any file's end");
  return StoredTensor{std::move(path).value(), *offset, *length, TensorField::kExternal};
}

}  // namespace halftone
