// Between C++ values and JavaScript ones. Results cross as plain objects: {ok: true, value} or
// {ok: false, code, message, where, next}; nothing is thrown over the boundary, and bytes are copied out,
// never lent (but for the loader's next part, which its caller fills at once).
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/exchange.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"

namespace halftone::wasm {

using emscripten::val;

val success(val value = val::null());
val failure(const Error& error);
Error out_of_memory();
Error unexpected(const char* what);

// Runs `work`, which returns a val made by success() or failure(); what it throws (memory that ran out, or a
// fault) becomes a failure.
template <typename Work>
val guarded(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return failure(out_of_memory());
  } catch (const std::exception& fault) {
    return failure(unexpected(fault.what()));
  } catch (...) {
    return failure(unexpected("unknown"));
  }
}

// A new Uint8Array with these bytes.
val bytes_to_js(std::span<const std::uint8_t> bytes);
// A new Float32Array with these values.
val floats_to_js(std::span<const float> values);
// Concatenated pieces, from `offset`, at most `length` bytes, as a new Uint8Array.
val pieces_to_js(const std::vector<std::span<const std::uint8_t>>& pieces, std::uint64_t offset,
                 std::uint64_t length);
val strings_to_js(std::span<const std::string> strings);
val warnings_to_js(std::span<const Warning> warnings);
val number_or_null(std::optional<double> number);

std::vector<std::string> strings_from_js(const val& list);
// [[tensor, dims], …]; a dimension that is no whole number from 0 becomes -1.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes_from_js(const val& list);
// Copies a Float32Array into `into`. Errors: kUnsupportedType for anything else.
Result<void> floats_from_js(const val& array, std::vector<float>& into);
// A whole non-negative number that a double holds exactly. Errors: kInvalidState.
Result<std::uint64_t> size_from_js(double number);
Result<PlanOptions> plan_options_from_js(const val& options);
// One encoding as in encodings.json, as text; empty text is none.
Result<std::optional<Encoding>> encoding_from_json(const std::string& json);

// A model over its store's buffers: {model, buffers: [{path, bytes}]} with the buffers that are in no file.
Result<val> skeleton_to_js(const std::shared_ptr<const Model>& model);

}  // namespace halftone::wasm
