#include "model/wire_error.h"

namespace halftone {
namespace {

std::string fault_text(WireFault fault) {
  switch (fault) {
    case WireFault::kCut:
      return "ends in the middle of a value";
    case WireFault::kLength:
      return "contains a length that points outside of it";
    case WireFault::kVarintTooLong:
      return "contains a number that is too long";
    case WireFault::kBadTag:
      return "contains a field that can't exist";
    case WireFault::kStrayGroupEnd:
      return "closes a group that isn't open";
    case WireFault::kGroupTooDeep:
      return "nests groups too deeply";
    case WireFault::kSound:
      break;
  }
  return "is damaged";
}

std::string with_article(std::string_view noun) {
  const bool vowel = !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

}  // namespace

std::string byte_offset(std::size_t offset) { return "byte " + std::to_string(offset); }

Error damaged(std::string_view message_name, const std::string& what, std::size_t offset) {
  return {ErrorCode::kInvalidGraph,
          "The model is damaged: " + with_article(message_name) + " " + what + ", at byte " +
              std::to_string(offset) + ".",
          byte_offset(offset), "Download or export the model again."};
}

Error wire_fault_error(const WireReader& reader, std::string_view message_name, std::uint64_t file_bytes) {
  if (reader.wanted_end() <= file_bytes)
    return damaged(message_name, fault_text(reader.fault()), reader.fault_offset());
  return {ErrorCode::kTruncated,
          "The file is cut off or damaged: a value of the " + std::string(message_name) + " at byte " +
              std::to_string(reader.fault_offset()) + " should end at byte " +
              std::to_string(reader.wanted_end()) + ", but the file has " + std::to_string(file_bytes) +
              " bytes.",
          byte_offset(reader.fault_offset()), "Download or export the model again; this copy is incomplete."};
}

}  // namespace halftone
