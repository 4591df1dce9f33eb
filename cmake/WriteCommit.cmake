# Writes HEADER with the commit of SOURCE, leaving the file alone when nothing changed.
execute_process(
  COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(commit "unknown")
endif()
set(text "#pragma once\n\n#include <string_view>\n\nnamespace halftone {\n\n")
string(APPEND text "inline constexpr std::string_view kBuildCommit = \"${commit}\";\n\n}  // namespace halftone\n")
set(old "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${HEADER}" "${text}")
endif()
