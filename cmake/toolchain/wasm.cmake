# Toolchain of the WASM build: Emscripten's own toolchain file, after finding or making an Emscripten that is new
# enough (cmake/setup/emscripten.sh). Read again for every compiler check, hence the environment variable.

if(NOT DEFINED ENV{HALFTONE_EMSCRIPTEN_ROOT})
  execute_process(
    COMMAND bash "${CMAKE_CURRENT_LIST_DIR}/../setup/emscripten_root.sh"
    OUTPUT_VARIABLE halftone_emscripten_root
    OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE halftone_emscripten_result)
  if(NOT halftone_emscripten_result EQUAL 0)
    message(FATAL_ERROR "No Emscripten for the WASM build; the reason is in the lines above.")
  endif()
  set(ENV{HALFTONE_EMSCRIPTEN_ROOT} "${halftone_emscripten_root}")
endif()

# Node's own fetch tempts Emscripten's glue into fetching files by path; the flag takes it away.
set(CMAKE_CROSSCOMPILING_EMULATOR "node;--no-experimental-fetch")
include("$ENV{HALFTONE_EMSCRIPTEN_ROOT}/cmake/Modules/Platform/Emscripten.cmake")
