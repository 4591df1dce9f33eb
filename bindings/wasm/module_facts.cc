// What both modules say about themselves.
#include <emscripten/bind.h>

#include <string>

#include "conversions.h"
#include "halftone/statistics.h"
#include "halftone/version.h"
#include "live_objects.h"

namespace {

using namespace halftone;        // NOLINT(google-build-using-namespace)
using namespace halftone::wasm;  // NOLINT(google-build-using-namespace)

std::string version() { return std::string(kVersion); }
std::string commit() { return std::string(version_commit()); }
std::string instruction_set() { return std::string(active_instruction_set()); }
double memory_bytes() { return static_cast<double>(__builtin_wasm_memory_size(0)) * 65536.0; }
int live_objects() { return LiveObject::count(); }

// The wire names of all codes, so that a test can compare them with the mirror in TypeScript.
val error_codes() {
  val list = val::array();
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    list.call<void>("push", std::string(error_code_name(static_cast<ErrorCode>(code))));
  }
  return list;
}

}  // namespace

EMSCRIPTEN_BINDINGS(halftone_facts) {
  emscripten::function("errorCodes", &error_codes);
  emscripten::function("liveObjects", &live_objects);
  emscripten::function("memoryBytes", &memory_bytes);
  emscripten::function("version", &version);
  emscripten::function("commit", &commit);
  emscripten::function("instructionSet", &instruction_set);
}
