#include "halftone/block_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "codec/block_coder.h"

namespace halftone {
namespace {

using codec::BlockCoder;
using codec::BlockFault;

constexpr std::string_view kGguf = "ggml: ggml-common.h, ggml-quants.c";
constexpr std::string_view kMx = "OCP Microscaling Formats v1.0";
constexpr std::string_view kModelOpt = "NVIDIA ModelOpt: nvfp4_tensor.py";
constexpr std::string_view kBitsandbytes = "bitsandbytes: functional.py, kernels.cu";

// In the order of the enum.
constexpr std::array<BlockFormatInfo, 19> kFormats = {{
    {BlockFormat::kGgufQ4_0, "gguf_q4_0", 32, 18, 0, 4.5, false, true, kGguf},
    {BlockFormat::kGgufQ4_1, "gguf_q4_1", 32, 20, 0, 5.0, false, true, kGguf},
    {BlockFormat::kGgufQ5_0, "gguf_q5_0", 32, 22, 0, 5.5, false, true, kGguf},
    {BlockFormat::kGgufQ5_1, "gguf_q5_1", 32, 24, 0, 6.0, false, true, kGguf},
    {BlockFormat::kGgufQ8_0, "gguf_q8_0", 32, 34, 0, 8.5, false, true, kGguf},
    {BlockFormat::kGgufIq4Nl, "gguf_iq4_nl", 32, 18, 0, 4.5, false, true, kGguf},
    {BlockFormat::kGgufQ4K, "gguf_q4_k", 256, 144, 0, 4.5, false, true, kGguf},
    {BlockFormat::kGgufQ6K, "gguf_q6_k", 256, 210, 0, 6.5625, false, true, kGguf},
    {BlockFormat::kGgufMxfp4, "gguf_mxfp4", 32, 17, 0, 4.25, false, true, kGguf},
    {BlockFormat::kGgufNvfp4, "gguf_nvfp4", 64, 36, 0, 4.5, false, true, kGguf},
    {BlockFormat::kMxfp4, "ocp_mxfp4", 32, 16, 1, 4.25, false, false, kMx},
    {BlockFormat::kMxfp6E3M2, "ocp_mxfp6_e3m2", 32, 24, 1, 6.25, false, false, kMx},
    {BlockFormat::kMxfp6E2M3, "ocp_mxfp6_e2m3", 32, 24, 1, 6.25, false, false, kMx},
    {BlockFormat::kMxfp8E4M3, "ocp_mxfp8_e4m3", 32, 32, 1, 8.25, false, false, kMx},
    {BlockFormat::kMxfp8E5M2, "ocp_mxfp8_e5m2", 32, 32, 1, 8.25, false, false, kMx},
    {BlockFormat::kMxint8, "ocp_mxint8", 32, 32, 1, 8.25, false, false, kMx},
    {BlockFormat::kNvfp4, "modelopt_nvfp4", 16, 8, 1, 4.5, false, false, kModelOpt},
    {BlockFormat::kBitsandbytesNf4, "bnb_nf4", 64, 32, 4, 4.5, true, false, kBitsandbytes},
    {BlockFormat::kBitsandbytesFp4, "bnb_fp4", 64, 32, 4, 4.5, true, false, kBitsandbytes},
}};

constexpr bool table_is_sound() {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    const BlockFormatInfo& info = kFormats[i];
    if (static_cast<std::size_t>(info.format) != i) return false;
    if (info.bits_per_weight * info.block_size != 8.0 * (info.code_bytes + info.scale_bytes)) return false;
    if (info.block_size > codec::kMaxBlockSize) return false;
  }
  return true;
}
static_assert(table_is_sound());

constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 60U;
constexpr std::uint32_t kMinBlockSize = 16;

BlockCoder coder_of(BlockFormat format) {
  switch (format) {
    case BlockFormat::kGgufQ4_0:
    case BlockFormat::kGgufQ4_1:
    case BlockFormat::kGgufQ5_0:
    case BlockFormat::kGgufQ5_1:
    case BlockFormat::kGgufQ8_0:
    case BlockFormat::kGgufIq4Nl:
      return codec::gguf_coder(format);
    case BlockFormat::kGgufQ4K:
    case BlockFormat::kGgufQ6K:
      return codec::gguf_superblock_coder(format);
    case BlockFormat::kGgufMxfp4:
    case BlockFormat::kGgufNvfp4:
      return codec::gguf_float4_coder(format);
    case BlockFormat::kNvfp4:
      return codec::nvfp4_coder();
    case BlockFormat::kBitsandbytesNf4:
    case BlockFormat::kBitsandbytesFp4:
      return codec::bitsandbytes_coder(format);
    default:
      return codec::mx_coder(format);
  }
}

// Of one block with `count` elements.
BlockByteCounts block_bytes(const BlockFormatInfo& info, std::uint64_t count) {
  if (info.whole_blocks) return {info.code_bytes, info.scale_bytes};
  const std::uint64_t bits = std::uint64_t{info.code_bytes} * 8 / info.block_size;
  return {(count * bits + 7) / 8, info.scale_bytes};
}

Result<std::uint32_t> block_size_of(const BlockCoding& coding) {
  const BlockFormatInfo& info = block_format_info(coding.format);
  const std::uint32_t size = coding.block_size == 0 ? info.block_size : coding.block_size;
  if (size == info.block_size) return size;
  const std::string name(info.name);
  if (!info.any_block_size) {
    return Error{ErrorCode::kInvalidPolicy,
                 name + " has blocks of " + std::to_string(info.block_size) + " elements, not of " +
                     std::to_string(size) + ".",
                 "", "Leave the block size out, or choose another format."};
  }
  if (size < kMinBlockSize || size > codec::kMaxBlockSize || (size & (size - 1)) != 0) {
    return Error{ErrorCode::kInvalidPolicy, name + " has no blocks of " + std::to_string(size) + " elements.",
                 "", "Choose a power of two from 16 to 4096."};
  }
  return size;
}

Result<void> check_sizes(const BlockCoding& coding, std::uint64_t count, std::size_t codes,
                         std::size_t scales) {
  const Result<BlockByteCounts> needed = block_byte_counts(coding, count);
  if (!needed) return needed.error();
  if (needed.value().codes == codes && needed.value().scales == scales) return {};
  return Error{ErrorCode::kShapeMismatch,
               std::to_string(count) + " elements of " + std::string(block_format_info(coding.format).name) +
                   " take " + std::to_string(needed.value().codes) + " bytes of codes and " +
                   std::to_string(needed.value().scales) + " of scales, not " + std::to_string(codes) +
                   " and " + std::to_string(scales) + ".",
               "", "Check the number of elements and the block size."};
}

bool takes_any_float(BlockFormat format) {
  return format >= BlockFormat::kMxfp4 && format <= BlockFormat::kMxint8;
}

Result<void> check_finite(std::span<const float> x, std::uint64_t first) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) continue;
    return Error{ErrorCode::kNonFinite, "A value to be stored is NaN or infinite.",
                 "element " + std::to_string(first + i), "Replace it, or leave this tensor as it is."};
  }
  return {};
}

