// The last part of completing encodings.
#pragma once

#include "halftone/encoding.h"

namespace halftone {

// complete_encodings for a plan whose weights have their encodings already: scale groups, biases, site order.
Result<void> finish_encodings(const Model& model, Plan& plan, Encodings& encodings);

}  // namespace halftone
