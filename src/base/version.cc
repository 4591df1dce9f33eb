#include "halftone/version.h"

#include "base/commit.h"

namespace halftone {

std::string_view version_commit() { return kBuildCommit; }

}  // namespace halftone
