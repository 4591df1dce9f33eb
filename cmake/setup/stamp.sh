# Skips work whose inputs didn't change, by content instead of time: a fresh clone has all times alike, and switching
# branches back and forth shouldn't rebuild. Sourced after common.sh.

# source_key PATH...: one key for the names and contents of all files below the given paths of the checkout. A path that
# doesn't exist counts as empty.
source_key() {
  (
    cd "$project"
    { find "$@" -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -print0 2>/dev/null || true; } |
      LC_ALL=C sort -z | xargs -0 sha256sum | content_key
  )
}

# up_to_date NAME KEY OUTPUT...: whether NAME was made from KEY and its outputs are still there.
up_to_date() {
  local stamp="$project/build/stamps/$1" key="$2" output
  shift 2
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ] || return 1
  for output in "$@"; do [ -e "$project/$output" ] || return 1; done
}

stamp_done() {
  mkdir -p "$project/build/stamps"
  printf '%s' "$2" >"$project/build/stamps/$1"
}
