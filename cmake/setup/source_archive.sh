#!/usr/bin/env bash
# source_archive.sh PACKAGE SHA256 FILE: fetches the upstream archive that Debian's source PACKAGE carries to FILE,
# through the host's own Debian archive. Exit status 2: this host has no Debian archive, use upstream's address.
set -euo pipefail
project="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$project/cmake/setup/common.sh"
. "$project/cmake/setup/apt_state.sh"

# Plain `apt-get source` is no way: it wants the .dsc, which moves between archive releases. The index gives the
# address and the hash of the archive itself.
archive_address() {
  apt-get -qq --print-uris --download-only source "$1/trixie" 2>/dev/null |
    awk -v hash="SHA256:$2" '$NF == hash { gsub("\047", "", $1); print $1 }'
}

main() {
  local package="$1" sha256="$2" file="$3" address
  debian_archive_reachable || exit 2
  use_private_apt
  address="$(archive_address "$package" "$sha256" || true)"
  if [ -z "$address" ]; then
    update_private_apt
    address="$(archive_address "$package" "$sha256" || true)"
  fi
  [ -n "$address" ] || exit 2
  say "fetching $(basename "$file")"
  /usr/lib/apt/apt-helper -qq download-file "$address" "$file" "SHA256:$sha256" >&2
}

main "$@"
