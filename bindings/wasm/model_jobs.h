// The quantized model, written.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "halftone/writer.h"
#include "job.h"
#include "model_handle.h"

namespace halftone::wasm {

// A written model whose parts are read piece by piece: 0 the model, 1 its external data.
std::shared_ptr<Job> export_job(WrittenModel written);
// `external_location` empty: one file.
Result<WrittenModel> write_for_export(const std::shared_ptr<const Model>& model,
                                      const std::string& external_location);

// The quantized model as bytes: {job, modelBytes, externalBytes, nodes, quantizedNodes, sizesByType, sites,
// changes, warnings}. `provenance` has method, samples, random; `external_location` empty: one file.
emscripten::val create_export(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                              const std::string& encodings_json, const emscripten::val& provenance,
                              const std::string& external_location);

}  // namespace halftone::wasm
