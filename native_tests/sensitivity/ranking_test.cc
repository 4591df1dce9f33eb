#include <catch2/catch_all.hpp>
#include <limits>
#include <string>
#include <vector>

#include "halftone/sensitivity_results.h"

namespace halftone {
namespace {

std::string order(std::vector<ScoredSite> rows, bool higher_is_worse) {
  rank(rows, higher_is_worse);
  std::string names;
  for (const ScoredSite& row : rows) names += row.name;
  return names;
}

TEST_CASE("Ties keep the order they came in, in both directions", "[sensitivity][ranking]") {
  const std::vector<ScoredSite> rows = {{"a", 30, ""}, {"b", 10, ""}, {"c", 30, ""}, {"d", 10, ""}};
  CHECK(order(rows, false) == "bdac");
  CHECK(order(rows, true) == "acbd");
}

TEST_CASE("NaN ranks as worst in both directions", "[sensitivity][ranking]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ScoredSite> rows = {{"a", 30, ""}, {"b", nan, ""}, {"c", 10, ""}, {"d", nan, ""}};
  CHECK(order(rows, false) == "bdca");
  CHECK(order(rows, true) == "bdac");
}

TEST_CASE("Ranking nothing gives nothing", "[sensitivity][ranking]") { CHECK(order({}, false).empty()); }

}  // namespace
}  // namespace halftone
