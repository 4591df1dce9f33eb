# A private apt that sees Debian 13 (trixie), whatever the host's own release, without touching the host's lists or
# packages. Its source lines are the host's own Debian lines with another suite. Sourced after common.sh.

debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints the archive addresses that the host's apt uses for its own Debian release, one a line: from one-line
# entries ("deb [options] URI SUITE component...") and from deb822 stanzas alike.
host_debian_archives() {
  local codename
  codename="$(. /etc/os-release && [ "${ID:-}" = debian ] && printf '%s' "${VERSION_CODENAME:-}")" || return 0
  [ -n "$codename" ] || return 0
  {
    { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true; } |
      sed -n -E 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+)[[:space:]]+([^[:space:]]+)[[:space:]].*/\2 \3/p'
    for file in /etc/apt/sources.list.d/*.sources; do
      if [ -e "$file" ]; then
        sed '/^#/d' "$file"
        echo
      fi
    done | awk 'tolower($1) == "uris:" { uris = $0; sub(/^[^:]*:[ \t]*/, "", uris) }
      tolower($1) == "suites:" { suites = $0; sub(/^[^:]*:[ \t]*/, "", suites) }
      /^[ \t]*$/ {
        count = split(uris, uri, /[ \t]+/); split(suites, suite, /[ \t]+/)
        for (i = 1; i <= count; i++) for (j in suite) if (uri[i] != "") print uri[i], suite[j]
        uris = suites = ""
      }'
  } | awk -v suite="$codename" '$2 == suite { print $1 }' | sort -u
}

debian_archive_reachable() { have apt-get && [ -r "$debian_keyring" ] && [ -n "$(host_debian_archives)" ]; }

# Makes the private state under $cache/apt and exports APT_CONFIG. The host's own apt configuration (proxies and the
# like) is still read.
use_private_apt() {
  local state="$cache/apt"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  host_debian_archives | while read -r archive; do
    printf 'deb [signed-by=%s] %s trixie main\n' "$debian_keyring" "$archive"
    printf 'deb-src [signed-by=%s] %s trixie main\n' "$debian_keyring" "$archive"
  done >"$state/sources.list"
  cat >"$state/apt.conf" <<CONF
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::Lists "$state/lists";
Dir::Cache "$state/cache";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
APT::Sandbox::User "$(id -un)";
CONF
  export APT_CONFIG="$state/apt.conf"
}

update_private_apt() {
  use_private_apt
  say "reading the Debian 13 package index"
  apt-get -qq update || fail "the Debian 13 package index can't be read; is there a network?"
}
