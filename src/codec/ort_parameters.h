// What onnxruntime's profiles store behind the codes.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/ort_matmul_nbits.h"

namespace halftone::codec {

// Bytes of the scales and zero points of a run, which has the plan's form. Sets layout.zero_points.
// Errors: those of encode_matmul_nbits about scales and zero points.
Result<std::vector<std::uint8_t>> matmul_nbits_parameter_bytes(MatMulNBitsLayout& layout,
                                                               const CodecRun& run);

}  // namespace halftone::codec
