# clang-tidy over the core (src), two at a time. A file that passed is remembered by the content of everything that
# it includes, so a second run takes seconds. Sourced after common.sh and build.sh.

# Prints "KEY SOURCE" for every source of the build folder, from the dependencies that ninja recorded.
tidy_keys() {
  local folder="$1" rules
  rules="$({ clang-tidy --version; cat "$project/.clang-tidy"; } | content_key)"
  ninja -C "$folder" -t deps | python3 "$project/cmake/setup/tidy_keys.py" "$project" "$folder" "$rules"
}

# tidy_one FOLDER KEY SOURCE
tidy_one() {
  local folder="$1" key="$2" source="$3" log
  if log="$(clang-tidy --quiet -p "$folder" "$source" 2>&1)"; then
    mkdir -p "$cache/tidy" && : >"$cache/tidy/$key"
  else
    printf '%s\n' "$log" | grep -v 'warnings generated\|Suppressed\|Use -header-filter' >&2
    return 1
  fi
}

check_tidy() {
  local folder="$project/build/native"
  build_for_tests native all || return 1
  export -f tidy_one
  export cache
  tidy_keys "$folder" | while read -r key source; do
    [ -e "$cache/tidy/$key" ] || printf '%s\0%s\0%s\0' "$folder" "$key" "$source"
  done | xargs -0 -r -n 3 -P "$jobs" bash -c 'tidy_one "$@"' tidy_one
}
