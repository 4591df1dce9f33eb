# `./run bench [NAME] [--json]`: runs the benchmarks, C++ ones natively and as WASM under Node, JavaScript ones in Node.
# A benchmark is a program that prints one JSON object a line: {"name","value","unit","ratio_to","ratio"}.
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

run_cpp_benchmark() {
  local name="$1" targets="halftone_bench_$1"
  compile native "$targets" && compile wasm "$targets"
  "$project/build/native/native_tests/$targets" --json | node "$project/cmake/setup/print_figures.mjs" native "$as_json"
  node "$project/build/wasm/native_tests/$targets.cjs" --json | node "$project/cmake/setup/print_figures.mjs" wasm "$as_json"
}

run_benchmarks() {
  local argument wanted='' as_json='' found='' name
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
    node "$project/tests/bench/$name.mjs" | node "$project/cmake/setup/print_figures.mjs" node "$as_json"
  done
  [ -n "$found" ] || fail "no benchmark ${wanted:+named $wanted; there are: }$(
    cpp_benchmark_names | paste -sd ' '
    script_benchmark_names | paste -sd ' '
  )"
}
