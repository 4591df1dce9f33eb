#include <catch2/catch_test_macros.hpp>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "plan/near_misses.h"
#include "plan/pattern.h"

namespace halftone {
namespace {

bool regex_matches(std::string_view pattern, std::string_view name) {
  const Result<NameProgram> program = compile_regex(pattern);
  INFO(pattern);
  REQUIRE(program.ok());
  return program.value().matches(name);
}

bool glob_matches(std::string_view pattern, std::string_view name) {
  const Result<NameProgram> program = compile_glob(pattern);
  INFO(pattern);
  REQUIRE(program.ok());
  return program.value().matches(name);
}

Error parse_error(std::string_view text) {
  const Result<Pattern> pattern = Pattern::parse(text);
  INFO(text);
  REQUIRE_FALSE(pattern.ok());
  return pattern.error();
}

}  // namespace

TEST_CASE("A pattern's prefix decides what it is", "[plan]") {
  const auto parsed = [](std::string_view text) {
    Result<Pattern> pattern = Pattern::parse(text);
    REQUIRE(pattern.ok());
    return std::move(pattern).value();
  };
  const Pattern exact = parsed("layer1/conv*");
  CHECK(exact.matches_name("layer1/conv*"));
  CHECK_FALSE(exact.matches_name("layer1/conv1"));
  CHECK_FALSE(exact.matches_operator("layer1/conv*"));
  const Pattern op = parsed("op:Conv");
  CHECK(op.matches_operator("Conv"));
  CHECK_FALSE(op.matches_operator("ConvTranspose"));
  CHECK_FALSE(op.matches_operator("conv"));
  CHECK_FALSE(op.matches_name("Conv"));
  const Pattern glob = parsed("glob:layer?/*");
  CHECK(glob.matches_name("layer1/a/b"));
  CHECK(glob.text() == "glob:layer?/*");
  CHECK(glob.body() == "layer?/*");
  CHECK(parsed("re:conv$").matches_name("my_conv"));
  for (const char* empty : {"", "glob:", "re:", "op:"})
    CHECK(parse_error(empty).code == ErrorCode::kInvalidPolicy);
}

TEST_CASE("A glob matches whole names", "[plan]") {
  CHECK(glob_matches("*", ""));
  CHECK(glob_matches("*", "a/b\nc"));
  CHECK(glob_matches("a*c", "ac"));
  CHECK(glob_matches("a*c", "abcbc"));
  CHECK_FALSE(glob_matches("a*c", "abcd"));
  CHECK_FALSE(glob_matches("b", "abc"));
  CHECK(glob_matches("?", "\xC3\xA9"));  // one character of two bytes
  CHECK_FALSE(glob_matches("?", "ab"));
  CHECK(glob_matches("conv[0-3_].w", "conv_.w"));
  CHECK(glob_matches("conv[0-3_].w", "conv2.w"));
  CHECK_FALSE(glob_matches("conv[0-3_].w", "conv4.w"));
  CHECK_FALSE(glob_matches("conv[0-3_].w", "conv2xw"));
  CHECK(glob_matches("[!0-9]", "a"));
  CHECK_FALSE(glob_matches("[!0-9]", "7"));
  CHECK(glob_matches("[]]", "]"));
  CHECK(glob_matches("\\*\\[", "*["));
  CHECK_FALSE(glob_matches("\\*", "a"));
  CHECK(glob_matches("a(b|c)+", "a(b|c)+"));
  CHECK(parse_error("glob:conv[0").code == ErrorCode::kInvalidPolicy);
  CHECK(parse_error("glob:[z-a]").code == ErrorCode::kInvalidPolicy);
  CHECK(parse_error("glob:" + std::string(1001, 'a')).code == ErrorCode::kTooLarge);
}

TEST_CASE("A regular expression matches anywhere unless anchored", "[plan]") {
  CHECK(regex_matches("conv", "my_conv_1"));
  CHECK_FALSE(regex_matches("^conv", "my_conv_1"));
  CHECK(regex_matches("^my.*1$", "my_conv_1"));
  CHECK(regex_matches("^(a|bc)*d?$", "abcabcd"));
  CHECK_FALSE(regex_matches("^(a|bc)*d?$", "abcabd"));
  CHECK(regex_matches("^x{2,3}$", "xxx"));
  CHECK_FALSE(regex_matches("^x{2,3}$", "xxxx"));
  CHECK(regex_matches("^x{2,}$", "xxxxx"));
  CHECK(regex_matches("^x{0}y$", "y"));
  CHECK(regex_matches("^(?:ab){2}$", "abab"));
  CHECK(regex_matches("^\\d+\\.\\w+\\s$", "12.a_b "));
  CHECK(regex_matches("^[^\\d/]+$", "abc-"));
  CHECK_FALSE(regex_matches("^[^\\d/]+$", "ab/c"));
  CHECK(regex_matches("\\bconv\\b", "a conv/b"));
  CHECK_FALSE(regex_matches("\\bconv\\b", "a_conv"));
  CHECK(regex_matches("^a.c$",
                      "a\xE2\x82\xAC"
                      "c"));  // . is one character, here of three bytes
  CHECK_FALSE(regex_matches("a.c", "a\nc"));
  CHECK(regex_matches("^\xFF$", "\xFE"));  // invalid UTF-8 is one replacement character
  CHECK(regex_matches("", "anything"));
  CHECK(regex_matches("^(a*)*$", "aaa"));
  CHECK(regex_matches("^a*?b$", "aab"));
}

TEST_CASE("A faulty regular expression is an error that says where", "[plan]") {
  for (const char* faulty :
       {"re:(", "re:)", "re:a)", "re:[a", "re:*a", "re:a**", "re:a{2", "re:a{3,2}", "re:{", "re:\\",
        "re:[z-a]", "re:(?=a)", "re:(?<n>a)", "re:(a)\\1", "re:\\q", "re:^*", "re:a|*"}) {
    const Error error = parse_error(faulty);
    INFO(faulty << ": " << error.message);
    CHECK(error.code == ErrorCode::kInvalidPolicy);
    CHECK(error.message.find("regular expression") != std::string::npos);
    CHECK(error.where.starts_with("character "));
  }
  CHECK(parse_error("re:(a{1000}){1000}").code == ErrorCode::kTooLarge);
  CHECK(parse_error("re:a{1001}").code == ErrorCode::kTooLarge);
  CHECK(parse_error("re:a{99999999999999999999}").code == ErrorCode::kTooLarge);
  CHECK(parse_error("re:" + std::string(500, '(')).code == ErrorCode::kInvalidPolicy);
}

TEST_CASE("Patterns that stall a backtracking matcher end at once", "[plan]") {
  const std::string name = std::string(20000, 'a') + "!";
  CHECK_FALSE(regex_matches("^(a+)+$", name));
  CHECK_FALSE(regex_matches("^(a|a)*$", name));
  CHECK_FALSE(regex_matches("^(a|aa)+$", name));
  CHECK_FALSE(glob_matches("*a*a*a*a*a*a*a*b", name));
}

TEST_CASE("Random regular expressions agree with the standard library", "[plan]") {
  const std::uint32_t seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const std::vector<std::string> atoms = {"a",    "b",   "c",     ".",        "[ab]",
                                          "[^a]", "\\w", "(a|b)", "(?:ab|c)", "(b*)"};
  const std::vector<std::string> quantifiers = {"", "", "", "*", "+", "?", "{2}", "{1,2}", "*?"};
  for (int round = 0; round < 300; ++round) {
    std::string pattern = below(2) == 0 ? "^" : "";
    for (std::size_t piece = 1 + below(4); piece > 0; --piece) {
      if (below(6) == 0) pattern += "|";
      pattern += atoms[below(atoms.size())] + quantifiers[below(quantifiers.size())];
    }
    if (below(2) == 0) pattern += "$";
    const std::regex reference(pattern, std::regex::ECMAScript);
    for (int name_round = 0; name_round < 20; ++name_round) {
      std::string name;
      for (std::size_t length = below(7); length > 0; --length) name += "abc-"[below(4)];
      INFO("pattern " << pattern << " name " << name);
      CHECK(regex_matches(pattern, name) == std::regex_search(name, reference));
    }
  }
}

TEST_CASE("Near misses come nearest first", "[plan]") {
  const std::vector<std::string_view> names = {"conv1", "conv2", "layer1/Conv1/weight", "conv1", "relu", ""};
  CHECK(near_misses("conv1", names, 3) ==
        std::vector<std::string_view>{"conv1", "layer1/Conv1/weight", "conv2"});
  CHECK(near_misses("rule", names, 3) == std::vector<std::string_view>{"relu"});
  CHECK(near_misses("pool", names, 3).empty());
  CHECK(near_misses("cnv2", names, 1) == std::vector<std::string_view>{"conv2"});
  CHECK(near_misses("", names, 3).empty());
  CHECK(near_misses(std::string(100000, 'a'), names, 3).empty());
}

}  // namespace halftone
