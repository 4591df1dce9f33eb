// Pieces of a NameProgram while it is being compiled: straight-line fragments with relative jumps, so that
// they can be joined and repeated by copying.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/name_program.h"

namespace halftone {

using Fragment = std::vector<NameInstruction>;

inline NameInstruction match_character(CodePoint point) {
  return {NameInstruction::Kind::kCharacter, point, 0, 1, 1};
}

// Adds `set` to the program's sets.
NameInstruction match_set(CharacterSet set, NameProgram& program);

inline void append(Fragment& fragment, const Fragment& more) {
  fragment.insert(fragment.end(), more.begin(), more.end());
}

// `one` or `other`, in this order of preference.
Fragment either(const Fragment& one, const Fragment& other);

// `body` repeated from `lowest` times up; `highest` < 0 means without an end. Prefers one more round, or if
// `lazy` none. The caller limits both (see repeated_size).
Fragment repeated(const Fragment& body, std::int32_t lowest, std::int32_t highest, bool lazy = false);

// How many instructions `repeated` would make, in 64 bits so that a limit can be checked before.
std::int64_t repeated_size(std::size_t body, std::int32_t lowest, std::int32_t highest);

}  // namespace halftone
