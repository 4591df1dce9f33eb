// SHA-256 (FIPS 180-4), fed in slices: the model's identity in every JSON file.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace halftone::tools {

class Sha256 {
 public:
  void update(std::span<const std::uint8_t> bytes);
  // Lower-case hex. Call once, at the end.
  std::string finish();

 private:
  void compress(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                         0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
  std::array<std::uint8_t, 64> block_{};
  std::size_t block_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace halftone::tools
