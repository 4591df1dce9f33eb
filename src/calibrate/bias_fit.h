// bias_encoding as complete_encodings needs it: with "doesn't fit into int32" told apart from a plan that is
// wrong.
#pragma once

#include "halftone/encoding.h"

namespace halftone {

// As bias_encoding, but kTooLarge where the bias has to stay float.
Result<Encoding> fitted_bias_encoding(const Model& model, const Site& site, const Encodings& encodings);

}  // namespace halftone
