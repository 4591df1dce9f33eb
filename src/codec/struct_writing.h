// Canonical bytes of messages.
#pragma once

#include <string>

#include "halftone/struct_type.h"

namespace halftone::codec {

std::string write_tensor_type(const TensorType& tensor);  // TypeProto with a tensor_type

}  // namespace halftone::codec
