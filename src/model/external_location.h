// Where a model says that its external data lies.
#pragma once

#include <string>
#include <string_view>

#include "halftone/result.h"

namespace halftone {

// The location in its shortest form ("./a//b" becomes "a/b"). A file's author chooses it, so one that could
// leave the model's folder is refused: kExternalDataMissing for an absolute path, "..", a backslash, a drive
// letter, a NUL, or nothing at all.
Result<std::string> normal_location(std::string_view location);

// The store's path of an external file: its location, but "./" in front of those that are the store's own
// names ("model", "new/0"), which still names the same file.
std::string external_store_path(const std::string& location);

}  // namespace halftone
