#include "halftone/result.h"

#include <cstddef>
#include <cstdint>

namespace halftone {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTruncated:
      return "truncated";
    case ErrorCode::kNotOnnx:
      return "not_onnx";
    case ErrorCode::kUnsupportedOpset:
      return "unsupported_opset";
    case ErrorCode::kUnsupportedOp:
      return "unsupported_op";
    case ErrorCode::kUnsupportedType:
      return "unsupported_type";
    case ErrorCode::kInvalidGraph:
      return "invalid_graph";
    case ErrorCode::kExternalDataMissing:
      return "external_data_missing";
    case ErrorCode::kShapeMismatch:
      return "shape_mismatch";
    case ErrorCode::kInvalidPolicy:
      return "invalid_policy";
    case ErrorCode::kInvalidSample:
      return "invalid_sample";
    case ErrorCode::kInvalidState:
      return "invalid_state";
    case ErrorCode::kNonFinite:
      return "non_finite";
    case ErrorCode::kTooLarge:
      return "too_large";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// Length of the valid, printable UTF-8 sequence at the front of `text`; 0 if there is none.
std::size_t printable_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  std::uint32_t point = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  // C1 controls, line and paragraph separators, and the bidirectional controls that can reorder a whole line.
  const bool control = point < 0xA0 || point == 0x2028 || point == 0x2029 ||
                       (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
  return point < kSmallest[length] || point > 0x10FFFF || surrogate || control ? 0 : length;
}

}  // namespace

std::string printable(std::string_view name, std::size_t max_bytes) {
  std::string out;
  while (!name.empty()) {
    const std::size_t length = printable_sequence(name);
    const std::string_view piece = length == 0 ? kReplacement : name.substr(0, length);
    if (out.size() + piece.size() > max_bytes) return out.append(kEllipsis);
    out.append(piece);
    name.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace halftone
