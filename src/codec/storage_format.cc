#include "halftone/storage_format.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "halftone/codec_schema.h"

namespace halftone {
namespace {

constexpr std::string_view kOnnxLight = "onnx-light: quantization.h, format v1";
constexpr std::string_view kOnnx = "ONNX: QuantizeLinear, DequantizeLinear";
constexpr std::uint32_t kOnnxBlock = 128;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 60U;

// What people use; onnx-light itself has 128 for all.
std::uint32_t usual_block_size(CodecProfile profile) {
  switch (profile) {
    case CodecProfile::kNf4:
      return 64;
    case CodecProfile::kMxfp4:
    case CodecProfile::kMxfp6:
      return 32;
    case CodecProfile::kNvfp4:
      return 16;
    default:
      return static_cast<std::uint32_t>(kDefaultBlockSize);
  }
}

double code_bits(const BlockLayout& layout) {
  if (layout.method == CodecMethod::kCast) return static_cast<double>(data_type_bits(layout.cast_type));
  if (layout.base3) return 1.6;
  return static_cast<double>(layout.bits) * layout.books / layout.vector_size;
}

StorageFormat of_profile(const CodecProfileInfo& info) {
  StorageFormat format;
  format.name = info.name;
  format.family = FormatFamily::kEncodedValue;
  format.format = info.profile;
  format.source = kOnnxLight;
  format.bits = code_bits(info.layout);
  format.block_size = usual_block_size(info.profile);
  if (info.ort) {
    format.needs = FormatNeeds::kMatrix;
  } else if (info.needs_transform) {
    format.needs = FormatNeeds::kTransform;
  } else if (info.learned_codebook) {
    format.needs = FormatNeeds::kCodebook;
  }
  return format;
}

StorageFormat of_number(const NumberFormatInfo& info) {
  StorageFormat format;
  format.name = "onnx_" + std::string(info.name);
  format.family = FormatFamily::kOnnxType;
  format.format = info.format;
  format.source = kOnnx;
  format.bits = info.bits;
  format.block_size = kOnnxBlock;
  return format;
}

StorageFormat of_layout(const BlockFormatInfo& info) {
  StorageFormat format;
  format.name = info.name;
  format.family = FormatFamily::kBlockLayout;
  format.format = info.format;
  format.source = info.source;
  format.bits = info.bits_per_weight - 8.0 * info.scale_bytes / info.block_size;
  format.block_size = info.block_size;
  format.any_block_size = info.any_block_size;
  format.whole_blocks = info.whole_blocks;
  return format;
}

std::vector<StorageFormat> all_formats() {
  std::vector<StorageFormat> formats;
  for (const CodecProfileInfo& info : codec_profiles()) formats.push_back(of_profile(info));
  for (const NumberFormatInfo& info : number_formats()) {
    if (is_quantize_format(info.format)) formats.push_back(of_number(info));
  }
  for (const BlockFormatInfo& info : block_formats()) formats.push_back(of_layout(info));
  return formats;
}

// Names that have the word, or a part of it, in them.
std::string like(std::string_view name) {
  std::string found;
  const std::string_view stem = name.substr(0, std::min<std::size_t>(name.size(), 3));
  for (const StorageFormat& format : storage_formats()) {
    if (stem.empty() || format.name.find(stem) == std::string::npos || found.size() > 80) continue;
    found += (found.empty() ? "" : ", ") + format.name;
  }
  return found.empty() ? std::string("int4, nf4, onnx_int4, gguf_q4_0") : found;
}

Result<std::uint64_t> profile_bytes(CodecProfile profile, std::uint32_t block_size, std::uint64_t count) {
  const CodecProfileInfo& info = codec_profile_info(profile);
  const auto bytes_of = [&](std::uint64_t blocks, std::uint32_t elements) -> Result<std::uint64_t> {
    BlockLayout layout = info.layout;
    layout.count = elements;
    const Result<BlockSizes> sizes = check_block_layout(layout);
    if (!sizes.ok()) return sizes.error();
    const std::uint64_t record = sizes.value().record_bytes;
    if (blocks > kMostElements / record)
      return Error{ErrorCode::kTooLarge, "The encoded value would have more than 2^60 bytes.", "",
                   "Check the tensor's dimensions."};
    return blocks * record;
  };
  const Result<std::uint64_t> whole = bytes_of(count / block_size, block_size);
  const std::uint64_t rest = count % block_size;
  if (!whole.ok() || rest == 0) return whole;
  const Result<std::uint64_t> last = bytes_of(1, static_cast<std::uint32_t>(rest));
  if (!last.ok()) return last;
  return whole.value() + last.value();
}

Result<std::uint64_t> number_bytes(NumberFormat number, std::uint32_t block_size, std::uint64_t count) {
  const NumberFormatInfo& info = number_format_info(number);
  const std::uint64_t blocks = count / block_size + (count % block_size == 0 ? 0 : 1);
  const bool zero_points = info.kind == FormatKind::kInteger && info.lowest == 0;
  const std::uint64_t codes = code_byte_count(number, count).value_or(0);
  const std::uint64_t points = zero_points ? code_byte_count(number, blocks).value_or(0) : 0;
  return codes + blocks * sizeof(float) + points;
}

}  // namespace

std::string_view format_family_name(FormatFamily family) {
  switch (family) {
    case FormatFamily::kEncodedValue:
      return "onnx-light profile";
    case FormatFamily::kOnnxType:
      return "ONNX type";
    case FormatFamily::kBlockLayout:
      break;
  }
  return "block layout";
}

std::span<const StorageFormat> storage_formats() {
  static const std::vector<StorageFormat> formats = all_formats();
  return formats;
}

Result<const StorageFormat*> find_storage_format(std::string_view name) {
  for (const StorageFormat& format : storage_formats()) {
    if (format.name == name) return &format;
  }
  return Error{ErrorCode::kInvalidPolicy, "There is no number format \"" + printable(name) + "\".", "",
               "halftone formats lists all; alike are " + like(name) + "."};
}

Result<std::uint32_t> storage_block_size(const StorageFormat& format, std::uint64_t wanted) {
  if (wanted == 0 || wanted == format.block_size) return format.block_size;
  if (wanted > std::numeric_limits<std::uint32_t>::max())
    return Error{ErrorCode::kInvalidPolicy, "A block can't have more than 4294967295 elements.", "",
                 "Choose a smaller block size, such as 128."};
  const auto size = static_cast<std::uint32_t>(wanted);
  if (const auto* layout = std::get_if<BlockFormat>(&format.format)) {
    const Result<BlockByteCounts> checked = block_byte_counts({.format = *layout, .block_size = size}, 0);
    if (!checked.ok()) return checked.error();
    return size;
  }
  const bool power = (wanted & (wanted - 1)) == 0;
  if (format.needs == FormatNeeds::kMatrix && (wanted < 16 || !power))
    return Error{ErrorCode::kInvalidPolicy,
                 format.name + " has no blocks of " + std::to_string(wanted) + " elements.", "",
                 "Choose a power of two from 16 on."};
  return size;
}

Result<std::uint64_t> stored_bytes(const StorageFormat& format, std::uint32_t block_size,
                                   std::uint64_t count) {
  if (block_size == 0 || format.needs == FormatNeeds::kMatrix)
    return Error{ErrorCode::kInvalidPolicy, format.name + " stores matrices, which have two dimensions.", "",
                 "Encode a matrix with it, or compare another format."};
  if (count > kMostElements)
    return Error{ErrorCode::kTooLarge, "A tensor of more than 2^60 elements can't be stored.", "",
                 "Check the tensor's dimensions."};
  if (count == 0) return std::uint64_t{0};
  if (const auto* profile = std::get_if<CodecProfile>(&format.format))
    return profile_bytes(*profile, block_size, count);
  if (const auto* number = std::get_if<NumberFormat>(&format.format))
    return number_bytes(*number, block_size, count);
  const auto layout = std::get<BlockFormat>(format.format);
  const Result<BlockByteCounts> bytes =
      block_byte_counts({.format = layout, .block_size = block_size}, count);
  if (!bytes.ok()) return bytes.error();
  const std::uint64_t tensor_scale = layout == BlockFormat::kNvfp4 ? sizeof(float) : 0;
  return bytes.value().codes + bytes.value().scales + tensor_scale;
}

}  // namespace halftone
