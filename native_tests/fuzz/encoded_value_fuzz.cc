// libFuzzer target: any bytes as an encoded value, and as blocks of every layout. The ordinary tests replay a
// small corpus through it, with every byte flipped (fuzz/encoded_value_replay_test.cc).
#include "fuzz/encoded_value_fuzz.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "halftone/block_format.h"
#include "halftone/codec.h"

namespace halftone::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

[[noreturn]] void broken(const char* what, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", what, why.c_str());
  std::abort();
}

template <typename T>
bool accepted(const Result<T>& result) {
  if (!result.ok() && result.error().message.empty()) broken("an error without a message", "");
  return result.ok();
}

void check_values(const EncodedValue& value, const Bytes& bytes) {
  const std::optional<std::uint64_t> count = element_count(value.logical_type->dims);
  if (!count || bytes.size() != *count * sizeof(double)) broken("the number of values", "isn't the shape's");
  for (std::size_t i = 0; i < *count; ++i) {
    double x = 0.0;
    std::memcpy(&x, bytes.data() + i * sizeof(x), sizeof(x));
    if (!std::isfinite(x)) broken("a decoded value", "isn't finite");
  }
}

std::uint8_t at(std::span<const std::uint8_t> bytes, std::size_t index) {
  return index < bytes.size() ? bytes[index] : std::uint8_t{0};
}

// Encoders may refuse only what float16 or float32 can't hold.
void encode_again(const BlockCoding& coding, const std::vector<float>& values, Bytes& codes, Bytes& scales) {
  for (const float v : values) {
    if (!std::isfinite(v)) return;
  }
  const Result<void> encoded = encode_blocks(coding, FloatView(values), codes, scales);
  if (!accepted(encoded)) {
    if (encoded.error().code != ErrorCode::kTooLarge) broken("encoding", encoded.error().message);
    return;
  }
  std::vector<float> again(values.size());
  const Result<void> done = decode_blocks(coding, codes, scales, MutableFloatView(again));
  if (!accepted(done)) broken("decoding what was encoded", done.error().message);
  for (const float v : again) {
    if (std::isnan(v)) broken("decoding what was encoded", "gave NaN");
  }
}

}  // namespace

bool read_and_decode(std::span<const std::uint8_t> bytes) {
  const Result<EncodedValue> value = read_encoded_value(bytes);
  if (!accepted(value)) return false;
  const Bytes written = write_encoded_value(value.value()).flatten();
  const Result<EncodedValue> again = read_encoded_value(written);
  if (!accepted(again)) broken("reading what was written", again.error().message);
  if (write_encoded_value(again.value()).flatten() != written)
    broken("writing twice", "gave different bytes");
  const Result<Bytes> first = decode_tensor(value.value(), DataType::kDouble);
  const Result<Bytes> second = decode_tensor(again.value(), DataType::kDouble);
  if (accepted(first) != accepted(second)) broken("decoding what was written", "had another outcome");
  if (!first.ok()) return false;
  if (first.value() != second.value()) broken("decoding what was written", "gave other values");
  check_values(value.value(), first.value());
  return true;
}

bool decode_any_blocks(std::span<const std::uint8_t> bytes) {
  const std::span<const BlockFormatInfo> formats = block_formats();
  const BlockFormatInfo& info = formats[at(bytes, 0) % formats.size()];
  BlockCoding coding;
  coding.format = info.format;
  if (info.any_block_size) coding.block_size = 16U << at(bytes, 1) % 9;
  coding.mx_scale = (at(bytes, 1) & 1U) != 0 ? MxScaleRule::kModeloptCeil : MxScaleRule::kFloor;
  coding.tensor_scale = std::ldexp(1.0F, at(bytes, 1) - 128);
  std::size_t count = at(bytes, 2) * std::size_t{5};
  if (info.whole_blocks) count = count / info.block_size * info.block_size;
  const Result<BlockByteCounts> needed = block_byte_counts(coding, count);
  if (!accepted(needed)) broken("counting bytes", needed.error().message);
  const std::span<const std::uint8_t> rest = bytes.subspan(std::min<std::size_t>(3, bytes.size()));
  const auto code_bytes = static_cast<std::size_t>(needed.value().codes);
  const auto scale_bytes = static_cast<std::size_t>(needed.value().scales);
  if (rest.size() < code_bytes + scale_bytes) return false;
  // Copies of exactly this size, so that a sanitizer sees a byte too many.
  Bytes codes(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(code_bytes));
  const auto scales_begin = rest.begin() + static_cast<std::ptrdiff_t>(code_bytes);
  Bytes scales(scales_begin, scales_begin + static_cast<std::ptrdiff_t>(scale_bytes));
  std::vector<float> values(count);
  const Result<void> done = decode_blocks(coding, codes, scales, MutableFloatView(values));
  if (!accepted(done)) broken("decoding blocks", done.error().message);
  encode_again(coding, values, codes, scales);
  return true;
}

}  // namespace halftone::test

#ifdef HALFTONE_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halftone::test::read_and_decode({data, size});
  halftone::test::decode_any_blocks({data, size});
  return 0;
}
#endif
