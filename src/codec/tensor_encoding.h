// Encoding a whole tensor by a plan.
#pragma once

#include "halftone/codec.h"

namespace halftone::codec {

// Errors: kUnsupportedType, kShapeMismatch.
Result<std::uint64_t> check_source(const CodecTensor& x);

// The payload. The source and the plan were checked, `schema` is the plan's; with automatic scales those of
// the plan aren't looked at. Errors: kNonFinite, kOutOfMemory.
Result<std::vector<std::uint8_t>> encode_payload(const CodecTensor& x, const CodecPlan& plan,
                                                 const CodecSchema& schema, bool automatic_scales);

}  // namespace halftone::codec
