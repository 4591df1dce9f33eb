# Finds Emscripten, or makes a private one from Debian 13's packages. Sourced after common.sh and apt_state.sh.
# Debian 12's own (3.1.6) and Ubuntu's are too old: their output dies on current Node, and their libc++ lacks much of
# C++20. Afterwards $emscripten_root is the folder that holds emcc.

emscripten_minimum=3.1.60
emscripten_recipe=1 # raise when the steps below change what they make

emcc_version() { "$1" --version 2>/dev/null | sed -n -E '1s/.*[^0-9.]([0-9]+\.[0-9]+\.[0-9]+).*/\1/p'; }

# Sets $emscripten_root to a new enough Emscripten of the host; fails when there is none.
find_host_emscripten() {
  local emcc
  for emcc in "${EMSDK:+$EMSDK/upstream/emscripten/emcc}" "$(command -v emcc || true)"; do
    if [ -x "$emcc" ] && version_at_least "$(emcc_version "$emcc")" "$emscripten_minimum"; then
      emscripten_root="$(dirname "$(readlink -f "$emcc")")"
      return 0
    fi
  done
  return 1
}

emscripten_packages() { awk '$1 == "emscripten-package" { print $2 }' "$dependency_list"; }

emscripten_folder() {
  local version
  version="$(awk '$1 == "emscripten-package" && $2 == "emscripten" { sub(/\+.*/, "", $3); print $3 }' "$dependency_list")"
  printf 'toolchain/emscripten-%s-%s' "$version" \
    "$({ echo "$emscripten_recipe"; grep '^emscripten-package' "$dependency_list"; } | content_key)"
}

# A newer build of a package than the recorded one (a Debian point release) is fine, but said.
report_newer_packages() {
  local name version offered
  while read -r _ name version; do
    offered="$(apt-cache madison "$name" | awk '{ print $3; exit }')"
    [ "$offered" = "$version" ] || say "note: $name $offered instead of the recorded $version"
  done < <(grep '^emscripten-package' "$dependency_list")
}

download_packages() {
  local folder="$1"
  mkdir -p "$folder"
  update_private_apt
  report_newer_packages
  say "fetching Emscripten (about 330 MB of Debian 13 packages)"
  # apt checks every file against the signed index.
  (cd "$folder" && emscripten_packages | xargs apt-get -qq download) || fail "Emscripten's packages can't be fetched"
}

# Programs must use the folder's own C library and libraries, not the host's older ones.
patch_programs() {
  local root="$1" loader="$2" final="$3" libraries file
  libraries="$(cd "$root" && find . -name '*.so*' -printf '%h\n' | sort -u | sed "s|^\.|$final|" | paste -sd :)"
  find "$root/usr/bin" "$root/usr/lib/llvm-19/bin" -type f -perm -u+x | while read -r file; do
    [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
    if patchelf --print-interpreter "$file" >/dev/null 2>&1; then
      patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$file"
    fi
  done
}

write_emscripten_config() {
  local root="$1" final="$2"
  cat >"$root/usr/share/emscripten/.emscripten" <<CONFIG
LLVM_ROOT = '$final/usr/lib/llvm-19/bin'
BINARYEN_ROOT = '$final/usr'
NODE_JS = '$(command -v node)'
CACHE = '$final/usr/share/emscripten/cache'
FROZEN_CACHE = True
CONFIG
}

# make_emscripten ROOT: unpacks and patches into ROOT, which becomes $cache/$(emscripten_folder) afterwards.
make_emscripten() {
  local root="$1" final packages loader
  final="$cache/$(emscripten_folder)"
  packages="$root/packages"
  download_packages "$packages"
  say "unpacking Emscripten"
  for package in "$packages"/*.deb; do dpkg -x "$package" "$root"; done
  rm -rf "$packages" "$root/usr/share/doc" "$root/usr/share/man"
  loader="$(cd "$root" && find . -name 'ld-linux*.so.*' | head -n 1)"
  patch_programs "$root" "$final/${loader#./}" "$final"
  write_emscripten_config "$root" "$final"
  mkdir -p "$root/usr/share/emscripten/node_modules"
  ln -sfn ../../nodejs/acorn "$root/usr/share/emscripten/node_modules/acorn"
}

provide_emscripten() {
  if find_host_emscripten; then return 0; fi
  if [ ! -d "$cache/$(emscripten_folder)" ]; then
    debian_archive_reachable ||
      fail "emcc $emscripten_minimum or newer is needed: install the Emscripten SDK and put emcc on PATH or set EMSDK"
    have patchelf || fail "patchelf is needed to unpack Emscripten (Debian package patchelf)"
    make_cached "$(emscripten_folder)" make_emscripten
  fi
  emscripten_root="$cache/$(emscripten_folder)/usr/share/emscripten"
}
