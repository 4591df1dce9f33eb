// A compiled pattern over names: a small non-deterministic automaton that is run over a name once, without
// backtracking.
//
// Time is O(name length * instructions) whatever the pattern and the name, so a hostile name can't stall a
// plan. std::regex is not used because it recurses per character and backtracks without a limit. Names are
// read as UTF-8; a byte that is no valid UTF-8 counts as one U+FFFD. Threading: immutable once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/result.h"

namespace halftone {

using CodePoint = std::uint32_t;
inline constexpr CodePoint kLastCodePoint = 0x10FFFF;

// Inclusive ranges, sorted and disjoint once normalize() has run.
class CharacterSet {
 public:
  void add(CodePoint first, CodePoint last) { ranges_.emplace_back(first, last); }
  void add(const CharacterSet& other);
  void normalize();
  // Precondition: normalized; so is the result.
  [[nodiscard]] CharacterSet complement() const;
  // Precondition: normalized. O(log ranges).
  [[nodiscard]] bool contains(CodePoint point) const;

  static CharacterSet everything();
  static CharacterSet digits();
  static CharacterSet word_characters();
  static CharacterSet white_space();
  static CharacterSet line_ends();

 private:
  std::vector<std::pair<CodePoint, CodePoint>> ranges_;
};

struct NameInstruction {
  enum class Kind : std::uint8_t {
    kCharacter,
    kSet,
    kSplit,
    kJump,
    kStart,
    kEnd,
    kWordBoundary,
    kNoWordBoundary,
    kMatch
  };
  Kind kind = Kind::kMatch;
  CodePoint character = 0;  // kCharacter
  std::int32_t set = 0;     // kSet: index into the program's sets
  std::int32_t first = 1;   // kSplit and kJump: where to go on, relative to this instruction
  std::int32_t second = 1;  // kSplit
};

struct NameProgram {
  static constexpr std::size_t kMaxInstructions = 1000;
  static constexpr std::size_t kMaxPatternBytes = 1000;

  std::vector<NameInstruction> instructions;  // the last one is kMatch
  std::vector<CharacterSet> sets;

  // Whether the pattern matches somewhere in `name`; anchored patterns carry kStart and kEnd.
  [[nodiscard]] bool matches(std::string_view name) const;
};

// ECMAScript syntax without back-references, look-around and named groups, which can't be matched in linear
// time or make no sense without captures. Unanchored: "re:conv" matches every name with "conv" in it; ^ and $
// anchor. Errors: kInvalidPolicy with the position of the fault; kTooLarge for a pattern or a repetition that
// passes the limits.
Result<NameProgram> compile_regex(std::string_view pattern);

// * any run of characters (also "/"), ? one character, [abc] [a-z] [!abc] one of them, \ takes the next one
// literally. The whole name has to match. Errors: as compile_regex.
Result<NameProgram> compile_glob(std::string_view pattern);

// The code point that starts at `name[position]`, and moves `position` behind it. Precondition: position <
// name.size().
CodePoint next_code_point(std::string_view name, std::size_t& position);

}  // namespace halftone
