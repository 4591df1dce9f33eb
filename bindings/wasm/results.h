// Results of sweeps as JSON texts.
#pragma once

#include <emscripten/val.h>

#include <string>

namespace halftone::wasm {

// Rows in any order, completed to a results file (complete_results), as text.
emscripten::val rank_results(const std::string& results_json);
// One results file, read and written again, or several shards joined, as text.
emscripten::val merge_results_of(const emscripten::val& texts);
// Two results files compared, as text.
emscripten::val compare_results_of(const std::string& before_json, const std::string& after_json);

}  // namespace halftone::wasm
