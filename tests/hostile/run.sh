#!/bin/sh
# Every hostile model through halftone-inspect: exit 1 and exactly one printable line on stderr, with the error code that is
# right for it (asked for in a second run), or exit 0 for the sound ones.
#
#   tests/hostile/run.sh PATH/TO/halftone-inspect      (a sanitizer build, where the point is to find what they find)
#
# Prints what failed and, last, `N passed, N failed`. A model that takes longer than 60 seconds counts as a hang.
set -u
[ $# -ge 1 ] || { echo "usage: run.sh PATH/TO/halftone-inspect [ARGUMENT...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
node "$here/make_models.mjs" "$folder" || exit 1

# A sanitizer's own report must not look like an ordinary refusal.
export ASAN_OPTIONS="exitcode=99:allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="exitcode=99${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"

passed=0
failed=0
tab=$(printf '\t')
while IFS="$tab" read -r name expect; do
  : >"$folder/json"
  timeout 60 "$@" "$folder/$name.onnx" >"$folder/stdout" 2>"$folder/stderr"
  status=$?
  lines=$(wc -l <"$folder/stderr")
  printable=$(LC_ALL=C tr -d '\000-\011\013-\037\177' <"$folder/stderr" | cmp -s - "$folder/stderr" && echo yes)
  if [ "$expect" = ok ]; then
    good=$([ $status -eq 0 ] && [ -s "$folder/stdout" ] && echo yes)
  else
    good=$([ $status -eq 1 ] && [ "$lines" -eq 1 ] && [ ! -s "$folder/stdout" ] && grep -q '\.$' "$folder/stderr" && echo yes)
    timeout 60 "$@" "$folder/$name.onnx" --json 2>"$folder/json"
    grep -qE "^\{\"error\":\{\"code\":\"($expect)\"," "$folder/json" || good=no
  fi
  if [ "$good" = yes ] && [ "$printable" = yes ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $name: expected $expect, got status $status, $lines lines:"
    [ ! -s "$folder/json" ] || head -c 60 "$folder/json"
    head -c 2000 "$folder/stderr" | LC_ALL=C tr -d '\000-\011\013-\037\177'
  fi
done <"$folder/models.tsv"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
