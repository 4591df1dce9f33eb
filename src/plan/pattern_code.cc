#include "plan/pattern_code.h"

#include <utility>

namespace halftone {
namespace {

std::int32_t length(const Fragment& fragment) { return static_cast<std::int32_t>(fragment.size()); }

NameInstruction split(std::int32_t first, std::int32_t second) {
  return {NameInstruction::Kind::kSplit, 0, 0, first, second};
}

NameInstruction jump(std::int32_t distance) { return {NameInstruction::Kind::kJump, 0, 0, distance, 1}; }

}  // namespace

NameInstruction match_set(CharacterSet set, NameProgram& program) {
  set.normalize();
  program.sets.push_back(std::move(set));
  return {NameInstruction::Kind::kSet, 0, static_cast<std::int32_t>(program.sets.size() - 1), 1, 1};
}

Fragment either(const Fragment& one, const Fragment& other) {
  Fragment result{split(1, length(one) + 2)};
  append(result, one);
  result.push_back(jump(length(other) + 1));
  append(result, other);
  return result;
}

Fragment repeated(const Fragment& body, std::int32_t lowest, std::int32_t highest, bool lazy) {
  const auto round_or_end = [lazy](std::int32_t end) { return lazy ? split(end, 1) : split(1, end); };
  Fragment result;
  for (std::int32_t count = 0; count < lowest; ++count) append(result, body);
  if (highest < 0) {
    result.push_back(round_or_end(length(body) + 2));
    append(result, body);
    result.push_back(jump(-(length(body) + 1)));
  }
  for (std::int32_t count = lowest; count < highest; ++count) {
    result.push_back(round_or_end(length(body) + 1));
    append(result, body);
  }
  return result;
}

std::int64_t repeated_size(std::size_t body, std::int32_t lowest, std::int32_t highest) {
  const auto size = static_cast<std::int64_t>(body);
  const std::int64_t always = size * lowest;
  if (highest < 0) return always + size + 2;
  return always + (size + 1) * (static_cast<std::int64_t>(highest) - lowest);
}

}  // namespace halftone
