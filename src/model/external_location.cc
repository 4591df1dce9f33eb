#include "model/external_location.h"

namespace halftone {
namespace {

Error leaves_folder(std::string_view location, std::string_view reason) {
  return {ErrorCode::kExternalDataMissing,
          "The model wants external data from \"" + printable(location) + "\", which " + std::string(reason) +
              ".",
          printable(location),
          "External data must lie in the model's own folder; save the model again with a plain relative file "
          "name."};
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool has_drive(std::string_view location) {
  return location.size() >= 2 && is_letter(location[0]) && location[1] == ':';
}

}  // namespace

Result<std::string> normal_location(std::string_view location) {
  if (location.find('\0') != std::string_view::npos)
    return leaves_folder(location, "contains a NUL character");
  if (location.find('\\') != std::string_view::npos) return leaves_folder(location, "contains a backslash");
  if (location.starts_with('/')) return leaves_folder(location, "is an absolute path");
  if (has_drive(location)) return leaves_folder(location, "names a drive");
  std::string normal;
  while (!location.empty()) {
    const std::size_t slash = location.find('/');
    const std::string_view part = location.substr(0, slash);
    location = slash == std::string_view::npos ? std::string_view{} : location.substr(slash + 1);
    if (part == "..") return leaves_folder(normal + "/..", "leaves the model's folder");
    if (part.empty() || part == ".") continue;
    if (!normal.empty()) normal += '/';
    normal += part;
  }
  if (normal.empty()) return leaves_folder(normal, "is no file name");
  return normal;
}

std::string external_store_path(const std::string& location) {
  return location == "model" || location.starts_with("new/") ? "./" + location : location;
}

}  // namespace halftone
