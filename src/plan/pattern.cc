#include "plan/pattern.h"

#include <utility>

namespace halftone {

Result<Pattern> Pattern::parse(std::string_view text) {
  Pattern pattern;
  pattern.text_ = std::string(text);
  const auto has_prefix = [&](std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    pattern.prefix_ = prefix.size();
    return true;
  };
  if (has_prefix("op:")) {
    pattern.kind_ = Kind::kOperator;
  } else if (has_prefix("glob:")) {
    pattern.kind_ = Kind::kGlob;
  } else if (has_prefix("re:")) {
    pattern.kind_ = Kind::kRegex;
  }
  if (pattern.body().empty()) {
    return Error{ErrorCode::kInvalidPolicy, "A pattern to include or exclude is empty.", printable(text),
                 "Write a node or tensor name, or glob:, re: or op: with something behind it."};
  }
  if (pattern.kind_ == Kind::kGlob || pattern.kind_ == Kind::kRegex) {
    Result<NameProgram> program =
        pattern.kind_ == Kind::kGlob ? compile_glob(pattern.body()) : compile_regex(pattern.body());
    if (!program.ok()) return program.error();
    pattern.program_ = std::move(program).value();
  }
  return pattern;
}

std::string_view Pattern::body() const { return std::string_view(text_).substr(prefix_); }

bool Pattern::matches_name(std::string_view name) const {
  if (kind_ == Kind::kExact) return name == text_;
  return program_.has_value() && program_->matches(name);
}

bool Pattern::matches_operator(std::string_view op_type) const {
  return kind_ == Kind::kOperator && op_type == body();
}

}  // namespace halftone
