// Models with their weights in number formats.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "model_handle.h"

namespace halftone::wasm {

// A derived model, written: {job, modelBytes, externalBytes, encoded, standard, decoded, left, warnings}.
// Options: {kind: "encode", "decode" or "standard"; of "encode": format, block (0: the format's), tensors
// (null: all), least, codebook (null: the format's), transpose, standard (whether "standard" follows); of
// "standard": roundScales, contribOperators}.
//   encoded   [{tensor, encoded, type, dims, floatBytes, payloadBytes, messageBytes}]
//   standard  [{tensor, encoded, form, type, axis, block, bytes, rounding}]; axis null: one scale
//   decoded   [{tensor, encoded, type, floatBytes}]
//   left      [{tensor, reason}]
emscripten::val create_encoded_export(const std::shared_ptr<ModelHandle>& model,
                                      const emscripten::val& options, const std::string& external_location);

}  // namespace halftone::wasm
