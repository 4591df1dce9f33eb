// Blocks as bytes: what each layout of halftone/block_format.h does. The functions trust their sizes;
// block_format.cc checks them.
#pragma once

#include <cstdint>
#include <span>

#include "halftone/block_format.h"

namespace halftone::codec {

inline constexpr std::size_t kMaxBlockSize = 4096;

// Why a block can't be stored. That its values are finite is checked before, but for MX.
enum class BlockFault : std::uint8_t { kNone, kScaleTooLarge };

struct BlockCoder {
  // x has 1 to block_size elements (exactly block_size where whole_blocks is set), codes and scales the bytes
  // that so many take. All of both is written.
  BlockFault (*encode)(std::span<const float> x, std::uint8_t* codes, std::uint8_t* scales,
                       const BlockCoding& coding);
  void (*decode)(const std::uint8_t* codes, const std::uint8_t* scales, std::span<float> y,
                 const BlockCoding& coding);
  // Any number of whole blocks, one behind another; values at any address. nullptr where blocks by
  // themselves are as fast.
  void (*encode_run)(const std::uint8_t* x, std::size_t blocks, std::uint8_t* codes, std::uint8_t* scales,
                     const BlockCoding& coding) = nullptr;
  void (*decode_run)(const std::uint8_t* codes, const std::uint8_t* scales, std::size_t blocks,
                     std::uint8_t* y, const BlockCoding& coding) = nullptr;
};

BlockCoder gguf_coder(BlockFormat format);
BlockCoder gguf_superblock_coder(BlockFormat format);
BlockCoder gguf_float4_coder(BlockFormat format);
BlockCoder mx_coder(BlockFormat format);
BlockCoder nvfp4_coder();
BlockCoder bitsandbytes_coder(BlockFormat format);

}  // namespace halftone::codec
