# Flags of our own targets, never global: what other projects see of us stays as they set it.

set(HALFTONE_STACK_SIZE 1048576)

add_library(halftone_flags INTERFACE)
target_compile_features(halftone_flags INTERFACE cxx_std_20)
# Fusing a*b+c into one rounding would make results differ between machines with and without FMA, and from WASM,
# which has none: codes and scores must be the same everywhere.
target_compile_options(halftone_flags INTERFACE -ffp-contract=off)

if(EMSCRIPTEN)
  target_compile_options(halftone_flags INTERFACE -msimd128 -fwasm-exceptions)
  target_link_options(halftone_flags INTERFACE -msimd128 -fwasm-exceptions)
endif()

if(HALFTONE_SANITIZE)
  set(halftone_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_compile_options(halftone_flags INTERFACE ${halftone_sanitizers} -fno-omit-frame-pointer)
  target_link_options(halftone_flags INTERFACE ${halftone_sanitizers})
endif()
if(HALFTONE_BUILD_FUZZERS)
  # Coverage for libFuzzer in the core; the fuzz targets themselves link its main (native_tests/CMakeLists.txt).
  target_compile_options(halftone_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(halftone_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(halftone_warnings INTERFACE)
target_compile_options(halftone_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 takes "text" + std::string for an overlapping copy (its bug 105651).
  target_compile_options(halftone_warnings INTERFACE -Wno-restrict)
endif()
if(HALFTONE_WERROR)
  target_compile_options(halftone_warnings INTERFACE -Werror)
endif()

# halftone_add_executable(NAME SOURCE...): a native program, or a WASM one that runs under Node.
function(halftone_add_executable name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE halftone_flags halftone_warnings)
  if(EMSCRIPTEN)
    # NODERAWFS: these programs read files of the host, which the core itself never does.
    target_link_options(${name} PRIVATE
      -sEXIT_RUNTIME=1 -sNODERAWFS=1 -sENVIRONMENT=node -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB
      -sSTACK_SIZE=${HALFTONE_STACK_SIZE})
    # The build folder lies inside a package of ES modules, where Node would take a .js file for one.
    set_target_properties(${name} PROPERTIES SUFFIX ".cjs")
  endif()
endfunction()
