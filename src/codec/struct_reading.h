// Parts of struct types that encoded values read as well.
#pragma once

#include <cstddef>

#include "codec/message_fields.h"
#include "halftone/result.h"
#include "halftone/struct_type.h"

namespace halftone::codec {

// A tree takes up to about forty times the bytes of its message.
inline constexpr std::size_t kMaxStructBytes = std::size_t{16} << 20U;

// `depth` is the number of struct types around.
Result<StructType> read_struct(const Message& message, std::size_t depth);
Result<ElementType> read_element_type(const Message& message, std::size_t depth);

}  // namespace halftone::codec
