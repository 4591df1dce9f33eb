// What the first group of a pattern captures: of the leftmost match the one that a backtracking matcher
// finds.
#include <catch2/catch_all.hpp>
#include <random>
#include <regex>
#include <string>

#include "plan/name_program.h"

namespace halftone {
namespace {

// "-" for no match, or one around the group.
std::string captured(std::string_view pattern, std::string_view name) {
  const Result<NameProgram> program = compile_capture(pattern);
  INFO(pattern);
  REQUIRE(program.ok());
  return std::string(program.value().capture(name).value_or("-"));
}

TEST_CASE("A pattern captures its first group", "[plan][capture]") {
  CHECK(captured(R"(layer(\d+))", "model.layer12.weight") == "12");
  CHECK(captured(R"(^(.*)\.(weight|bias)$)", "encoder.0.weight") == "encoder.0");
  CHECK(captured(R"(^(?:model\.)?(\w+)\.)", "model.head.w") == "head");
  CHECK(captured(R"((q|k|v)_proj)", "l.0.k_proj.weight") == "k");
  CHECK(captured("(x)", "abc") == "-");
  CHECK(captured("a(x)?b", "ab") == "-");
  CHECK(captured("a(x*)b", "ab").empty());
  CHECK(captured("(é.)", "caféx") == "éx");
  CHECK(captured("()", "").empty());
}

TEST_CASE("The leftmost match wins, then the first alternative, then greed or its opposite",
          "[plan][capture]") {
  CHECK(captured("(b|ab)", "cab") == "ab");
  CHECK(captured("(a|ab)", "ab") == "a");
  CHECK(captured("(ab|a)", "ab") == "ab");
  CHECK(captured("(a|ab)$", "ab") == "ab");
  CHECK(captured("(a+)", "baaa") == "aaa");
  CHECK(captured("(a+?)", "baaa") == "a");
  CHECK(captured("(a*?)b", "aab") == "aa");
  CHECK(captured("(a{1,2}?)", "aaa") == "a");
  CHECK(captured("(a?\?)", "a").empty());
  CHECK(captured(R"((.*)/)", "a/b/c") == "a/b");
  CHECK(captured(R"((.*?)/)", "a/b/c") == "a");
  CHECK(captured("(?:(a)|b)*", "ab") == "a");
  CHECK(captured(R"(\b(\w+)\b)", "..ab cd") == "ab");
}

TEST_CASE("A pattern to capture with needs a group", "[plan][capture]") {
  CHECK(compile_capture("conv").error().code == ErrorCode::kInvalidPolicy);
  CHECK(compile_capture("(?:conv)").error().message.find("group") != std::string::npos);
  CHECK(compile_capture("(conv").error().message.find("without") != std::string::npos);
  // A pattern that only matches isn't made longer by what a capture needs.
  const std::string repeated = "(a){" + std::to_string(NameProgram::kMaxInstructions / 2) + "}";
  CHECK(compile_regex(repeated).ok());
  CHECK(compile_capture(repeated).error().code == ErrorCode::kTooLarge);
}

TEST_CASE("A hostile pattern and name take linear time", "[plan][capture]") {
  // Backtracking would take 2^10000 steps.
  CHECK(captured("(?:a*)*(b)", std::string(10000, 'a')) == "-");
  CHECK(captured("(?:a|a)*?(b)", std::string(10000, 'a') + "b") == "b");
}

// Without rounds that may be empty: matchers differ in how they end those.
std::string random_piece(std::mt19937& random, int depth) {
  static const char* const kAtoms[] = {"a", "b", ".", "[ab]", "ab", "ba"};
  if (depth == 0) return kAtoms[random() % std::size(kAtoms)];
  const std::string inner = random_piece(random, depth - 1);
  switch (random() % 6) {
    case 0:
      return "(?:" + inner + "|" + random_piece(random, depth - 1) + ")";
    case 1:
      return inner + random_piece(random, depth - 1);
    case 2:
      return "(?:" + inner + "a)+";
    case 3:
      return "(?:" + inner + ")?";
    case 4:
      return "(?:" + inner + "){1,2}?";
    default:
      return inner;
  }
}

TEST_CASE("Random patterns capture what std::regex does", "[plan][capture]") {
  const auto seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int matches = 0;
  for (int round = 0; round < 500; ++round) {
    const std::string pattern =
        random_piece(random, 2) + "(" + random_piece(random, 3) + ")" + random_piece(random, 1);
    std::string name;
    for (std::size_t length = random() % 9; name.size() < length;)
      name += static_cast<char>('a' + random() % 3);
    INFO(pattern << " on " << name);
    std::smatch found;
    const bool matched = std::regex_search(name, found, std::regex(pattern));
    matches += matched ? 1 : 0;
    CHECK(captured(pattern, name) == (matched ? found[1].str() : "-"));
  }
  CHECK(matches > 50);
}

}  // namespace
}  // namespace halftone
