// What a fault in the wire bytes means to a person.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "halftone/result.h"
#include "model/wire.h"

namespace halftone {

// "byte 123", for Error::where.
std::string byte_offset(std::size_t offset);

// kTruncated if the value would end behind the end of the file, else kInvalidGraph.
Error wire_fault_error(const WireReader& reader, std::string_view message_name, std::uint64_t file_bytes);

// The bytes at `offset` contradict what a `message_name` is: kInvalidGraph.
Error damaged(std::string_view message_name, const std::string& what, std::size_t offset);

}  // namespace halftone
