#include "numeric/code_packing.h"

namespace halftone::numeric {
namespace {

void pack_trits(const std::uint8_t* codes, std::size_t count, std::uint8_t* packed) {
  for (std::size_t first = 0; first < count; first += 5) {
    std::uint32_t sum = 0;
    for (std::size_t i = count - first < 5 ? count - first : 5; i-- > 0;) sum = sum * 3 + codes[first + i];
    *packed++ = static_cast<std::uint8_t>(sum);
  }
}

void unpack_trits(const std::uint8_t* packed, std::size_t count, std::uint8_t* codes) {
  std::uint32_t rest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 5 == 0) rest = *packed++;
    codes[i] = static_cast<std::uint8_t>(rest % 3);
    rest /= 3;
  }
}

}  // namespace

void pack_codes(const std::uint8_t* codes, std::size_t count, CodePacking packing, std::uint8_t* packed) {
  if (packing.base3) return pack_trits(codes, count, packed);
  const std::uint32_t mask = (1U << packing.bits) - 1U;
  std::uint32_t waiting = 0;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    waiting |= (codes[i] & mask) << bits;
    bits += packing.bits;
    if (bits < 8) continue;
    *packed++ = static_cast<std::uint8_t>(waiting);
    waiting >>= 8U;
    bits -= 8;
  }
  if (bits > 0) *packed = static_cast<std::uint8_t>(waiting);
}

void unpack_codes(const std::uint8_t* packed, std::size_t count, CodePacking packing, std::uint8_t* codes) {
  if (packing.base3) return unpack_trits(packed, count, codes);
  const std::uint32_t mask = (1U << packing.bits) - 1U;
  std::uint32_t waiting = 0;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (bits < packing.bits) {
      waiting |= static_cast<std::uint32_t>(*packed++) << bits;
      bits += 8;
    }
    codes[i] = static_cast<std::uint8_t>(waiting & mask);
    waiting >>= packing.bits;
    bits -= packing.bits;
  }
}

}  // namespace halftone::numeric
