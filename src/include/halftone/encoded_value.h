// EncodedValueProto (an extension of ONNX by onnx-light): a tensor stored in another form, with a description
// of that form. Reading, writing, and no meaning: see codec.h for values that the codec made.
//
// The payload is never copied unasked: a value that was read points into the bytes that it was read from, and
// is written in parts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "halftone/result.h"
#include "halftone/struct_type.h"
#include "halftone/writer.h"

namespace halftone {

// Bytes that are owned, or seen where they are; then they have to outlive this.
class PayloadBytes {
 public:
  PayloadBytes() = default;
  explicit PayloadBytes(std::vector<std::uint8_t> owned) : owned_(std::move(owned)), owns_(true) {}
  explicit PayloadBytes(std::span<const std::uint8_t> view) : view_(view) {}

  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return owns_ ? std::span<const std::uint8_t>(owned_) : view_;
  }
  [[nodiscard]] std::uint64_t size() const { return bytes().size(); }

 private:
  std::vector<std::uint8_t> owned_;
  std::span<const std::uint8_t> view_;
  bool owns_ = false;
};

// The other kind of layout, which the codec doesn't decode: kept as it is.
struct AffineLayout {
  std::string message;  // bytes of an AffineLayoutProto
};

struct EncodedValue {
  std::optional<std::string> name;
  std::optional<std::string> doc_string;
  std::optional<TensorType> logical_type;  // what it stands for
  std::variant<std::monostate, AffineLayout, StructType> layout;
  std::optional<PayloadBytes> payload;                             // raw_data
  std::vector<std::pair<std::string, std::string>> external_data;  // in the order of the file
  std::optional<std::int32_t> data_location;                       // 1: the payload is external
  std::optional<std::string> parameter_ref;                        // name of a shared parameter set
};

// Parses one message. The payload of the result is a view into `bytes`.
// Errors: kTruncated or kInvalidGraph with the byte; kInvalidGraph for fields that this version doesn't know,
// for single fields that come twice, for logical types that are no tensors of known shape.
Result<EncodedValue> read_encoded_value(std::span<const std::uint8_t> bytes);

// What comes before and behind the payload when a value is written; `value.payload` is not looked at.
// head + payload + tail is the message. Without a payload (`payload_bytes` nullopt) head + tail is.
struct EncodedValueFrame {
  std::string head;
  std::string tail;
};
EncodedValueFrame encoded_value_frame(const EncodedValue& value, std::optional<std::uint64_t> payload_bytes);

// The canonical message in parts, the payload as a view into `value`, which has to outlive the result.
ByteRope write_encoded_value(const EncodedValue& value);

}  // namespace halftone
