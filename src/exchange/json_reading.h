// Reading a JSON file without a check at every call: the first fault is remembered with its path, and
// everything read after it is empty. Look at JsonFault::error once, at the end. Private to src/exchange.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange/json_text.h"
#include "halftone/number_format.h"
#include "halftone/result.h"

namespace halftone {

struct JsonFault {
  explicit JsonFault(std::string_view file_kind) : what(file_kind) {}
  std::string what;  // "plan", "encodings", …
  std::optional<Error> error;
};

// A view of one object or array of the file, which has to outlive it, as has the fault.
class JsonReader {
 public:
  JsonReader(const Json& json, JsonFault& fault, std::string path = "$");

  // False for a missing key and for null.
  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] std::string text(const char* key);
  [[nodiscard]] std::string text_or(const char* key, std::string_view otherwise);
  [[nodiscard]] std::optional<std::string> optional_text(const char* key);
  [[nodiscard]] std::vector<std::string> texts(const char* key);
  [[nodiscard]] bool boolean(const char* key);
  [[nodiscard]] bool boolean_or(const char* key, bool otherwise);
  // A whole number in [lowest, highest].
  [[nodiscard]] std::int64_t integer(const char* key, std::int64_t lowest, std::int64_t highest);
  [[nodiscard]] std::int64_t integer_or(const char* key, std::int64_t otherwise, std::int64_t lowest,
                                        std::int64_t highest);
  [[nodiscard]] NumberFormat format(const char* key);
  // null reads as NaN: that is how non-finite numbers are written.
  [[nodiscard]] double number(const char* key);
  // Numbers, rounded to float32; null reads as NaN.
  [[nodiscard]] std::vector<float> floats(const char* key);
  [[nodiscard]] std::vector<std::int32_t> integers(const char* key);
  [[nodiscard]] JsonReader object(const char* key);
  // Readers of an array's elements.
  [[nodiscard]] std::vector<JsonReader> list(const char* key);
  // Readers of an object's members, in file order.
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members(const char* key);
  [[nodiscard]] std::vector<Warning> warnings(const char* key);
  // This element is ["name", 3].
  [[nodiscard]] std::pair<std::string, std::int32_t> text_and_index();
  // This element is [0.5, 1] or null.
  [[nodiscard]] std::optional<std::pair<double, double>> two_numbers_or_null();

  template <typename T, std::size_t N>
  [[nodiscard]] T choice(const char* key, const std::array<T, N>& values, std::string_view (*name)(T)) {
    const std::string wanted = text(key);
    for (const T value : values)
      if (name(value) == wanted) return value;
    fail(key, "is not one of the known words");
    return values[0];
  }

  // The text of a member, for a reader of its own. Empty if it is missing.
  [[nodiscard]] std::string json_of(const char* key);

  // Records what another reader found. Only the first fault counts.
  void fail_with(const Error& error);
  // Records a fault at `key` of this object: "<path>.<key> <what>". Only the first one counts.
  void fail(const char* key, std::string_view what);

 private:
  // nullptr (and a fault) if the key is missing.
  [[nodiscard]] const Json* member(const char* key);

  const Json* json_;
  JsonFault* fault_;
  std::string path_;
};

}  // namespace halftone
