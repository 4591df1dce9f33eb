// Values that switch an activation on (halftone/switched_part.h).
#pragma once

#include <emscripten/val.h>

#include <string>

namespace halftone::wasm {

// `kind`: "input" or "addend"; `values`: a Float32Array; `encoding`: as in encodings.json. Answers {values,
// exact}.
emscripten::val switch_on_values(const std::string& kind, const emscripten::val& values,
                                 const emscripten::val& dims, const std::string& encoding);

}  // namespace halftone::wasm
