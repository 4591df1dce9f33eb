// What making and reading a schema have in common.
#pragma once

#include "halftone/codec_schema.h"

namespace halftone::codec {

// Fills in sizes, places and totals from a schema's layouts, numbers of blocks and extents.
// Errors: those of make_codec_schema.
Result<void> complete_schema(CodecSchema& schema);

}  // namespace halftone::codec
