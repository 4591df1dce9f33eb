// One pattern of --include or --exclude: an exact name, "glob:…", "re:…" or "op:…".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "halftone/result.h"
#include "plan/name_program.h"

namespace halftone {

class Pattern {
 public:
  enum class Kind : std::uint8_t { kExact, kGlob, kRegex, kOperator };

  // Errors: kInvalidPolicy for an empty pattern and for syntax faults; kTooLarge over the limits of
  // NameProgram.
  static Result<Pattern> parse(std::string_view text);

  [[nodiscard]] Kind kind() const { return kind_; }
  // As it was given, prefix included.
  [[nodiscard]] const std::string& text() const { return text_; }
  // Without the prefix.
  [[nodiscard]] std::string_view body() const;

  // Node labels and tensor names; never true for kOperator.
  [[nodiscard]] bool matches_name(std::string_view name) const;
  // The operator type, whole and case-sensitive; never true for another kind.
  [[nodiscard]] bool matches_operator(std::string_view op_type) const;

 private:
  Kind kind_ = Kind::kExact;
  std::string text_;
  std::size_t prefix_ = 0;
  std::optional<NameProgram> program_;  // kGlob and kRegex
};

}  // namespace halftone
