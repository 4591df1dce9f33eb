// Walking the fields of a protobuf message whose every field has to be known.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "halftone/result.h"
#include "model/wire.h"
#include "model/wire_error.h"

namespace halftone::codec {

struct Message {
  std::span<const std::uint8_t> file;
  ByteRange range;
  std::string_view noun;  // for errors: "encoded value"

  [[nodiscard]] Message inner(const WireField& field, std::string_view inner_noun) const {
    return {file, field.payload, inner_noun};
  }
  [[nodiscard]] Error unknown(const WireField& field) const {
    return damaged(noun, "has a field that this version doesn't know (" + std::to_string(field.number) + ")",
                   field.whole.begin);
  }
};

inline std::string field_text(const Message& message, const WireField& field) {
  const auto bytes = message.file.subspan(field.payload.begin, field.payload.size());
  return {bytes.begin(), bytes.end()};
}

// Calls visit(field) -> Result<void> for each field, in the order of the file.
template <typename Visit>
Result<void> for_each_field(const Message& message, Visit visit) {
  WireReader reader(message.file, message.range);
  WireField field;
  while (reader.next(field)) {
    if (Result<void> visited = visit(field); !visited.ok()) return visited;
  }
  if (reader.fault() == WireFault::kSound) return {};
  return wire_fault_error(reader, message.noun, message.file.size());
}

// Refuses fields of the wrong wire type, and single fields that come a second time (the meaning of which
// readers don't agree on).
class SingleFields {
 public:
  explicit SingleFields(const Message& message) : message_(message) {}

  // Field numbers are below 32, or 1000, which counts as 31.
  Result<void> take(const WireField& field, WireType type) {
    const std::uint32_t bit = 1U << (field.number < 31 ? field.number : 31U);
    if ((seen_ & bit) != 0) {
      return damaged(message_.noun, "has field " + std::to_string(field.number) + " twice",
                     field.whole.begin);
    }
    seen_ |= bit;
    return check_type(field, type);
  }
  [[nodiscard]] Result<void> check_type(const WireField& field, WireType type) const {
    if (field.type == type) return {};
    return damaged(message_.noun,
                   "has field " + std::to_string(field.number) + " in another form than it should",
                   field.whole.begin);
  }

 private:
  const Message& message_;
  std::uint32_t seen_ = 0;
};

}  // namespace halftone::codec
