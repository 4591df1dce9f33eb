// The models of a sweep.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "job.h"
#include "model_handle.h"

namespace halftone::wasm {

// Variants of a model for scoring. `choice`: {score: [names], by, groups: [{key, sites}] or null, only,
// sweep: "enable" or "disable"}; given groups are taken as they are. Answers {job, scored: [names],
// unsaturated: [names], activations: [{tensor, node, op}], skipped: [{name, why}], groups: [{key, sites,
// detail}], cuts: [[names]], cutOf: [number], switchable: [bool]}. The scored tensors are outputs of every
// variant. Skipped are quantized sites without an encoding. `cutOf`: of each group the last cut in front of
// it, or -1. `switchable`: whether its sites can be on together in a switched part.
emscripten::val create_sweep(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                             const std::string& encodings_json, const emscripten::val& choice);

}  // namespace halftone::wasm
