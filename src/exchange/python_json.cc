#include "exchange/python_json.h"

#include <array>

namespace halftone {
namespace {

constexpr std::array<std::string_view, 3> kNumbers = {"-Infinity", "Infinity", "NaN"};

std::size_t length_at(std::string_view text, std::size_t position) {
  for (const std::string_view number : kNumbers)
    if (text.substr(position, number.size()) == number) return number.size();
  return 0;
}

// Behind the string whose opening quote is at `position`.
std::size_t behind_string(std::string_view text, std::size_t position) {
  for (++position; position < text.size(); ++position) {
    if (text[position] == '\\') {
      ++position;
    } else if (text[position] == '"') {
      return position + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string_view without_python_numbers(std::string_view text, std::string& mended) {
  std::size_t kept = 0;  // everything in front of it is in `mended`, once there is one
  for (std::size_t position = 0; position < text.size();) {
    if (text[position] == '"') {
      position = behind_string(text, position);
    } else if (const std::size_t length = length_at(text, position); length > 0) {
      mended.append(text.substr(kept, position - kept)).append("null");
      position += length;
      kept = position;
    } else {
      ++position;
    }
  }
  if (kept == 0) return text;
  mended.append(text.substr(kept));
  return mended;
}

}  // namespace halftone
