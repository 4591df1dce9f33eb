#include "plan/tensorrt/layer_names.h"

#include <algorithm>

namespace halftone::tensorrt {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";

// Components of the name joined with ".".
std::string components(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
  std::string joined(name);
  std::replace(joined.begin(), joined.end(), '/', '.');
  return joined;
}

bool is_layer_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
         c == '.' || c == '-';
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) + 1 - begin);
}

std::vector<std::string_view> between_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

LayerList::LayerList(const std::vector<std::string>& layers) {
  for (const std::string& layer : layers) {
    std::string joined = components(layer);
    component_counts_.insert(static_cast<std::size_t>(std::count(joined.begin(), joined.end(), '.')) + 1);
    layers_.insert(std::move(joined));
  }
}

bool LayerList::should_quantize_to_8bit(std::string_view layer_name) const {
  const std::string name = components(layer_name);
  std::vector<std::size_t> begins = {0};  // of the components, and where one more would begin
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '.') begins.push_back(i + 1);
  }
  begins.push_back(name.size() + 1);
  for (const std::size_t count : component_counts_) {
    for (std::size_t first = 0; first + count < begins.size(); ++first) {
      const std::size_t length = begins[first + count] - 1 - begins[first];
      if (layers_.contains(name.substr(begins[first], length))) return true;
    }
  }
  return false;
}

bool validate_8bit_layers(std::string_view layers) {
  if (layers.empty()) return true;
  const std::vector<std::string_view> names = between_commas(layers);
  return std::all_of(names.begin(), names.end(), [](std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), is_layer_character);
  });
}

std::vector<std::string> split_8bit_layers(std::string_view layers) {
  std::vector<std::string> names;
  for (const std::string_view name : between_commas(layers)) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

}  // namespace halftone::tensorrt
