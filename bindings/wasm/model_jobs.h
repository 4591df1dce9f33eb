// Jobs of the worker that holds models: they make models from one.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "job.h"
#include "model_handle.h"

namespace halftone::wasm {

// Variants of a model for scoring: {job, scored: [names], skipped: [{name, why}], cuts: [[names]], cutOf:
// [number]}. `score` is the choice of scored_tensors(); the scored tensors are outputs of every variant.
// Skipped are quantized sites without an encoding. `cutOf`: the last cut in front of each of the plan's
// sites, or -1.
emscripten::val create_sweep(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                             const std::string& encodings_json, const std::string& score);

// The quantized model as bytes: {job, modelBytes, externalBytes, nodes, quantizedNodes, sizesByType, sites,
// changes, warnings}. `provenance` has method, samples, random; `external_location` empty: one file.
emscripten::val create_export(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                              const std::string& encodings_json, const emscripten::val& provenance,
                              const std::string& external_location);

}  // namespace halftone::wasm
