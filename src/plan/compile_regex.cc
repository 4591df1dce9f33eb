// The regular expressions of "re:" patterns. See compile_regex in name_program.h for what is understood.
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "plan/name_program.h"
#include "plan/pattern_code.h"

namespace halftone {
namespace {

constexpr int kMaxDepth = 50;
constexpr std::int32_t kMaxRepeat = 1000;

bool is_ascii_letter_or_digit(CodePoint point) {
  return point < 0x80 && std::isalnum(static_cast<int>(point)) != 0;
}

class RegexParser {
 public:
  RegexParser(std::string_view pattern, bool captures) : pattern_(pattern), captures_(captures) {}

  Result<NameProgram> compile() {
    Fragment all = alternatives(0);
    if (!error_ && !done()) fail("has a ) without a (");
    if (captures_ && !captured_) fail("has no group in parentheses to capture");
    if (error_) return *std::move(error_);
    all.push_back({NameInstruction::Kind::kMatch, 0, 0, 1, 1});
    program_.instructions = std::move(all);
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool done() const { return position_ >= pattern_.size(); }
  [[nodiscard]] char peek() const { return done() ? '\0' : pattern_[position_]; }
  bool take(std::string_view text) {
    if (pattern_.substr(position_, text.size()) != text) return false;
    position_ += text.size();
    return true;
  }
  CodePoint take_point() { return next_code_point(pattern_, position_); }

  void fail(const std::string& what, ErrorCode code = ErrorCode::kInvalidPolicy) {
    if (error_) return;
    error_ = Error{code, "The regular expression \"" + printable(pattern_) + "\" " + what + ".",
                   "character " + std::to_string(position_ + 1),
                   "Correct the pattern, or use glob: for simple ones."};
    position_ = pattern_.size();
  }
  void check_size(std::int64_t size) {
    if (size > static_cast<std::int64_t>(NameProgram::kMaxInstructions)) {
      fail("is too long, or repeats too much", ErrorCode::kTooLarge);
    }
  }

  Fragment alternatives(int depth) {
    if (depth > kMaxDepth) {
      fail("has more than " + std::to_string(kMaxDepth) + " nested groups");
      return {};
    }
    Fragment result = sequence(depth);
    while (!error_ && take("|")) {
      const Fragment other = sequence(depth);
      check_size(static_cast<std::int64_t>(result.size() + other.size()) + 2);
      if (!error_) result = either(result, other);
    }
    return result;
  }

  Fragment sequence(int depth) {
    Fragment result;
    while (!error_ && !done() && peek() != '|' && peek() != ')') {
      bool repeatable = true;
      const Fragment one = atom(depth, repeatable);
      const Fragment more = error_ ? one : quantified(one, repeatable);
      append(result, more);
      check_size(static_cast<std::int64_t>(result.size()));
    }
    return result;
  }

  Fragment atom(int depth, bool& repeatable) {
    if (take("(")) return group(depth);
    if (take("[")) return {match_set(character_class(), program_)};
    if (take("\\")) return escape(repeatable);
    if (take(".")) {
      CharacterSet ends = CharacterSet::line_ends();
      ends.normalize();
      return {match_set(ends.complement(), program_)};
    }
    repeatable = false;
    if (take("^")) return {{NameInstruction::Kind::kStart, 0, 0, 1, 1}};
    if (take("$")) return {{NameInstruction::Kind::kEnd, 0, 0, 1, 1}};
    if (peek() == '*' || peek() == '+' || peek() == '?') {
      fail(std::string("has a ") + peek() + " with nothing to repeat");
      return {};
    }
    if (peek() == '{') {
      fail("has a { that is no repetition; write \\{ for the character");
      return {};
    }
    repeatable = true;
    return {match_character(take_point())};
  }

  Fragment group(int depth) {
    bool saved = false;
    if (take("?:")) {
      // A group that is never captured.
    } else if (peek() == '?') {
      fail("has a look-around or a named group, which are not supported");
      return {};
    } else {
      saved = captures_ && !captured_;
      captured_ = true;
    }
    Fragment inside = alternatives(depth + 1);
    if (!error_ && !take(")")) fail("has a ( without a )");
    if (!saved) return inside;
    Fragment group{{NameInstruction::Kind::kSave, 0, 0, 1, 1}};
    append(group, inside);
    group.push_back({NameInstruction::Kind::kSave, 1, 0, 1, 1});
    return group;
  }

  Fragment quantified(const Fragment& body, bool repeatable) {
    std::int32_t lowest = 1;
    std::int32_t highest = 1;
    if (!quantifier(lowest, highest)) return body;
    if (!repeatable) {
      fail("repeats an anchor");
      return {};
    }
    const bool lazy = take("?");
    check_size(repeated_size(body.size(), lowest, highest));
    if (error_) return {};
    return repeated(body, lowest, highest, lazy);
  }

  // False if there is none here. `highest` < 0: without an end.
  bool quantifier(std::int32_t& lowest, std::int32_t& highest) {
    if (take("*")) return lowest = 0, highest = -1, true;
    if (take("+")) return lowest = 1, highest = -1, true;
    if (take("?")) return lowest = 0, highest = 1, true;
    const std::size_t start = position_;
    if (!take("{")) return false;
    const std::optional<std::int32_t> first = number();
    if (!first)
      return position_ = start, fail("has a { that is no repetition; write \\{ for the character"), false;
    lowest = *first;
    highest = *first;
    if (take(",")) highest = peek() == '}' ? -1 : number().value_or(-2);
    if (!take("}") || highest == -2 || (highest >= 0 && highest < lowest))
      return fail("has a faulty {n,m}"), false;
    if (lowest > kMaxRepeat || highest > kMaxRepeat)
      return fail("repeats more than 1000 times", ErrorCode::kTooLarge), false;
    return true;
  }

  std::optional<std::int32_t> number() {
    if (std::isdigit(static_cast<unsigned char>(peek())) == 0) return std::nullopt;
    std::int32_t value = 0;
    while (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      if (value <= kMaxRepeat) value = value * 10 + (peek() - '0');
      ++position_;
    }
    return value;
  }

  // \d, \w, \s and their complements.
  std::optional<CharacterSet> class_escape() {
    CharacterSet set;
    switch (peek()) {
      case 'd':
      case 'D':
        set = CharacterSet::digits();
        break;
      case 'w':
      case 'W':
        set = CharacterSet::word_characters();
        break;
      case 's':
      case 'S':
        set = CharacterSet::white_space();
        break;
      default:
        return std::nullopt;
    }
    const bool negated = std::isupper(static_cast<unsigned char>(peek())) != 0;
    ++position_;
    return negated ? set.complement() : set;
  }

  Fragment escape(bool& repeatable) {
    if (std::optional<CharacterSet> set = class_escape()) return {match_set(*std::move(set), program_)};
    if (peek() == 'b' || peek() == 'B') {
      repeatable = false;
      const bool boundary = peek() == 'b';
      ++position_;
      return {{boundary ? NameInstruction::Kind::kWordBoundary : NameInstruction::Kind::kNoWordBoundary, 0, 0,
               1, 1}};
    }
    return {match_character(character_escape())};
  }

  // Behind a backslash: one character that stands for itself, or \t \n \r \f \v.
  CodePoint character_escape() {
    if (done()) return fail("ends with a backslash"), 0;
    const CodePoint point = take_point();
    switch (point) {
      case 't':
        return '\t';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      default:
        break;
    }
    if (is_ascii_letter_or_digit(point)) fail("has an escape that is not supported (back-references aren't)");
    return point;
  }

  // Behind a [, up to and with the ].
  CharacterSet character_class() {
    CharacterSet set;
    const bool negated = take("^");
    while (!error_ && !done() && peek() != ']') add_class_member(set);
    if (!error_ && !take("]")) fail("has a [ without a ]");
    set.normalize();
    return negated ? set.complement() : set;
  }

  void add_class_member(CharacterSet& set) {
    CodePoint first = 0;
    if (take("\\")) {
      if (const std::optional<CharacterSet> escaped = class_escape()) return set.add(*escaped);
      if (take("b")) return set.add('\b', '\b');
      first = character_escape();
    } else {
      first = take_point();
    }
    const bool range = peek() == '-' && position_ + 1 < pattern_.size() && pattern_[position_ + 1] != ']';
    if (error_ || !range) return set.add(first, first);
    ++position_;
    const CodePoint last = take("\\") ? character_escape() : take_point();
    if (last < first) return fail("has a range like [z-a]");
    set.add(first, last);
  }

  std::string_view pattern_;
  bool captures_;          // whether the first group is to be saved
  bool captured_ = false;  // a group was seen
  std::size_t position_ = 0;
  NameProgram program_;
  std::optional<Error> error_;
};

Result<NameProgram> compile(std::string_view pattern, bool captures) {
  if (pattern.size() > NameProgram::kMaxPatternBytes) {
    return Error{ErrorCode::kTooLarge, "A regular expression may have at most 1000 bytes.",
                 printable(pattern), "Shorten it."};
  }
  return RegexParser(pattern, captures).compile();
}

}  // namespace

Result<NameProgram> compile_regex(std::string_view pattern) { return compile(pattern, false); }

Result<NameProgram> compile_capture(std::string_view pattern) { return compile(pattern, true); }

}  // namespace halftone
