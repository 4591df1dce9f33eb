// The wire reader alone: what it sees, what it refuses, and that its own writers agree with it.
#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "model/varint_data.h"
#include "model/wire.h"
#include "model/wire_models.h"

namespace halftone::test {
namespace {

struct Walk {
  std::vector<WireField> fields;
  WireFault fault = WireFault::kSound;
  std::size_t offset = 0;
};

Walk walk(const std::string& wire) {
  const Bytes bytes(wire.begin(), wire.end());
  WireReader reader(bytes, {0, bytes.size()});
  Walk result;
  WireField field;
  while (reader.next(field)) result.fields.push_back(field);
  result.fault = reader.fault();
  result.offset = reader.fault_offset();
  CHECK_FALSE(reader.next(field));  // it stays where it ended
  return result;
}

TEST_CASE("the wire reader sees every kind of field", "[model][wire]") {
  std::string wire;
  append_tag(wire, 1, WireType::kVarint);
  append_varint(wire, 300);
  append_tag(wire, 2, WireType::kFixed64);
  wire.append(8, 'a');
  append_text_field(wire, 536'870'911, "text");
  append_tag(wire, 4, WireType::kGroupStart);
  append_text_field(wire, 9, "inside");
  append_tag(wire, 4, WireType::kGroupEnd);
  append_tag(wire, 5, WireType::kFixed32);
  wire.append(4, 'b');
  const Walk seen = walk(wire);
  CHECK(seen.fault == WireFault::kSound);
  REQUIRE(seen.fields.size() == 5);
  CHECK(seen.fields[0].value == 300);
  CHECK(seen.fields[1].payload.size() == 8);
  CHECK(seen.fields[2].number == 536'870'911);
  CHECK(wire.substr(seen.fields[2].payload.begin, seen.fields[2].payload.size()) == "text");
  CHECK(seen.fields[3].type == WireType::kGroupStart);
  CHECK(seen.fields[3].whole.size() == 10);
  CHECK(seen.fields[4].whole.end == wire.size());
  for (std::size_t i = 1; i < seen.fields.size(); ++i)
    CHECK(seen.fields[i].whole.begin == seen.fields[i - 1].whole.end);
}

TEST_CASE("varints of every length are read back", "[model][wire]") {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t value = bits == 0 ? 0 : std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
    std::string wire;
    append_tag(wire, 1, WireType::kVarint);
    append_varint(wire, value);
    CHECK(wire.size() == 1 + varint_size(value));
    const Walk seen = walk(wire);
    REQUIRE(seen.fields.size() == 1);
    CHECK(seen.fields[0].value == value);
  }
}

TEST_CASE("faults are found where they are", "[model][wire]") {
  std::string sound;
  append_text_field(sound, 1, "ok");
  const auto fault = [&sound](const std::string& wire) {
    const Walk seen = walk(sound + wire);
    CHECK(seen.fields.size() == 1);
    CHECK(seen.offset >= sound.size());
    return seen.fault;
  };
  CHECK(fault("\x08") == WireFault::kCut);
  CHECK(fault("\x88") == WireFault::kCut);
  CHECK(fault("\x08\x80") == WireFault::kCut);
  CHECK(fault("\x09"
              "1234567") == WireFault::kCut);
  CHECK(fault("\x0d"
              "123") == WireFault::kCut);
  CHECK(fault("\x0a") == WireFault::kCut);
  CHECK(fault("\x0a\x05"
              "1234") == WireFault::kLength);
  CHECK(fault("\x0a" + std::string(9, '\xff') + "\x01") == WireFault::kLength);
  CHECK(fault("\x08" + std::string(10, '\xff') + "\x01") == WireFault::kVarintTooLong);
  CHECK(fault(std::string(9, '\xff') + "\x01") == WireFault::kVarintTooLong);
  CHECK(fault(std::string(1, '\0')) == WireFault::kBadTag);
  CHECK(fault("\x02") == WireFault::kBadTag);
  CHECK(fault("\x0e") == WireFault::kBadTag);
  CHECK(fault("\x0f") == WireFault::kBadTag);
  CHECK(fault("\x0c") == WireFault::kStrayGroupEnd);
  CHECK(fault("\x0b") == WireFault::kCut);
  CHECK(fault("\x0b\x14") == WireFault::kStrayGroupEnd);
}

TEST_CASE("lists of varints become plain bytes of their type's width", "[model][wire]") {
  std::string encoded;
  for (const std::int64_t value : {std::int64_t{1}, std::int64_t{-2}, std::int64_t{300}}) {
    append_varint(encoded, static_cast<std::uint64_t>(value));
  }
  const Bytes bytes(encoded.begin(), encoded.end());
  const std::vector<std::int64_t> three = {3};
  CHECK(decode_varint_data(TensorField::kInt32Data, DataType::kInt8, three, bytes).value() ==
        Bytes{1, 0xFE, 0x2C});
  CHECK(decode_varint_data(TensorField::kInt32Data, DataType::kFloat16, three, bytes).value() ==
        Bytes{1, 0, 0xFE, 0xFF, 0x2C, 1});
  CHECK(decode_varint_data(TensorField::kInt32Data, DataType::kInt4, std::vector<std::int64_t>{5}, bytes)
            .value() == Bytes{1, 0xFE, 0x2C});
  CHECK(decode_varint_data(TensorField::kInt64Data, DataType::kInt64, three, bytes).value() ==
        Bytes{1,    0,    0,    0,    0,    0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF,
              0xFF, 0xFF, 0xFF, 0xFF, 0x2C, 1, 0, 0, 0,    0,    0,    0});
  CHECK(decode_varint_data(TensorField::kUint64Data, DataType::kUint32, three, bytes).value() ==
        Bytes{1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0x2C, 1, 0, 0});
  CHECK(decode_varint_data(TensorField::kInt64Data, DataType::kInt64, std::vector<std::int64_t>{0}, {})
            .value()
            .empty());
}

TEST_CASE("lists of varints of another count are refused", "[model][wire]") {
  const Bytes three = {1, 2, 3};
  const auto error = [](DataType type, std::int64_t count, const Bytes& encoded) {
    const auto decoded =
        decode_varint_data(TensorField::kInt64Data, type, std::vector<std::int64_t>{count}, encoded);
    REQUIRE_FALSE(decoded.ok());
    return decoded.error().code;
  };
  CHECK(error(DataType::kInt64, 2, three) == ErrorCode::kInvalidGraph);
  CHECK(error(DataType::kInt64, 4, three) == ErrorCode::kInvalidGraph);
  CHECK(error(DataType::kInt64, std::int64_t{1} << 61, three) == ErrorCode::kInvalidGraph);
  CHECK(error(DataType::kInt64, 3, {1, 2, 0x83}) == ErrorCode::kInvalidGraph);
  CHECK(error(DataType::kInt64, 1, Bytes(11, 0x80)) == ErrorCode::kInvalidGraph);
  CHECK(error(DataType::kFloat, 3, three) == ErrorCode::kUnsupportedType);
  CHECK(error(static_cast<DataType>(99), 3, three) == ErrorCode::kUnsupportedType);
}

}  // namespace
}  // namespace halftone::test
