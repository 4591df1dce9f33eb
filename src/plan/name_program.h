// A compiled pattern over names: a small non-deterministic automaton that is run over a name once, without
// backtracking.
//
// Time is O(name length * instructions) whatever the pattern and the name, so a hostile name can't stall a
// plan. std::regex is not used because it recurses per character and backtracks without a limit. Names are
// read as UTF-8; a byte that is no valid UTF-8 counts as one U+FFFD. Threading: immutable once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
    kSave,
    kMatch
  };
  Kind kind = Kind::kMatch;
  CodePoint character = 0;  // kCharacter; kSave: 0 where the captured group starts, 1 where it ends
  std::int32_t set = 0;     // kSet: index into the program's sets
  std::int32_t first = 1;   // kSplit and kJump: where to go on, relative to this instruction
  std::int32_t second = 1;  // kSplit: the other way, which counts only if the first one fails
};

struct NameProgram {
  static constexpr std::size_t kMaxInstructions = 1000;
  static constexpr std::size_t kMaxPatternBytes = 1000;

  std::vector<NameInstruction> instructions;  // the last one is kMatch
  std::vector<CharacterSet> sets;

  // Whether the instruction is kCharacter or kSet and takes `point`.
  [[nodiscard]] bool takes(std::size_t instruction, CodePoint point) const;
  // Whether the pattern matches somewhere in `name`; anchored patterns carry kStart and kEnd.
  [[nodiscard]] bool matches(std::string_view name) const;
  // What the captured group of the leftmost match holds, of the matches there the one that a backtracking
  // matcher would find first (as in Perl; a repeated group holds its last round). A view of `name`. nullopt
  // if nothing matches, or the match goes around the group. A repetition whose rounds may be empty goes on
  // past an empty round, as in JavaScript. As fast as matches().
  [[nodiscard]] std::optional<std::string_view> capture(std::string_view name) const;
};

// ECMAScript syntax without back-references, look-around and named groups, which can't be matched in linear
// time or make no sense without captures. Unanchored: "re:conv" matches every name with "conv" in it; ^ and $
// anchor. Errors: kInvalidPolicy with the position of the fault; kTooLarge for a pattern or a repetition that
// passes the limits.
Result<NameProgram> compile_regex(std::string_view pattern);

// The same for capture(): the first group that isn't (?:…) is the one. Errors: kInvalidPolicy also if there
// is none.
Result<NameProgram> compile_capture(std::string_view pattern);

// * any run of characters (also "/"), ? one character, [abc] [a-z] [!abc] one of them, \ takes the next one
// literally. The whole name has to match. Errors: as compile_regex.
Result<NameProgram> compile_glob(std::string_view pattern);

// Of \w and \b: letters and digits of ASCII, and the underscore.
bool is_word_character(CodePoint point);

// The code point that starts at `name[position]`, and moves `position` behind it. Precondition: position <
// name.size().
CodePoint next_code_point(std::string_view name, std::size_t& position);

}  // namespace halftone
