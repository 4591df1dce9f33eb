// The block layouts of other tools' files: GGUF, OCP Microscaling, NVFP4, bitsandbytes. One closed list, one
// table of facts, and encoding and decoding by blocks.
//
// A layout stores values in blocks of consecutive elements (row major), each with a scale of its own. Blocks
// don't depend on each other and start at a byte, so a caller streams by passing any number of whole blocks
// at a time; only the last call may end within a block, and only where the layout allows that.
//
// Bytes lie in one or two parts. GGUF interleaves: everything is in `codes`, and `scales` is empty. The
// others keep scales apart, as checkpoints and ONNX models do.
//
// Arithmetic: decoding gives, bit for bit, what the layout's reference decoder computes in float32. Encoding
// follows the reference encoder's float32 operations in their order (GGUF, NVFP4, bitsandbytes) or rounds
// once from the exact quotient (MX), so codes and scales are the reference's. The two exceptions are
// gguf_q4_k and gguf_q6_k, whose reference encoders are searches: these have a search of our own, see there.
//
// Values that can't be stored: NaN and infinity are refused (kNonFinite, with the element's index), but by
// the four kinds of MX, which have a NaN for a whole block (scale 0xFF, all codes 0). A GGUF block whose
// scale or offset is more than float16 holds is refused (kTooLarge). A block of zeros decodes to zeros
// everywhere. Threading: pure functions. Memory: a block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halftone/float_view.h"
#include "halftone/result.h"

namespace halftone {

enum class BlockFormat : std::uint8_t {
  // ggml-common.h, ggml-quants.c (quantize_row_*_ref). Scales are float16 inside the block. Of 32 elements,
  // byte j holds element j in its low nibble and element j + 16 in its high one.
  kGgufQ4_0,   // (q - 8) * d
  kGgufQ4_1,   // q * d + m
  kGgufQ5_0,   // (q - 16) * d
  kGgufQ5_1,   // q * d + m
  kGgufQ8_0,   // q * d
  kGgufIq4Nl,  // table[q] * d
  kGgufQ4K,    // 8 sub-blocks of 32: d * sc * q - dmin * m, with sc and m of 6 bits
  kGgufQ6K,    // 16 sub-blocks of 16: d * sc * (q - 32), with sc of 8 bits
  kGgufMxfp4,  // a float8e8m0 scale inside the block
  kGgufNvfp4,  // 4 sub-blocks of 16, each with an unsigned float8e4m3 scale; no scale for the tensor
  // OCP Microscaling Formats v1.0: one float8e8m0 byte per 32 elements. Codes are packed low bits first
  // without gaps.
  kMxfp4,
  kMxfp6E3M2,
  kMxfp6E2M3,
  kMxfp8E4M3,
  kMxfp8E5M2,
  kMxint8,  // q / 64 * scale, q from -127 to 127
  // NVIDIA ModelOpt, NVFP4QTensor: float4e2m1 * (float8e4m3 scale of 16 elements * float32 scale of the
  // tensor); the even element in the low nibble.
  kNvfp4,
  // bitsandbytes, functional.py and kernels.cu: table[code] * absmax, absmax in float32; the even element in
  // the HIGH nibble. com.microsoft.MatMulBnb4 stores the same.
  kBitsandbytesNf4,
  kBitsandbytesFp4,
};

struct BlockFormatInfo {
  BlockFormat format;
  std::string_view name;      // as in options and files: "gguf_q4_0"
  std::uint32_t block_size;   // elements; the default where others are allowed
  std::uint32_t code_bytes;   // of a block of that size, the scales inside included
  std::uint32_t scale_bytes;  // of a block, kept apart; 0: inside
  double bits_per_weight;     // scales included; per tensor, NVFP4 has 32 bits more
  bool any_block_size;        // a power of two from 16 to 4096 may be asked for
  bool whole_blocks;          // the number of elements has to be a multiple of block_size
  std::string_view source;    // where the layout is defined
};

// Facts about one format. O(1).
const BlockFormatInfo& block_format_info(BlockFormat format);

// All formats, in the order of the enum.
std::span<const BlockFormatInfo> block_formats();

// "gguf_q4_0" -> kGgufQ4_0. Exact, lower case; nullopt for an unknown name.
std::optional<BlockFormat> block_format_from_name(std::string_view name);

// How an MX encoder chooses the scale of a block whose largest magnitude is amax.
enum class MxScaleRule : std::uint8_t {
  kFloor,        // OCP: floor(log2(amax)) less the largest exponent of an element; what is over saturates
  kModeloptCeil  // ModelOpt: ceil(log2(amax / largest element)); nothing saturates, steps may be twice as
                 // wide
};

struct BlockCoding {
  BlockFormat format = BlockFormat::kGgufQ4_0;
  std::uint32_t block_size = 0;                // 0: the format's
  MxScaleRule mx_scale = MxScaleRule::kFloor;  // MX only, encoding only
  float tensor_scale = 1.0F;                   // kNvfp4 only: nvfp4_tensor_scale(). Positive and finite
};

struct BlockByteCounts {
  std::uint64_t codes = 0;
  std::uint64_t scales = 0;
};

// Bytes that `count` elements take. 0 and 0 for count 0.
// Errors: kInvalidPolicy for a block size or tensor scale that the format can't have; kShapeMismatch where
// the format needs whole blocks and count has none; kTooLarge over 2^60 elements.
Result<BlockByteCounts> block_byte_counts(const BlockCoding& coding, std::uint64_t count);

// Stores `values`. Both spans have exactly the sizes of block_byte_counts(). Unused bits of a last byte are 0
// (NF4: the code of 0, as bitsandbytes does).
// Errors: those of block_byte_counts(); kShapeMismatch for spans of other sizes; kNonFinite and kTooLarge as
// above. What was written before an error is unspecified.
Result<void> encode_blocks(const BlockCoding& coding, FloatView values, std::span<std::uint8_t> codes,
                           std::span<std::uint8_t> scales);

// The values of the codes, for any bytes. values.size() says how many; both spans have exactly its sizes.
// Padding bits are not looked at. Scales that are NaN or infinite give what float32 arithmetic makes of them;
// products beyond float32 are infinite.
// Errors: those of block_byte_counts(); kShapeMismatch for spans of other sizes.
Result<void> decode_blocks(const BlockCoding& coding, std::span<const std::uint8_t> codes,
                           std::span<const std::uint8_t> scales, MutableFloatView values);

// The tensor scale that ModelOpt gives NVFP4: amax / (6 * 448) in float32, amax being the largest magnitude
// of the whole tensor; 1 where that is 0 (for a tensor of zeros, where ModelOpt divides by 0). Precondition:
// amax >= 0 and finite.
float nvfp4_tensor_scale(float amax);

}  // namespace halftone
