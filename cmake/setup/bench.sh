# `./run bench [NAME] [--json]`: runs the benchmarks, C++ ones natively and as WASM under Node, JavaScript ones in Node.
# A benchmark is a program that prints one JSON object a line: {"name","value","unit","ratio_to","ratio"}.
# One that ends with another status than 0 missed a limit of its own; the others run, and then this fails.
# Sourced after common.sh and build.sh.

cpp_benchmark_names() {
  local file
  for file in "$project"/native_tests/bench/*.cc; do
    if grep -q "^  $(basename "$file" .cc)$" "$project/native_tests/CMakeLists.txt"; then basename "$file" .cc; fi
  done
}

script_benchmark_names() {
  local file
  for file in "$project"/tests/bench/*.mjs; do
    if [ -e "$file" ]; then basename "$file" .mjs; fi
  done
}

# figures_of WHERE COMMAND...
figures_of() {
  local where="$1"
  shift
  "$@" | node "$project/cmake/setup/print_figures.mjs" "$where" "$as_json" || missed=yes
}

run_cpp_benchmark() {
  local name="$1" targets="halftone_bench_$1"
  compile native "$targets" && compile wasm "$targets"
  figures_of native "$project/build/native/native_tests/$targets" --json
  figures_of wasm node "$project/build/wasm/native_tests/$targets.cjs" --json
}

run_benchmarks() {
  local argument wanted='' as_json='' found='' missed='' name
  for argument in "$@"; do
    case "$argument" in
      --json) as_json=--json ;;
      -*) fail "bench takes a name and --json, not $argument" ;;
      *) wanted="$argument" ;;
    esac
  done
  for name in $(cpp_benchmark_names); do
    [ -z "$wanted" ] || [ "$wanted" = "$name" ] || continue
    if [ -z "$found" ]; then
      configure native -DHALFTONE_BUILD_BENCHMARKS=ON
      configure wasm -DHALFTONE_BUILD_BENCHMARKS=ON
    fi
    found=yes
    run_cpp_benchmark "$name"
  done
  for name in $(script_benchmark_names); do
    [ -z "$wanted" ] || [ "$wanted" = "$name" ] || continue
    found=yes
    figures_of node node "$project/tests/bench/$name.mjs"
  done
  [ -n "$found" ] || fail "no benchmark ${wanted:+named $wanted; there are: }$(
    cpp_benchmark_names | paste -sd ' '
    script_benchmark_names | paste -sd ' '
  )"
  [ -z "$missed" ] || fail 'a benchmark missed a limit of its own, or broke off'
}
