#include "model/wire.h"

#include <array>

namespace halftone {
namespace {

constexpr std::size_t kMaxVarintBytes = 10;

bool is_wire_type(std::uint64_t bits) { return bits <= static_cast<std::uint64_t>(WireType::kFixed32); }

}  // namespace

bool WireReader::fail(WireFault fault, std::size_t offset, std::uint64_t wanted_end) {
  fault_ = fault;
  fault_offset_ = offset;
  wanted_end_ = wanted_end;
  return false;
}

bool WireReader::read_varint(std::uint64_t& value) {
  const std::size_t begin = pos_;
  value = 0;
  for (std::size_t i = 0; i < kMaxVarintBytes; ++i) {
    if (pos_ >= end_) return fail(WireFault::kCut, begin, std::uint64_t{end_} + 1);
    const std::uint8_t byte = file_[pos_++];
    value |= std::uint64_t{byte & 0x7FU} << (7U * static_cast<unsigned>(i));
    if ((byte & 0x80U) == 0) return true;
  }
  return fail(WireFault::kVarintTooLong, begin);
}

bool WireReader::read_tag(WireField& field) {
  const std::size_t begin = pos_;
  std::uint64_t tag = 0;
  if (!read_varint(tag)) return false;
  if (tag > UINT32_MAX) return fail(WireFault::kVarintTooLong, begin);
  if ((tag >> 3U) == 0 || !is_wire_type(tag & 7U)) return fail(WireFault::kBadTag, begin);
  field.number = static_cast<std::uint32_t>(tag >> 3U);
  field.type = static_cast<WireType>(tag & 7U);
  field.whole.begin = begin;
  return true;
}

bool WireReader::skip_bytes(WireField& field, std::uint64_t count, WireFault fault) {
  if (count > end_ - pos_) {
    const std::uint64_t wanted = count > UINT64_MAX - pos_ ? UINT64_MAX : pos_ + count;
    return fail(fault, field.whole.begin, wanted);
  }
  field.payload = {pos_, pos_ + static_cast<std::size_t>(count)};
  pos_ = field.payload.end;
  return true;
}

// Reads the value of any field but the borders of a group.
bool WireReader::read_value(WireField& field) {
  field.value = 0;
  switch (field.type) {
    case WireType::kVarint:
      field.payload.begin = pos_;
      if (!read_varint(field.value)) return false;
      field.payload.end = pos_;
      return true;
    case WireType::kFixed64:
      return skip_bytes(field, 8, WireFault::kCut);
    case WireType::kFixed32:
      return skip_bytes(field, 4, WireFault::kCut);
    case WireType::kLength: {
      std::uint64_t length = 0;
      return read_varint(length) && skip_bytes(field, length, WireFault::kLength);
    }
    case WireType::kGroupStart:
    case WireType::kGroupEnd:
      break;
  }
  return fail(WireFault::kStrayGroupEnd, field.whole.begin);
}

bool WireReader::skip_group(WireField& field) {
  std::array<std::uint32_t, kMaxGroupDepth> open{};
  std::size_t depth = 0;
  open[depth++] = field.number;
  while (depth > 0) {
    WireField inner;
    if (pos_ >= end_) return fail(WireFault::kCut, field.whole.begin, std::uint64_t{end_} + 1);
    if (!read_tag(inner)) return false;
    if (inner.type == WireType::kGroupStart) {
      if (depth == kMaxGroupDepth) return fail(WireFault::kGroupTooDeep, inner.whole.begin);
      open[depth++] = inner.number;
    } else if (inner.type == WireType::kGroupEnd) {
      if (open[--depth] != inner.number) return fail(WireFault::kStrayGroupEnd, inner.whole.begin);
    } else if (!read_value(inner)) {
      return false;
    }
  }
  field.payload = {pos_, pos_};
  return true;
}

bool WireReader::next(WireField& field) {
  if (fault_ != WireFault::kSound || pos_ >= end_) return false;
  if (!read_tag(field)) return false;
  const bool read = field.type == WireType::kGroupStart ? skip_group(field) : read_value(field);
  field.whole.end = pos_;
  return read;
}

std::size_t varint_size(std::uint64_t value) {
  std::size_t bytes = 1;
  while (value >= 0x80U) {
    value >>= 7U;
    ++bytes;
  }
  return bytes;
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80U) {
    out.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
    value >>= 7U;
  }
  out.push_back(static_cast<char>(value));
}

void append_tag(std::string& out, std::uint32_t number, WireType type) {
  append_varint(out, (std::uint64_t{number} << 3U) | static_cast<std::uint64_t>(type));
}

void append_text_field(std::string& out, std::uint32_t number, std::string_view text) {
  append_tag(out, number, WireType::kLength);
  append_varint(out, text.size());
  out.append(text);
}

}  // namespace halftone
