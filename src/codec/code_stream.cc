#include "codec/code_stream.h"

#include <array>

namespace halftone::codec {
namespace {

constexpr std::array<std::uint32_t, 5> kPowersOf3{1, 3, 9, 27, 81};
constexpr std::uint32_t kBase3Bytes = 243;

void write_trits(std::span<const std::uint16_t> codes, std::uint8_t* out) {
  std::uint32_t byte = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    byte += codes[i] * kPowersOf3[i % 5];
    if (i % 5 != 4 && i + 1 != codes.size()) continue;
    *out++ = static_cast<std::uint8_t>(byte);
    byte = 0;
  }
}

void write_bits(std::uint32_t bits, std::span<const std::uint16_t> codes, std::uint8_t* out) {
  const std::uint32_t mask = (1U << bits) - 1;
  std::uint32_t pending = 0;
  std::uint32_t held = 0;
  for (const std::uint16_t code : codes) {
    pending |= (code & mask) << held;
    held += bits;
    for (; held >= 8; held -= 8) {
      *out++ = static_cast<std::uint8_t>(pending);
      pending >>= 8U;
    }
  }
  if (held > 0) *out = static_cast<std::uint8_t>(pending);
}

void read_bits(std::uint32_t bits, const std::uint8_t* from, std::span<std::uint16_t> codes) {
  const std::uint32_t mask = (1U << bits) - 1;
  std::uint32_t pending = 0;
  std::uint32_t held = 0;
  for (std::uint16_t& code : codes) {
    for (; held < bits; held += 8) pending |= static_cast<std::uint32_t>(*from++) << held;
    code = static_cast<std::uint16_t>(pending & mask);
    pending >>= bits;
    held -= bits;
  }
}

}  // namespace

void write_codes(const BlockLayout& layout, std::span<const std::uint16_t> codes, std::uint8_t* out) {
  if (layout.base3) {
    write_trits(codes, out);
  } else {
    write_bits(layout.bits, codes, out);
  }
}

StreamFault check_code_bytes(const BlockLayout& layout, std::span<const std::uint8_t> bytes,
                             std::uint64_t codes) {
  if (bytes.empty()) return StreamFault::kNone;
  if (!layout.base3) {
    const auto used = static_cast<std::uint32_t>(codes % 8 * layout.bits % 8);
    return used == 0 || bytes.back() >> used == 0 ? StreamFault::kNone : StreamFault::kPadding;
  }
  std::uint8_t highest = 0;
  for (const std::uint8_t byte : bytes) highest = byte > highest ? byte : highest;
  if (highest >= kBase3Bytes) return StreamFault::kBase3Byte;
  const std::size_t used = codes % 5;
  return used == 0 || bytes.back() < kPowersOf3[used] ? StreamFault::kNone : StreamFault::kPadding;
}

StreamFault read_codes(const BlockLayout& layout, const std::uint8_t* from, std::span<std::uint16_t> codes) {
  const std::size_t count = codes.size();
  if (!layout.base3) {
    const std::size_t bytes = count / 8 * layout.bits + (count % 8 * layout.bits + 7) / 8;
    read_bits(layout.bits, from, codes);
    return check_code_bytes(layout, {from, bytes}, count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    codes[i] = static_cast<std::uint16_t>(from[i / 5] / kPowersOf3[i % 5] % 3);
  }
  return check_code_bytes(layout, {from, (count + 4) / 5}, count);
}

}  // namespace halftone::codec