Error scale_too_large(BlockFormat format, std::uint64_t first) {
  return Error{ErrorCode::kTooLarge,
               "A block of " + std::string(block_format_info(format).name) +
                   " needs a scale or offset that float16 can't hold.",
               "element " + std::to_string(first),
               "Choose a format with wider scales, or scale the tensor down."};
}

}  // namespace

const BlockFormatInfo& block_format_info(BlockFormat format) {
  return kFormats[static_cast<std::size_t>(format)];
}

std::span<const BlockFormatInfo> block_formats() { return kFormats; }

std::optional<BlockFormat> block_format_from_name(std::string_view name) {
  for (const BlockFormatInfo& info : kFormats) {
    if (info.name == name) return info.format;
  }
  return std::nullopt;
}

Result<BlockByteCounts> block_byte_counts(const BlockCoding& coding, std::uint64_t count) {
  const BlockFormatInfo& info = block_format_info(coding.format);
  const Result<std::uint32_t> size = block_size_of(coding);
  if (!size) return size.error();
  if (coding.format == BlockFormat::kNvfp4 &&
      !(std::isfinite(coding.tensor_scale) && coding.tensor_scale > 0.0F)) {
    return Error{ErrorCode::kInvalidPolicy, "The tensor scale of NVFP4 isn't a positive finite number.", "",
                 "Use the largest magnitude of the tensor, divided by 2688."};
  }
  if (count > kMaxElements) {
    return Error{ErrorCode::kTooLarge, "A tensor of more than 2^60 elements can't be stored.", "",
                 "Check the tensor's dimensions."};
  }
  const std::uint64_t blocks = count / size.value();
  const std::uint64_t rest = count % size.value();
  if (rest != 0 && info.whole_blocks) {
    return Error{ErrorCode::kShapeMismatch,
                 std::to_string(count) + " elements are no whole number of blocks of " +
                     std::to_string(size.value()) + ", as " + std::string(info.name) + " needs.",
                 "", "Choose a format with short last blocks, or leave this tensor as it is."};
  }
  const BlockByteCounts whole = block_bytes(info, size.value());
  const BlockByteCounts last = rest == 0 ? BlockByteCounts{} : block_bytes(info, rest);
  return BlockByteCounts{blocks * whole.codes + last.codes, blocks * whole.scales + last.scales};
}

