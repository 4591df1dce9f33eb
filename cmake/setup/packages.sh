# Installs what is missing on the machine: Debian packages and the npm packages of package-lock.json. Says first what
# it will install; does nothing, and needs no network, when everything is there. Sourced after common.sh.

# What each kind of work needs, as lines of "test that says it is there | Debian package".
packages_for_build() {
  cat <<'LIST'
have cmake | cmake
have ninja | ninja-build
have make || have ninja | make
have c++ | g++
have git | git
have python3 | python3
have protoc | protobuf-compiler
find_host_emscripten || emscripten_is_made || have patchelf | patchelf
LIST
}

packages_for_test() {
  cat <<'LIST'
have clang++ | clang
clang_has_runtime | libclang-rt-14-dev
have clang-tidy | clang-tidy
have clang-format | clang-format
have brotli | brotli
test -x /usr/bin/chromium | chromium
LIST
}

emscripten_is_made() { [ -d "$cache/$(emscripten_folder)" ]; }

clang_has_runtime() {
  have clang++ && [ -e "$(clang++ -print-runtime-dir)/libclang_rt.asan-$(uname -m).a" ]
}

# missing_packages KIND...: the Debian packages whose test fails, on one line.
missing_packages() {
  local kind check package
  for kind in "$@"; do
    while IFS= read -r line; do
      check="${line%|*}" package="${line##*| }"
      eval "$check" >/dev/null 2>&1 || printf '%s ' "$package"
    done < <("packages_for_$kind")
  done
}

install_system_packages() {
  local missing
  missing="$(missing_packages "$@")"
  [ -n "$missing" ] || return 0
  say "missing on this machine: $missing"
  have apt-get || fail "install these with your package manager (Debian's names), then run this again"
  [ "$(id -u)" = 0 ] || fail "not root; run this, then try again: apt-get install --no-install-recommends $missing"
  say "installing with apt-get: $missing"
  apt-get -qq update || fail "apt's package index can't be read; is there a network?"
  # shellcheck disable=SC2086 # a list of names
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >&2 ||
    fail "apt-get couldn't install: $missing"
}

require_node() {
  have node && have npm || fail "Node 20 or newer with npm is needed: https://nodejs.org"
  local major
  major="$(node --version | sed -E 's/^v([0-9]+).*/\1/')"
  [ "$major" -ge 20 ] || fail "Node $(node --version) is too old; 20 or newer is needed"
}

# The lock decides: installed again exactly when it changed.
install_npm_packages() {
  local key stamp="$project/node_modules/.halftone-installed"
  key="$(content_key <"$project/package-lock.json")"
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ]; then return 0; fi
  say "installing the npm packages of package-lock.json into node_modules"
  # .npmrc turns install scripts off: nothing that a package brings runs while it is installed.
  (cd "$project" && npm ci --prefer-offline --no-audit --no-fund --loglevel=error >&2) ||
    fail "npm ci failed; its reason is above"
  printf '%s' "$key" >"$stamp"
}
