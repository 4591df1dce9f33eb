# The suites of `./test`, each a function. Sourced after build.sh, tidy.sh and counts.sh.
# They are called in a condition, where `set -e` is off: each command's failure is handled where it matters.

our_sources() {
  (cd "$project" && find src native_tests bindings/wasm tests/consumer -name '*.cc' -o -name '*.h' | LC_ALL=C sort)
}

check_format() { (cd "$project" && our_sources | xargs clang-format --dry-run -Werror); }

suite_check() {
  step 'C++ formatting (clang-format -i FILE... mends it)' check_format
  step 'JavaScript lint (npm run format mends the layout)' npm --prefix "$project" run --silent lint
  step 'TypeScript types' npm --prefix "$project" run --silent typecheck
  step 'clang-tidy' check_tidy
}

# build_for_tests PRESET TARGET...: in a subshell, since a failure in it ends the shell.
build_for_tests() {
  local preset="$1"
  shift
  (configure "$preset" -DHALFTONE_BUILD_TESTS=ON && compile "$preset" "$@")
}

# run_catch2 NAME COMMAND...: the report goes to $results/NAME.xml, the usual text to the terminal.
run_catch2() {
  local name="$1" report="$results/$1.xml"
  shift
  rm -f "$report"
  "$@" --reporter console --reporter "xml::out=$report" || true
  count_catch2 "$report"
}

suite_native() {
  build_for_tests native halftone_tests || return 1
  run_catch2 native "$project/build/native/native_tests/halftone_tests"
}

suite_sanitize() {
  build_for_tests native-sanitize halftone_tests || return 1
  UBSAN_OPTIONS=print_stacktrace=1 run_catch2 sanitize "$project/build/native-sanitize/native_tests/halftone_tests"
}

test_cases_in() { "$@" --list-tests --reporter xml | grep -c '<TestCase>'; }

same_number_of_cases() {
  local native wasm passed failed skipped
  native="$(test_cases_in "$project/build/native/native_tests/halftone_tests")"
  read -r passed failed skipped < <(catch2_cases "$results/wasm.xml") || return 1
  wasm=$((passed + failed + skipped))
  say "test cases: $native native, $wasm run as WASM"
  [ "$native" = "$wasm" ]
}

suite_wasm() {
  build_for_tests native halftone_tests || return 1
  build_for_tests wasm halftone_tests || return 1
  run_catch2 wasm node "$project/build/wasm/native_tests/halftone_tests.cjs"
  step 'WASM runs as many test cases as the native program' same_number_of_cases
}

# count_printed NAME COMMAND...: a program that prints "FAILED ..." for what failed, and "N passed, M failed" at its end.
count_printed() {
  local figures output="$results/$1.txt"
  shift
  # Through a file: `tee /dev/stderr` would cut off the log that standard error may go to.
  "$@" >"$output" || true
  cat "$output"
  sed -n "s/^FAILED /$suite: /p" "$output" | head -n 20 >>"$results/failed"
  figures="$(sed -n -E 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$output" | tail -n 1)"
  # shellcheck disable=SC2086 # two numbers
  [ -n "$figures" ] && count $figures
}

# Malformed models through the native program, under sanitizers.
suite_hostile() {
  build_for_tests native-sanitize halftone-inspect || return 1
  count_printed hostile "$project/tests/hostile/run.sh" "$project/build/native-sanitize/native_tests/halftone-inspect"
}

# Random graphs that the native suite quantizes, in onnxruntime. Always the same graphs here, since what a new one meets may be
# a limit of the runtime; other seeds by hand. The native suite itself takes another seed each time.
suite_random() {
  build_for_tests native halftone_tests || return 1
  count_printed random node "$project/tests/random/run.mjs" "$project/build/native/native_tests/halftone_tests" 2000 1
}

# Installs the library and builds a program elsewhere that knows nothing but find_package(halftone).
build_consumer() {
  local work="$project/build/consumer"
  rm -rf "$work" &&
    cmake --install "$project/build/native" --prefix "$work/installed" >/dev/null &&
    cmake -S "$project/tests/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$work/build"
}

suite_consumer() {
  build_for_tests native || return 1
  step 'a CMake project finds and links the installed library' build_consumer
  step "the consumer's program runs" "$project/build/consumer/build/halftone_consumer"
}

run_vitest() {
  local name="$1" script="$2"
  (build_wasm_core && build_package) || return 1
  npm --prefix "$project" run --silent "$script" -- --reporter=default --reporter=json --outputFile.json="$results/$name.json" || true
  count_vitest "$results/$name.json"
}

suite_unit() { run_vitest unit test; }

suite_e2e() { run_vitest e2e test:e2e; }
