// What Python's json module writes that isn't JSON. Private to src/exchange.
#pragma once

#include <string>
#include <string_view>

namespace halftone {

// The text with null in place of NaN, Infinity and -Infinity outside of strings. A view of `text` if there is
// none, else of `mended`, which is filled then.
std::string_view without_python_numbers(std::string_view text, std::string& mended);

}  // namespace halftone
