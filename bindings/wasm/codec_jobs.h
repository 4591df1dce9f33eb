// Number formats: which there are, tensors into them and back, and what they do to values.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "model_handle.h"
#include "tensor_job.h"

namespace halftone::wasm {

// [{name, family, bits, block, anyBlock, wholeBlocks, needs, bitsPerWeight, source}] of all formats;
// bitsPerWeight: of a large tensor in blocks of that size, null for those that need a matrix. `block` 0: each
// format's own; where a format can't have that block size, bitsPerWeight is null, too.
emscripten::val list_formats(double block);

// A job that encodes: {job, block, passes, parts: [{name, bytes}], tensorScale}. Options: {format, block (0:
// the format's), type ("float32", "double", "float16", "bfloat16"), dims, name (null: none), scales,
// zeroPoints, offsets, codebooks, permutation, forward, inverse, outliers (each an array of numbers, or
// null)}; what comes behind `name` is for profiles of encoded values.
// The parts are "value" (an EncodedValueProto), or "codes", "scales" (absent where they are inside the codes)
// and "zero_points". With passes 2 the values are read twice. result(): {tensorScale}.
// Memory: some megabytes, or the tensor for profiles of onnxruntime and plans with permutation, transform or
// outliers.
emscripten::val create_encoder(const emscripten::val& options);

// A job that decodes an EncodedValueProto. `frame`: the message without its payload (raw_data), which is what
// is fed. `type` empty: the logical type. {job, name, format, block, type, dims, bytes}; one part, the
// values.
emscripten::val create_decoder(const emscripten::val& frame, double payload_bytes, const std::string& type);

// Values of whole blocks of a block layout or a type of ONNX, as a new Float32Array. Options: {format, block,
// count, tensorScale}; codes, scales and zero points as an encoder's parts give them (of formats without
// some, empty arrays).
emscripten::val decode_stored(const emscripten::val& options, const emscripten::val& codes,
                              const emscripten::val& scales, const emscripten::val& zero_points);

// Formats on trial over one tensor: {job, passes, bytes}. `choices`: [[format, block], …]. Of a constant of
// the model (values are there: commit() only says how far to go), or of values of `type` that are fed,
// `passes` times. result(): of each choice {format, block, count, bytes, bitsPerWeight, maxError, rmsError,
// sqnr, errors: {limit, counts}, levels, levelCounts, values: {low, high, counts, below, above}} or {format,
// block, error: {code, message, where, next}}.
emscripten::val create_trial(const std::string& type, const emscripten::val& dims,
                             const emscripten::val& choices);
emscripten::val create_constant_trial(const std::shared_ptr<ModelHandle>& model, const std::string& tensor,
                                      const emscripten::val& choices);
// [{tensor, dims, count}]: the float32 constants of the model's graph that have at least `least` values.
emscripten::val weights_of(const std::shared_ptr<ModelHandle>& model, double least);

}  // namespace halftone::wasm
