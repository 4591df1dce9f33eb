// Jobs of the workers that run models: they take in values and keep little.
#pragma once

#include <emscripten/val.h>

#include <string>

#include "job.h"

namespace halftone::wasm {

// Min-max of `count` tensors. feed(index, values, _) answers null, or the index of the first NaN or infinity
// in `values`, which then changed nothing. result(): [{min, max, values}] in order; an empty range has null
// for both ends.
emscripten::val create_observers(int count);

// `count` tensors of two models, feed(index, expected, actual) sample by sample. result(): [{psnr,
// max_abs_error, sqnr, mse, cosine}] in order.
emscripten::val create_comparison(int count);

// feed(0, values, dims). result(): as ModelHandle::statistics.
emscripten::val create_report(const std::string& tensor, float min, float max, int bins,
                              const std::string& encoding_json);

}  // namespace halftone::wasm
