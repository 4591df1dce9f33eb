// The ONNX library's own headers, with warnings that are not ours turned off. Included only by the files
// behind onnx_door.h; whatever they call may throw, and is called inside a try block there.
#pragma once

#include "model/onnx_messages.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wextra"
#endif
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>
#include <onnx/shape_inference/attribute_binder.h>
#include <onnx/shape_inference/implementation.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <string_view>

namespace halftone {

// Registers the operator schemas at the first call (about 20 ms); every other function here expects that it
// was called.
void register_operators();

// The schema that holds at `version` of `domain` ("" is ai.onnx), of the newest version that the library has
// if the model is newer; nullptr if there is none.
const onnx::OpSchema* find_schema(std::string_view op_type, std::string_view domain, std::int64_t version);

// The newest version of a domain that the library has; 0 if it doesn't have the domain.
std::int64_t newest_version(std::string_view domain);

// The first line of what the library said, safe to print.
std::string library_message(std::string_view what);

}  // namespace halftone
