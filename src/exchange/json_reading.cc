#include "exchange/json_reading.h"

#include <cmath>
#include <limits>

namespace halftone {
namespace {

const Json& empty_object() {
  static const Json kEmpty = Json::object();
  return kEmpty;
}

}  // namespace

JsonReader::JsonReader(const Json& json, JsonFault& fault, std::string path)
    : json_(&json), fault_(&fault), path_(std::move(path)) {}

void JsonReader::fail(const char* key, std::string_view what) {
  if (fault_->error) return;
  const std::string where = *key == '\0' ? path_ : path_ + "." + key;
  fault_->error =
      Error{ErrorCode::kInvalidPolicy,
            "In the " + fault_->what + " file, " + printable(where) + " " + std::string(what) + ".", where,
            "Give a file that Halftone wrote, or mend it there."};
}

void JsonReader::fail_with(const Error& error) {
  if (!fault_->error) fault_->error = error;
}

std::string JsonReader::json_of(const char* key) {
  const Json* value = member(key);
  return value == nullptr ? "" : value->dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json* JsonReader::member(const char* key) {
  if (!json_->is_object()) {
    fail("", "is not an object");
    return nullptr;
  }
  const auto found = json_->find(key);
  if (found == json_->end()) {
    fail(key, "is missing");
    return nullptr;
  }
  return &*found;
}

bool JsonReader::has(const char* key) const {
  if (!json_->is_object()) return false;
  const auto found = json_->find(key);
  return found != json_->end() && !found->is_null();
}

std::string JsonReader::text(const char* key) {
  const Json* value = member(key);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  fail(key, "is not a text");
  return {};
}

std::string JsonReader::text_or(const char* key, std::string_view otherwise) {
  return has(key) ? text(key) : std::string(otherwise);
}

std::optional<std::string> JsonReader::optional_text(const char* key) {
  if (!has(key)) return std::nullopt;
  return text(key);
}

std::vector<std::string> JsonReader::texts(const char* key) {
  std::vector<std::string> out;
  const Json* value = member(key);
  if (value == nullptr) return out;
  if (!value->is_array()) fail(key, "is not a list");
  for (const Json& entry : *value) {
    if (!entry.is_string()) {
      fail(key, "holds something that is not a text");
      return out;
    }
    out.push_back(entry.get<std::string>());
  }
  return out;
}

bool JsonReader::boolean(const char* key) {
  const Json* value = member(key);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  fail(key, "is not true or false");
  return false;
}

bool JsonReader::boolean_or(const char* key, bool otherwise) { return has(key) ? boolean(key) : otherwise; }

std::int64_t JsonReader::integer(const char* key, std::int64_t lowest, std::int64_t highest) {
  const Json* value = member(key);
  if (value == nullptr) return lowest;
  if (!value->is_number_integer()) {
    fail(key, "is not a whole number");
    return lowest;
  }
  // An unsigned number above the int64 range must not wrap into it.
  const bool huge =
      value->is_number_unsigned() &&
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::int64_t number = huge ? 0 : value->get<std::int64_t>();
  if (huge || number < lowest || number > highest) {
    fail(key, "is outside " + std::to_string(lowest) + " to " + std::to_string(highest));
    return lowest;
  }
  return number;
}

std::int64_t JsonReader::integer_or(const char* key, std::int64_t otherwise, std::int64_t lowest,
                                    std::int64_t highest) {
  return has(key) ? integer(key, lowest, highest) : otherwise;
}

NumberFormat JsonReader::format(const char* key) {
  const std::string name = text(key);
  const std::optional<NumberFormat> format = number_format_from_name(name);
  if (!format) fail(key, "names no number format that Halftone knows");
  return format.value_or(NumberFormat::kInt8);
}

double JsonReader::number(const char* key) {
  const Json* value = member(key);
  if (value == nullptr || value->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value->is_number()) return value->get<double>();
  fail(key, "is not a number");
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<float> JsonReader::floats(const char* key) {
  std::vector<float> out;
  const Json* value = member(key);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    fail(key, "is not a list");
    return out;
  }
  out.reserve(value->size());
  for (const Json& entry : *value) {
    if (!entry.is_number() && !entry.is_null()) {
      fail(key, "holds something that is not a number");
      return out;
    }
    out.push_back(entry.is_null() ? std::numeric_limits<float>::quiet_NaN()
                                  : static_cast<float>(entry.get<double>()));
  }
  return out;
}

std::vector<std::int32_t> JsonReader::integers(const char* key) {
  std::vector<std::int32_t> out;
  const Json* value = member(key);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    fail(key, "is not a list");
    return out;
  }
  out.reserve(value->size());
  for (const Json& entry : *value) {
    const bool whole = entry.is_number_integer();
    const double number = whole ? entry.get<double>() : 0.0;
    if (!whole || std::abs(number) > 2147483647.0) {
      fail(key, "holds something that is not a 32-bit whole number");
      return out;
    }
    out.push_back(static_cast<std::int32_t>(number));
  }
  return out;
}

JsonReader JsonReader::object(const char* key) {
  const Json* value = member(key);
  if (value != nullptr && !value->is_object()) fail(key, "is not an object");
  return JsonReader(value != nullptr && value->is_object() ? *value : empty_object(), *fault_,
                    path_ + "." + key);
}

std::vector<JsonReader> JsonReader::list(const char* key) {
  std::vector<JsonReader> out;
  const Json* value = member(key);
  if (value == nullptr) return out;
  if (!value->is_array()) {
    fail(key, "is not a list");
    return out;
  }
  for (std::size_t i = 0; i < value->size(); ++i)
    out.emplace_back((*value)[i], *fault_, path_ + "." + key + "[" + std::to_string(i) + "]");
  return out;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members(const char* key) {
  std::vector<std::pair<std::string, JsonReader>> out;
  const Json* value = member(key);
  if (value == nullptr) return out;
  if (!value->is_object()) {
    fail(key, "is not an object");
    return out;
  }
  for (const auto& [name, entry] : value->items())
    out.emplace_back(name, JsonReader(entry, *fault_, path_ + "." + key + "[\"" + printable(name) + "\"]"));
  return out;
}

std::vector<Warning> JsonReader::warnings(const char* key) {
  std::vector<Warning> out;
  for (JsonReader& entry : list(key))
    out.push_back(
        Warning{entry.text_or("code", ""), entry.text_or("message", ""), entry.text_or("where", "")});
  return out;
}

std::pair<std::string, std::int32_t> JsonReader::text_and_index() {
  const bool pair =
      json_->is_array() && json_->size() == 2 && (*json_)[0].is_string() && (*json_)[1].is_number_integer();
  const double index = pair ? (*json_)[1].get<double>() : -1.0;
  if (!pair || index < 0 || index > 1e6) {
    fail("", "is not a pair of a node and an input number");
    return {};
  }
  return {(*json_)[0].get<std::string>(), static_cast<std::int32_t>(index)};
}

std::optional<std::pair<double, double>> JsonReader::two_numbers_or_null() {
  if (json_->is_null()) return std::nullopt;
  if (json_->is_array() && json_->size() == 2 && (*json_)[0].is_number() && (*json_)[1].is_number())
    return std::pair((*json_)[0].get<double>(), (*json_)[1].get<double>());
  fail("", "is neither a pair of numbers nor null");
  return std::nullopt;
}

}  // namespace halftone
