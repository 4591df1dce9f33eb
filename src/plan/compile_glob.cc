// The shell-like patterns of "glob:". See compile_glob in name_program.h.
#include <string>
#include <utility>

#include "plan/name_program.h"
#include "plan/pattern_code.h"

namespace halftone {
namespace {

Error glob_error(std::string_view pattern, std::size_t position, const std::string& what) {
  return Error{ErrorCode::kInvalidPolicy, "The glob pattern \"" + printable(pattern) + "\" " + what + ".",
               "character " + std::to_string(position + 1),
               "Put a backslash before a character that stands for itself."};
}

// One member of a set: a character or a range. Precondition: position < pattern.size().
Result<void> add_member(std::string_view pattern, std::size_t& position, CharacterSet& set) {
  const std::size_t start = position;
  const CodePoint first = next_code_point(pattern, position);
  CodePoint last = first;
  if (position + 1 < pattern.size() && pattern[position] == '-' && pattern[position + 1] != ']') {
    ++position;
    last = next_code_point(pattern, position);
  }
  if (last < first) return glob_error(pattern, start, "has a range like [z-a]");
  set.add(first, last);
  return {};
}

// Behind a [, up to and with the ].
Result<CharacterSet> glob_set(std::string_view pattern, std::size_t& position) {
  const std::size_t start = position;
  CharacterSet set;
  const bool negated = position < pattern.size() && (pattern[position] == '!' || pattern[position] == '^');
  if (negated) ++position;
  const std::size_t first_member = position;
  while (position < pattern.size() && (pattern[position] != ']' || position == first_member)) {
    const Result<void> added = add_member(pattern, position, set);
    if (!added.ok()) return added.error();
  }
  if (position >= pattern.size()) return glob_error(pattern, start, "has a [ without a ]");
  ++position;
  set.normalize();
  return negated ? set.complement() : set;
}

}  // namespace

Result<NameProgram> compile_glob(std::string_view pattern) {
  // Every byte makes at most three instructions, so the limit on bytes keeps programs small.
  if (pattern.size() > NameProgram::kMaxPatternBytes) {
    return Error{ErrorCode::kTooLarge, "A glob pattern may have at most 1000 bytes.", printable(pattern),
                 "Shorten it."};
  }
  NameProgram program;
  Fragment& code = program.instructions;
  code.push_back({NameInstruction::Kind::kStart, 0, 0, 1, 1});
  std::size_t position = 0;
  while (position < pattern.size()) {
    const char head = pattern[position];
    if (head == '*') {
      ++position;
      append(code, repeated({match_set(CharacterSet::everything(), program)}, 0, -1));
    } else if (head == '?') {
      ++position;
      code.push_back(match_set(CharacterSet::everything(), program));
    } else if (head == '[') {
      ++position;
      Result<CharacterSet> set = glob_set(pattern, position);
      if (!set.ok()) return set.error();
      code.push_back(match_set(std::move(set).value(), program));
    } else {
      if (head == '\\' && position + 1 < pattern.size()) ++position;
      code.push_back(match_character(next_code_point(pattern, position)));
    }
  }
  code.push_back({NameInstruction::Kind::kEnd, 0, 0, 1, 1});
  code.push_back({NameInstruction::Kind::kMatch, 0, 0, 1, 1});
  return program;
}

}  // namespace halftone
