#include "halftone/code_bytes.h"

#include <cstddef>
#include <cstring>

namespace halftone {

std::vector<std::uint8_t> code_bytes(NumberFormat format, std::span<const std::int32_t> codes) {
  const auto bits = static_cast<std::size_t>(number_format_info(format).bits);
  std::vector<std::uint8_t> bytes((codes.size() * bits + 7) / 8, 0);
  for (std::size_t index = 0; index < codes.size(); ++index) {
    const auto code = static_cast<std::uint32_t>(codes[index]);
    const std::size_t bit = index * bits;
    if (bits < 8) {
      const std::uint32_t low = (code & ((1U << bits) - 1U)) << (bit % 8);
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | low);
      continue;
    }
    for (std::size_t byte = 0; byte < bits / 8; ++byte)
      bytes[bit / 8 + byte] = static_cast<std::uint8_t>(code >> (8 * byte));
  }
  return bytes;
}

std::vector<std::uint8_t> float_bytes(std::span<const float> values) {
  std::vector<std::uint8_t> bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace halftone
