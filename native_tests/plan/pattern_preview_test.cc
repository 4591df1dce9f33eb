// What patterns take, by themselves and whether or not another takes it too.
#include "halftone/pattern_preview.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;

std::vector<PatternMatch> preview(const Names& patterns) {
  const auto model = two_convs().open();
  Result<std::vector<PatternMatch>> matches = preview_patterns(*model, patterns);
  REQUIRE(matches.ok());
  return matches.value();
}

TEST_CASE("A preview lists nodes and tensors of each pattern, also what an earlier one takes", "[plan]") {
  const auto matches = preview({"op:Conv", "first", "glob:w?", "re:^[wb]2$"});
  REQUIRE(matches.size() == 4);
  CHECK(matches[0].nodes == Names{"first", "second"});
  CHECK(matches[0].tensors.empty());
  CHECK(matches[1].nodes == Names{"first"});
  CHECK(matches[1].tensors.empty());
  CHECK(matches[2].tensors == Names{"w1", "w2"});
  CHECK(matches[3].tensors == Names{"w2", "b2"});
  for (const PatternMatch& match : matches) CHECK(match.near_misses.empty());
}

TEST_CASE("A preview of a pattern without a match has near misses", "[plan]") {
  const auto matches = preview({"frist", "op:Cnv", "glob:*secnd*"});
  CHECK(matches[0].near_misses.front() == "first");
  CHECK(matches[1].near_misses == Names{"Conv"});
  CHECK(matches[2].near_misses.front() == "second");
  CHECK(preview({}).empty());
}

TEST_CASE("A preview refuses a pattern that can't be read", "[plan]") {
  const auto model = two_convs().open();
  const Names broken{"re:("};
  const Result<std::vector<PatternMatch>> matches = preview_patterns(*model, broken);
  REQUIRE_FALSE(matches.ok());
  CHECK(matches.error().code == ErrorCode::kInvalidPolicy);
}

}  // namespace
}  // namespace halftone::test
