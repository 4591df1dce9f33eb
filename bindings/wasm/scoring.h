// Metrics over values and terms that JavaScript holds (halftone/metric.h). All answer result objects.
#pragma once

#include <emscripten/val.h>

#include <string>

namespace halftone::wasm {

// The terms of one sample and tensor: a list of numbers.
emscripten::val metric_terms_of(const std::string& metric, int k, const emscripten::val& expected,
                                const emscripten::val& actual, double last_dimension);
// Of a Float64Array [sample][tensor][terms]: {score, interval: [low, high] or null}; a score that is no
// number is null.
emscripten::val metric_score_of(const std::string& metric, int k, const emscripten::val& terms, int tensors);
// [low, high] or null, from a score and a Float64Array of the scores with one sample left out.
emscripten::val jackknife(double score, const emscripten::val& left_out);

}  // namespace halftone::wasm
