#include "exchange/json_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "halftone/version.h"

namespace halftone {
namespace {

constexpr int kMaxDepth = 64;

// Nesting depth, by one pass that knows strings. nlohmann's parser builds without recursion, but its
// destructor and our own walks shouldn't meet a million brackets either.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

// nlohmann's own writer doesn't always find the shortest text of a double, so that some float32 values come
// out with 17 digits.
void append_number(double value, std::string& text) {
  std::array<char, 32> digits{};
  const std::to_chars_result end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end.ptr);
}

void append_string(const std::string& value, std::string& text) {
  text += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_line(std::size_t depth, std::string& text) {
  text += '\n';
  text.append(2 * depth, ' ');
}

// What we write is a handful of levels deep, so recursion is fine here.
void append_value(const Json& json, std::size_t depth, std::string& text) {  // NOLINT(misc-no-recursion)
  if (json.is_number_float()) {
    append_number(json.get<double>(), text);
  } else if (json.is_string()) {
    append_string(json.get_ref<const std::string&>(), text);
  } else if (!json.is_structured() || json.empty()) {
    text += json.dump();
  } else {
    const bool object = json.is_object();
    text += object ? '{' : '[';
    bool first = true;
    for (const auto& [key, value] : json.items()) {
      if (!first) text += ',';
      first = false;
      append_line(depth + 1, text);
      if (object) {
        append_string(key, text);
        text += ": ";
      }
      append_value(value, depth + 1, text);
    }
    append_line(depth, text);
    text += object ? '}' : ']';
  }
}

}  // namespace

Json float_json(float value) {
  if (!std::isfinite(value)) return nullptr;
  // The shortest text of the float, read as a double: the JSON writer then prints that same text, since no
  // shorter decimal reads back to that double.
  std::array<char, 32> text{};
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size() - 1, value);
  *end.ptr = '\0';
  return std::strtod(text.data(), nullptr);
}

Json float_list(std::span<const float> values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(float_json(value));
  return list;
}

Json double_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string json_text(const Json& json) {
  std::string text;
  append_value(json, 0, text);
  text += '\n';
  return text;
}

Result<Json> parse_json_object(std::string_view text, std::string_view what) {
  const std::string file(what);
  const std::string next = "Give a file that Halftone wrote, or mend it.";
  if (too_deep(text))
    return Error{ErrorCode::kInvalidPolicy, "The " + file + " file is nested deeper than 64 levels.", "",
                 next};
  Json json = Json::parse(text.begin(), text.end(), nullptr,
                          /*allow_exceptions=*/false);
  if (json.is_discarded())
    return Error{ErrorCode::kInvalidPolicy, "The " + file + " file is not valid JSON.", "", next};
  if (!json.is_object())
    return Error{ErrorCode::kInvalidPolicy, "The " + file + " file does not hold a JSON object.", "$", next};
  return json;
}

void append_member(Json& object, std::string key, Json value) {
  object.get_ref<Json::object_t&>().Json::object_t::Container::emplace_back(std::move(key), std::move(value));
}

Json warnings_json(const std::vector<Warning>& warnings) {
  Json list = Json::array();
  for (const Warning& warning : warnings)
    list.push_back(Json{{"code", warning.code}, {"message", warning.message}, {"where", warning.where}});
  return list;
}

Json file_header(const FileFacts& file) {
  return Json{{"halftone", kVersion}, {"model_sha256", file.sha256}};
}

}  // namespace halftone
