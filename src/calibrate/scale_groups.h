// One scale for all tensors of a scale group.
#pragma once

#include "halftone/encoding.h"

namespace halftone {

// Gives the quantized sites of each scale group of `plan` the encoding of the union of their ranges, which is
// what ModelOpt's calibration comes to; each keeps its own range in min and max, so that doing it again
// changes nothing. A group whose members have no ranges (edited encodings) is left alone if its scales are
// equal. Errors: kInvalidPolicy where they aren't; those of activation_encoding. Precondition: every
// quantized activation has an encoding. Linear in sites.
Result<void> share_group_scales(const Plan& plan, Encodings& encodings);

}  // namespace halftone
