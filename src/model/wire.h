// A bounds-checked reader of protobuf's wire format, and the few writers that a rewrite of it needs.
//
// The reader jumps over payloads: it looks at tags and lengths only, so walking a file costs nothing per byte
// of bulk data. It never reads outside its range, whatever the bytes say, and it doesn't recurse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halftone {

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kGroupStart = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

// Offsets into the file: [begin, end).
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;  // of a varint; 0 for other types
  ByteRange whole;          // from the tag to the end of the value
  ByteRange payload;  // kLength: behind the length. Fixed and varint: the value's own bytes. Group: empty
};

enum class WireFault : std::uint8_t {
  kSound,
  kCut,            // the range ends inside a tag, a number, or an open group
  kLength,         // a length points behind the end of the range
  kVarintTooLong,  // more than ten bytes, or a tag beyond 32 bits
  kBadTag,         // field number 0, or a wire type that doesn't exist
  kStrayGroupEnd,  // an end of a group that isn't open
  kGroupTooDeep,
};

// Groups (an old protobuf construct, unknown to ONNX) may nest this deep; protobuf's own parser takes 100
// levels of everything.
inline constexpr std::size_t kMaxGroupDepth = 16;

// Walks the fields of one message. After next() returned false, fault() says whether that was the end or an
// error.
class WireReader {
 public:
  // Precondition: range lies inside `file`.
  WireReader(std::span<const std::uint8_t> file, ByteRange range)
      : file_(file), pos_(range.begin), end_(range.end) {}

  bool next(WireField& field);

  [[nodiscard]] WireFault fault() const { return fault_; }
  [[nodiscard]] std::size_t fault_offset() const { return fault_offset_; }
  // Where the faulty value would end, for kCut and kLength: at least one byte behind the range.
  [[nodiscard]] std::uint64_t wanted_end() const { return wanted_end_; }

 private:
  bool read_varint(std::uint64_t& value);
  bool read_tag(WireField& field);
  bool read_value(WireField& field);
  bool skip_bytes(WireField& field, std::uint64_t count, WireFault fault);
  bool skip_group(WireField& field);
  bool fail(WireFault fault, std::size_t offset, std::uint64_t wanted_end = 0);

  std::span<const std::uint8_t> file_;
  std::size_t pos_;
  std::size_t end_;
  WireFault fault_ = WireFault::kSound;
  std::size_t fault_offset_ = 0;
  std::uint64_t wanted_end_ = 0;
};

// Bytes that `value` takes as a varint: 1 to 10.
std::size_t varint_size(std::uint64_t value);
void append_varint(std::string& out, std::uint64_t value);
void append_tag(std::string& out, std::uint32_t number, WireType type);
void append_text_field(std::string& out, std::uint32_t number, std::string_view text);

}  // namespace halftone
