// How Halftone writes JSON: ordered keys, two spaces, floats as short as they read back. Private to
// src/exchange.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "halftone/exchange.h"
#include "halftone/result.h"

namespace halftone {

using Json = nlohmann::ordered_json;

// The shortest decimal that reads back to the same float32, as a JSON number; null for NaN and infinity.
Json float_json(float value);
Json float_list(std::span<const float> values);
// The shortest that reads back to the same double; null for NaN and infinity.
Json double_json(double value);

// Two spaces, one line end at the end. Strings that are not UTF-8 have their bad bytes replaced: a model's
// names are hostile.
std::string json_text(const Json& json);

// The top-level object of a file. Errors: kInvalidPolicy with the byte at which the text stops being JSON, or
// if it isn't an object, or if it is nested deeper than 64.
Result<Json> parse_json_object(std::string_view text, std::string_view what);

// Adds a member without looking for an older one of that name, which ordered_json does by walking all of
// them. Precondition: `object` is an object and has no such key.
void append_member(Json& object, std::string key, Json value);

Json warnings_json(const std::vector<Warning>& warnings);
// The {"halftone", "model_sha256"} start that every file of ours has.
Json file_header(const FileFacts& file);

}  // namespace halftone
