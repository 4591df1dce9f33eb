// GGUF's blocks of 256 taken apart: ggml's block_q4_K and block_q6_K.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace halftone::codec {

inline constexpr std::size_t kSuperblockSize = 256;

// value = float(d * sc) * q - float(dmin * m). Both products are exact in float32 and so is the one with q:
// float16, 6 bits and 4 bits. The difference is rounded.
struct SuperblockQ4 {
  static constexpr std::size_t kSubBlock = 32;
  static constexpr std::size_t kSubBlocks = kSuperblockSize / kSubBlock;
  static constexpr int kLargestScale = 63;
  static constexpr int kLargestCode = 15;

  float d = 0.0F;
  float dmin = 0.0F;
  std::array<std::uint8_t, kSubBlocks> sc = {};
  std::array<std::uint8_t, kSubBlocks> m = {};
  std::array<std::uint8_t, kSuperblockSize> q = {};

  [[nodiscard]] float value(std::size_t index) const {
    const std::size_t sub = index / kSubBlock;
    const float step = d * static_cast<float>(sc[sub]);
    const float offset = dmin * static_cast<float>(m[sub]);
    return step * static_cast<float>(q[index]) - offset;
  }
};

// value = d * sc * q, exact in float32 for a finite d.
struct SuperblockQ6 {
  static constexpr std::size_t kSubBlock = 16;
  static constexpr std::size_t kSubBlocks = kSuperblockSize / kSubBlock;
  static constexpr int kLowestScale = -128;
  static constexpr int kHighestScale = 127;
  static constexpr int kLowestCode = -32;
  static constexpr int kHighestCode = 31;

  float d = 0.0F;
  std::array<std::int8_t, kSubBlocks> sc = {};
  std::array<std::int8_t, kSuperblockSize> q = {};

  [[nodiscard]] float value(std::size_t index) const {
    return d * static_cast<float>(sc[index / kSubBlock]) * static_cast<float>(q[index]);
  }
};

// Scales and codes of small error for x (256 finite values). d and dmin are values of float16; nullopt if
// they would be beyond it.
//
// ggml's reference encoders search, too, but with weights and steps of their own, so bytes differ from
// theirs. What holds here: values that a fitted superblock stands for are found again exactly, so encoding
// what was decoded gives the same bytes. The one exception, for Q4: superblocks whose offsets are so much
// larger than their steps that all codes of the largest step's sub-block are the same.
std::optional<SuperblockQ4> fit_q4(std::span<const float> x);
std::optional<SuperblockQ6> fit_q6(std::span<const float> x);

// The scales and codes that x is made of, if it is exactly what a superblock with a largest scale of 63 (and,
// where it has offsets, a largest offset of 63), or of -128, stands for. Of several such superblocks always
// the same.
std::optional<SuperblockQ4> recognized_q4(std::span<const float> x);
std::optional<SuperblockQ6> recognized_q6(std::span<const float> x);

}  // namespace halftone::codec
