#include "plan/name_program.h"

#include <algorithm>

namespace halftone {
namespace {

constexpr CodePoint kReplacement = 0xFFFD;

// The instructions that can be reached at one position of the name, each once.
class StateSet {
 public:
  explicit StateSet(std::size_t size) : seen_(size, 0) {}
  void clear() {
    for (const std::size_t state : states_) seen_[state] = 0;
    states_.clear();
  }
  // False if it was there already.
  bool insert(std::size_t state) {
    if (seen_[state] != 0) return false;
    seen_[state] = 1;
    states_.push_back(state);
    return true;
  }
  [[nodiscard]] const std::vector<std::size_t>& states() const { return states_; }
  void swap(StateSet& other) noexcept {
    seen_.swap(other.seen_);
    states_.swap(other.states_);
  }

 private:
  std::vector<std::uint8_t> seen_;
  std::vector<std::size_t> states_;
};

// What the assertions need to know about a position.
struct Surroundings {
  bool at_start = false;
  bool at_end = false;
  bool word_boundary = false;
};

class Run {
 public:
  explicit Run(const NameProgram& program)
      : program_(program), current_(program.instructions.size()), next_(program.instructions.size()) {}

  bool search(std::string_view name) {
    std::size_t position = 0;
    bool word_before = false;
    while (true) {
      const bool at_end = position == name.size();
      std::size_t behind = position;
      const CodePoint point = at_end ? 0 : next_code_point(name, behind);
      const bool word_after = !at_end && is_word_character(point);
      const Surroundings here{position == 0, at_end, word_before != word_after};
      if (settle(here)) return true;
      if (at_end) return false;
      step(point);
      position = behind;
      word_before = word_after;
    }
  }

 private:
  // Follows everything that takes no character from the states that wait and from a new start. True once
  // kMatch is reached.
  bool settle(const Surroundings& here) {
    current_.clear();
    for (const std::size_t state : next_.states()) pending_.push_back(state);
    next_.clear();
    pending_.push_back(0);
    while (!pending_.empty()) {
      const std::size_t state = pending_.back();
      pending_.pop_back();
      if (!current_.insert(state)) continue;
      if (program_.instructions[state].kind == NameInstruction::Kind::kMatch) {
        pending_.clear();
        return true;
      }
      follow(state, here);
    }
    return false;
  }

  void follow(std::size_t state, const Surroundings& here) {
    const NameInstruction& instruction = program_.instructions[state];
    switch (instruction.kind) {
      case NameInstruction::Kind::kSplit:
        go(state, instruction.first);
        go(state, instruction.second);
        break;
      case NameInstruction::Kind::kJump:
        go(state, instruction.first);
        break;
      case NameInstruction::Kind::kStart:
        if (here.at_start) go(state, 1);
        break;
      case NameInstruction::Kind::kEnd:
        if (here.at_end) go(state, 1);
        break;
      case NameInstruction::Kind::kWordBoundary:
        if (here.word_boundary) go(state, 1);
        break;
      case NameInstruction::Kind::kNoWordBoundary:
        if (!here.word_boundary) go(state, 1);
        break;
      case NameInstruction::Kind::kSave:
        go(state, 1);
        break;
      case NameInstruction::Kind::kCharacter:
      case NameInstruction::Kind::kSet:
      case NameInstruction::Kind::kMatch:
        break;
    }
  }

  void go(std::size_t state, std::int32_t distance) {
    pending_.push_back(static_cast<std::size_t>(static_cast<std::int64_t>(state) + distance));
  }

  void step(CodePoint point) {
    for (const std::size_t state : current_.states()) {
      if (program_.takes(state, point)) next_.insert(state + 1);
    }
  }

  const NameProgram& program_;
  StateSet current_;
  StateSet next_;
  std::vector<std::size_t> pending_;
};

}  // namespace

CodePoint next_code_point(std::string_view name, std::size_t& position) {
  const auto byte_at = [&](std::size_t index) {
    return static_cast<CodePoint>(static_cast<unsigned char>(name[index]));
  };
  const CodePoint lead = byte_at(position++);
  if (lead < 0x80) return lead;
  const std::size_t extra = lead >= 0xF0 ? 3 : (lead >= 0xE0 ? 2 : 1);
  if (lead < 0xC2 || lead > 0xF4 || name.size() - position < extra) return kReplacement;
  CodePoint point = lead & (0x3FU >> extra);
  for (std::size_t index = 0; index < extra; ++index) {
    const CodePoint byte = byte_at(position + index);
    if ((byte & 0xC0U) != 0x80U) return kReplacement;
    point = (point << 6U) | (byte & 0x3FU);
  }
  constexpr CodePoint kSmallest[] = {0, 0x80, 0x800, 0x10000};
  if (point < kSmallest[extra] || point > kLastCodePoint || (point >= 0xD800 && point <= 0xDFFF))
    return kReplacement;
  position += extra;
  return point;
}

bool is_word_character(CodePoint point) {
  return (point >= '0' && point <= '9') || (point >= 'A' && point <= 'Z') || (point >= 'a' && point <= 'z') ||
         point == '_';
}

bool NameProgram::takes(std::size_t instruction, CodePoint point) const {
  const NameInstruction& at = instructions[instruction];
  return (at.kind == NameInstruction::Kind::kCharacter && at.character == point) ||
         (at.kind == NameInstruction::Kind::kSet && sets[static_cast<std::size_t>(at.set)].contains(point));
}

bool NameProgram::matches(std::string_view name) const { return Run(*this).search(name); }

void CharacterSet::add(const CharacterSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
}

void CharacterSet::normalize() {
  std::sort(ranges_.begin(), ranges_.end());
  std::vector<std::pair<CodePoint, CodePoint>> merged;
  for (const auto& range : ranges_) {
    if (!merged.empty() && range.first <= merged.back().second + 1) {
      merged.back().second = std::max(merged.back().second, range.second);
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
}

CharacterSet CharacterSet::complement() const {
  CharacterSet result;
  CodePoint from = 0;
  for (const auto& [first, last] : ranges_) {
    if (first > from) result.add(from, first - 1);
    from = last + 1;
  }
  if (from <= kLastCodePoint) result.add(from, kLastCodePoint);
  return result;
}

bool CharacterSet::contains(CodePoint point) const {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), point,
                       [](CodePoint value, const auto& range) { return value < range.first; });
  return behind != ranges_.begin() && point <= std::prev(behind)->second;
}

CharacterSet CharacterSet::everything() {
  CharacterSet set;
  set.add(0, kLastCodePoint);
  return set;
}

CharacterSet CharacterSet::digits() {
  CharacterSet set;
  set.add('0', '9');
  return set;
}

CharacterSet CharacterSet::word_characters() {
  CharacterSet set;
  set.add('0', '9');
  set.add('A', 'Z');
  set.add('_', '_');
  set.add('a', 'z');
  return set;
}

CharacterSet CharacterSet::white_space() {
  CharacterSet set;
  set.add('\t', '\r');
  set.add(' ', ' ');
  for (const CodePoint point : {0xA0U, 0x1680U, 0x202FU, 0x205FU, 0x3000U, 0xFEFFU}) set.add(point, point);
  set.add(0x2000, 0x200A);
  set.add(0x2028, 0x2029);
  set.normalize();
  return set;
}

CharacterSet CharacterSet::line_ends() {
  CharacterSet set;
  set.add('\n', '\n');
  set.add('\r', '\r');
  set.add(0x2028, 0x2029);
  return set;
}

}  // namespace halftone
