// capture() of a NameProgram: the automaton's threads in order of preference, each with the captured group so
// far.
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/name_program.h"

namespace halftone {
namespace {

constexpr std::size_t kUnset = static_cast<std::size_t>(-1);

struct Thread {
  std::size_t state = 0;
  std::size_t start = kUnset;  // of the group, as a position in the name
  std::size_t end = kUnset;
};

class CaptureRun {
 public:
  explicit CaptureRun(const NameProgram& program)
      : program_(program), seen_(program.instructions.size(), 0) {}

  std::optional<std::string_view> search(std::string_view name) {
    std::size_t position = 0;
    bool word_before = false;
    while (true) {
      at_start_ = position == 0;
      at_end_ = position == name.size();
      std::size_t behind = position;
      const CodePoint point = at_end_ ? 0 : next_code_point(name, behind);
      const bool word_after = !at_end_ && is_word_character(point);
      word_boundary_ = word_before != word_after;
      settle(position);
      if (at_end_ || (matched_ && waiting_.empty())) break;
      step(point);
      position = behind;
      word_before = word_after;
    }
    if (!matched_ || found_.start == kUnset || found_.end == kUnset) return std::nullopt;
    return name.substr(found_.start, found_.end - found_.start);
  }

 private:
  // Follows everything that takes no character, best thread first; a match ends all threads behind it. A new
  // start is the worst thread, and none is made once something matched further left.
  void settle(std::size_t position) {
    ++round_;
    std::vector<Thread> threads;
    std::swap(threads, waiting_);
    if (!matched_) threads.push_back({});
    for (const Thread& thread : threads) {
      if (follow_all(thread, position)) return;
    }
  }

  // True if a match was reached.
  bool follow_all(const Thread& thread, std::size_t position) {
    pending_.assign(1, thread);
    while (!pending_.empty()) {
      const Thread at = pending_.back();
      pending_.pop_back();
      if (seen_[at.state] == round_) continue;
      seen_[at.state] = round_;
      if (program_.instructions[at.state].kind == NameInstruction::Kind::kMatch) {
        matched_ = true;
        found_ = at;
        return true;
      }
      follow(at, position);
    }
    return false;
  }

  void follow(Thread at, std::size_t position) {
    const NameInstruction& instruction = program_.instructions[at.state];
    switch (instruction.kind) {
      case NameInstruction::Kind::kSplit:
        go(at, instruction.second);  // a stack: what is pushed last is followed first
        go(at, instruction.first);
        break;
      case NameInstruction::Kind::kJump:
        go(at, instruction.first);
        break;
      case NameInstruction::Kind::kStart:
        if (at_start_) go(at, 1);
        break;
      case NameInstruction::Kind::kEnd:
        if (at_end_) go(at, 1);
        break;
      case NameInstruction::Kind::kWordBoundary:
        if (word_boundary_) go(at, 1);
        break;
      case NameInstruction::Kind::kNoWordBoundary:
        if (!word_boundary_) go(at, 1);
        break;
      case NameInstruction::Kind::kSave:
        (instruction.character == 0 ? at.start : at.end) = position;
        go(at, 1);
        break;
      case NameInstruction::Kind::kCharacter:
      case NameInstruction::Kind::kSet:
        waiting_.push_back(at);
        break;
      case NameInstruction::Kind::kMatch:
        break;
    }
  }

  void go(Thread at, std::int32_t distance) {
    at.state = static_cast<std::size_t>(static_cast<std::int64_t>(at.state) + distance);
    pending_.push_back(at);
  }

  // Keeps the threads that take the character, in their order.
  void step(CodePoint point) {
    std::vector<Thread> threads;
    std::swap(threads, waiting_);
    for (Thread& thread : threads) {
      if (!program_.takes(thread.state, point)) continue;
      ++thread.state;
      waiting_.push_back(thread);
    }
  }

  const NameProgram& program_;
  std::vector<std::uint64_t> seen_;  // by instruction: the round in which it was reached last
  std::uint64_t round_ = 0;
  std::vector<Thread> waiting_;  // for a character, best first
  std::vector<Thread> pending_;
  bool at_start_ = false;
  bool at_end_ = false;
  bool word_boundary_ = false;
  bool matched_ = false;
  Thread found_;
};

}  // namespace

std::optional<std::string_view> NameProgram::capture(std::string_view name) const {
  return CaptureRun(*this).search(name);
}

}  // namespace halftone
