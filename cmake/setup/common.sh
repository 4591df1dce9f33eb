# Shared by the setup scripts: messages, the cache folder, and building a folder of the cache atomically.
# Sourced, never run. Expects `set -euo pipefail` and $project (the checkout) from the caller.

cache="${HALFTONE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/halftone}"
dependency_list="$project/cmake/dependencies.txt"

say() { printf '%s\n' "halftone: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# version_at_least HAVE WANTED
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Short name for the exact content of standard input; part of folder names in the cache.
content_key() { sha256sum | cut -c 1-12; }

# make_cached FOLDER COMMAND [ARG...]: makes $cache/FOLDER by running COMMAND ARG... TEMPORARY_FOLDER.
# The folder appears under its name only when COMMAND succeeded, so an interrupted build leaves nothing that looks
# finished; the lock lets concurrent builds wait for each other instead of doing the work twice.
make_cached() {
  local folder="$cache/$1" made
  shift
  [ ! -d "$folder" ] || return 0
  mkdir -p "$(dirname "$folder")"
  (
    flock 9
    [ ! -d "$folder" ] || exit 0
    made="$folder.partial"
    rm -rf "$made"
    mkdir -p "$made"
    "$@" "$made"
    mv -T "$made" "$folder"
  ) 9>"$folder.lock"
}
