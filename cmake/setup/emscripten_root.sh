#!/usr/bin/env bash
# Prints the folder that holds emcc, making the private Emscripten first when the host has none that is new enough.
# Called by cmake/toolchain/wasm.cmake; everything else it says goes to standard error.
set -euo pipefail
project="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$project/cmake/setup/common.sh"
. "$project/cmake/setup/apt_state.sh"
. "$project/cmake/setup/emscripten.sh"
provide_emscripten
printf '%s\n' "$emscripten_root"
