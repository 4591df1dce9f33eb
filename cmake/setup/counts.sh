# Gathers passed and failed tests over the suites of one `./test`. Sourced after common.sh.

results="$project/build/test-results"
total_passed=0
total_failed=0

start_counting() {
  rm -rf "$results"
  mkdir -p "$results"
  : >"$results/failed"
}

# note_failure WHAT: says it now, and again at the end.
note_failure() {
  say "FAILED: $1"
  printf '%s: %s\n' "$suite" "$1" >>"$results/failed"
}

# note_failures FILE: the failed tests of a report.
note_failures() {
  node "$project/cmake/setup/failed_tests.mjs" "$suite" "$1" >>"$results/failed" 2>/dev/null || true
}

# count PASSED FAILED: adds to the running suite.
count() {
  suite_passed=$((suite_passed + $1))
  suite_failed=$((suite_failed + $2))
}

# step WHAT COMMAND [ARG...]: a command that is one test of its own.
step() {
  local what="$1"
  shift
  if "$@"; then
    count 1 0
  else
    note_failure "$what"
    count 0 1
  fi
}

# catch2_cases FILE: the totals of Catch2's XML report as "passed failed skipped"; fails without totals, which a program
# that died doesn't write. The XML report holds failed assertions only; the JSON one holds all of millions.
catch2_cases() {
  local totals
  totals="$(sed -n -E 's|^ *<OverallResultsCases ([^/]*)/>.*|\1|p' "$1" 2>/dev/null | tail -n 1)"
  [ -n "$totals" ] || return 1
  local successes=0 failures=0 expectedFailures=0 skips=0
  eval "$(grep -oE '(successes|failures|expectedFailures|skips)="[0-9]+"' <<<"$totals")"
  echo "$((successes + expectedFailures)) $failures $skips"
}

# count_catch2 FILE: no report means that the program died, which is one failed test.
count_catch2() {
  local passed failed skipped
  if read -r passed failed skipped < <(catch2_cases "$1"); then
    count "$passed" "$failed"
    [ "$failed" = 0 ] || note_failures "$1"
  else
    note_failure "no report in ${1#"$project"/}"
    count 0 1
    note_failures "$1"
  fi
}

# count_vitest FILE: from vitest's JSON report. A file that fails to load is a failure without failed tests.
count_vitest() {
  count_from "$1" '[r.numPassedTests, r.numFailedTests + r.testResults.filter(
    (f) => f.status === "failed" && !f.assertionResults.some((a) => a.status === "failed")).length]'
  [ "$suite_failed" = 0 ] || note_failures "$1"
}

# count_from FILE EXPRESSION: EXPRESSION makes [passed, failed] of the parsed report r.
count_from() {
  local figures
  if figures="$(node -e '
    const r = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    const [passed, failed] = eval(process.argv[2]);
    console.log(Number(passed), Number(failed));' "$1" "$2" 2>/dev/null)"; then
    # shellcheck disable=SC2086 # two numbers
    count $figures
  else
    note_failure "no report in ${1#"$project"/}"
    count 0 1
  fi
}

# run_suite NAME: runs suite_NAME. Its status matters only when nothing was counted as failed (it broke off early).
run_suite() {
  local name="$1" start="$SECONDS" status=0 suite="$1"
  suite_passed=0
  suite_failed=0
  say "suite $name"
  "suite_$name" || status=$?
  if [ "$status" != 0 ] && [ "$suite_failed" = 0 ]; then
    note_failure "the suite broke off with status $status"
    suite_failed=1
  fi
  if [ "$((suite_passed + suite_failed))" = 0 ]; then
    note_failure 'nothing ran'
    suite_failed=1
  fi
  total_passed=$((total_passed + suite_passed))
  total_failed=$((total_failed + suite_failed))
  printf '%-10s %5d passed %5d failed  %4d s\n' "$name" "$suite_passed" "$suite_failed" "$((SECONDS - start))" |
    tee -a "$results/summary"
}

finish_counting() {
  printf '\n'
  if [ -s "$results/failed" ]; then
    printf 'What failed:\n'
    cat "$results/failed"
    printf '\n'
  fi
  cat "$results/summary"
  printf '%d passed, %d failed\n' "$total_passed" "$total_failed"
  [ "$total_failed" = 0 ]
}
