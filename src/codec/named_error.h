// Errors about something that has a name in the model.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "halftone/result.h"

namespace halftone::codec {

// "The <noun> "<name>": <what was wrong>", with the name as `where`.
inline Error named(std::string_view noun, std::string_view name, Error error) {
  error.message = "The " + std::string(noun) + " \"" + printable(name) + "\": " + error.message;
  error.where = printable(name);
  return error;
}

}  // namespace halftone::codec
