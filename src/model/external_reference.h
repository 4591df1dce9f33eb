// Reads what a tensor of a file says about its external data.
#pragma once

#include <string_view>

#include "halftone/result.h"
#include "model/stored_tensor.h"
#include "model/tensor_facts.h"

namespace halftone {

// Keys "location", "offset" (0 when absent) and "length", as ONNX defines them; others (checksum) are
// ignored. Without a length the data is what dims and type ask for, which must be the rest of the file in
// ONNX's reading and may be less in ONNX Runtime's. The path of the answer is the normal location. Errors:
// kExternalDataMissing (see normal_location); kInvalidGraph for offsets and lengths that are no numbers,
// overflow, or don't fit dims and type.
Result<StoredTensor> external_reference(const TensorFacts& facts, std::string_view name);

}  // namespace halftone
