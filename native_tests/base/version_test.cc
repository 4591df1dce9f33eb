#include "halftone/version.h"

#include <algorithm>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

namespace halftone {
namespace {

TEST_CASE("version: three numbers, equal to the project's", "[base]") {
  REQUIRE(kVersion == std::string_view(HALFTONE_TEST_PROJECT_VERSION));
  REQUIRE(std::count(kVersion.begin(), kVersion.end(), '.') == 2);
}

TEST_CASE("version: the commit is twelve hex digits or says unknown", "[base]") {
  const std::string_view commit = version_commit();
  if (commit != "unknown") {
    REQUIRE(commit.size() == 12);
    REQUIRE(commit.find_first_not_of("0123456789abcdef") == std::string_view::npos);
  }
}

}  // namespace
}  // namespace halftone