Result<void> encode_blocks(const BlockCoding& coding, FloatView values, std::span<std::uint8_t> codes,
                           std::span<std::uint8_t> scales) {
  const Result<void> checked = check_sizes(coding, values.size(), codes.size(), scales.size());
  if (!checked) return checked;
  const BlockFormatInfo& info = block_format_info(coding.format);
  const std::size_t size = block_size_of(coding).value();
  const BlockByteCounts bytes = block_bytes(info, size);
  const BlockCoder coder = coder_of(coding.format);
  const bool any_float = takes_any_float(coding.format);
  std::array<float, codec::kMaxBlockSize> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::uint8_t* code = codes.data();
  std::uint8_t* scale = scales.data();
  std::size_t first = 0;
  if (const std::size_t blocks = values.size() / size; coder.encode_run != nullptr && blocks > 0) {
    coder.encode_run(values.bytes(), blocks, code, scale, coding);
    first = blocks * size;
    code += blocks * bytes.codes;
    scale += blocks * bytes.scales;
  }
  for (; first < values.size(); first += size) {
    const std::size_t count = std::min(size, values.size() - first);
    std::memcpy(buffer.data(), values.bytes() + first * sizeof(float), count * sizeof(float));
    const std::span<const float> x(buffer.data(), count);
    if (!any_float) {
      const Result<void> finite = check_finite(x, first);
      if (!finite) return finite;
    }
    if (coder.encode(x, code, scale, coding) != BlockFault::kNone) {
      return scale_too_large(coding.format, first);
    }
    code += bytes.codes;
    scale += bytes.scales;
  }
  return {};
}

Result<void> decode_blocks(const BlockCoding& coding, std::span<const std::uint8_t> codes,
                           std::span<const std::uint8_t> scales, MutableFloatView values) {
  const Result<void> checked = check_sizes(coding, values.size(), codes.size(), scales.size());
  if (!checked) return checked;
  const std::size_t size = block_size_of(coding).value();
  const BlockByteCounts bytes = block_bytes(block_format_info(coding.format), size);
  const BlockCoder coder = coder_of(coding.format);
  std::array<float, codec::kMaxBlockSize> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const std::uint8_t* code = codes.data();
  const std::uint8_t* scale = scales.data();
  std::size_t first = 0;
  if (const std::size_t blocks = values.size() / size; coder.decode_run != nullptr && blocks > 0) {
    coder.decode_run(code, scale, blocks, values.bytes(), coding);
    first = blocks * size;
    code += blocks * bytes.codes;
    scale += blocks * bytes.scales;
  }
  for (; first < values.size(); first += size) {
    const std::size_t count = std::min(size, values.size() - first);
    coder.decode(code, scale, {buffer.data(), count}, coding);
    std::memcpy(values.bytes() + first * sizeof(float), buffer.data(), count * sizeof(float));
    code += bytes.codes;
    scale += bytes.scales;
  }
  return {};
}

}  // namespace halftone
