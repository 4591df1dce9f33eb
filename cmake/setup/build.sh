# Builds the parts of Halftone that `run` and `test` need. Sourced after common.sh, stamp.sh and emscripten.sh.

jobs="$(nproc 2>/dev/null || echo 2)"

# A build folder that was configured with a compiler that is gone (a cleared cache) starts over.
forget_lost_compiler() {
  local cache_file="$project/build/$1/CMakeCache.txt" compiler
  [ -f "$cache_file" ] || return 0
  compiler="$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$cache_file")"
  case "$compiler" in
    /*) [ -e "$compiler" ] || rm -rf "$cache_file" "$project/build/$1/CMakeFiles" ;;
  esac
}

# configure PRESET [CMake argument...]; quiet unless it fails or has to build dependencies.
configure() {
  local preset="$1" log
  shift
  log="$project/build/configure-$preset.log"
  mkdir -p "$project/build"
  forget_lost_compiler "$preset"
  say "configuring $preset"
  if (cd "$project" && flock "build/$preset.lock" cmake --preset "$preset" "$@" 2>&1) | tee "$log" |
    sed -u -n -e 's/^-- halftone:/halftone:/' -e '/^halftone:/p' >&2; then return 0; fi
  cat "$log" >&2
  fail "configuring $preset failed"
}

# compile PRESET [TARGET...]
compile() {
  local preset="$1"
  shift
  say "compiling $preset"
  # Two builds in one folder at a time would take each other's files away.
  flock "$project/build/$preset.lock" cmake --build "$project/build/$preset" --parallel "$jobs" ${1:+--target "$@"} >&2 ||
    fail "compiling $preset failed"
}

wasm_sources=(CMakeLists.txt CMakePresets.json cmake/BuildFlags.cmake cmake/Dependencies.cmake cmake/FindDependencies.cmake
  cmake/Options.cmake cmake/dependencies cmake/dependencies.txt cmake/toolchain src bindings/wasm)
package_sources=(package.json package-lock.json tsconfig.json tsconfig.types.json NOTICE bindings/js web)

# The WASM core alone: no tests, so that a first `./run` needn't build a test framework.
build_wasm_core() {
  local key
  key="$(source_key "${wasm_sources[@]}")"
  if up_to_date wasm-core "$key" build/wasm/bindings/wasm/halftone-{core,formats}.{mjs,wasm}; then return 0; fi
  if [ -f "$project/build/wasm/CMakeCache.txt" ]; then
    configure wasm
  else
    configure wasm -DHALFTONE_BUILD_TESTS=OFF -DHALFTONE_BUILD_BENCHMARKS=OFF
  fi
  compile wasm halftone_core_wasm halftone_formats_wasm
  stamp_done wasm-core "$key"
}

build_package() {
  local key
  key="$(source_key "${package_sources[@]}" build/wasm/bindings/wasm/halftone-{core,formats}.{mjs,wasm})"
  if up_to_date package "$key" bindings/js/dist/cli.js; then return 0; fi
  say "building the package and the page"
  (cd "$project" && npm run --silent build >&2) || fail "building the package failed"
  stamp_done package "$key"
}
