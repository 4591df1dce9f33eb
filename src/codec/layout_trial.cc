// Block layouts on trial. Where a layout's scales are is found out by asking its decoder: of a block with all
// codes set to one number, then to another, the values tell step and offset, sub-blocks included.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "codec/trial_coder.h"
#include "halftone/codec_plan.h"
#include "halftone/small_floats.h"

namespace halftone::codec {
namespace {

// Bytes of codes in a block, and two patterns of them with the levels that they stand for.
struct CodeProbe {
  std::size_t first = 0;
  std::size_t last = 0;  // behind the last
  std::uint8_t pattern = 0xFF;
  double level_of_zeros = 0.0;
  double level_of_pattern = 0.0;
};

CodeProbe probe_of(BlockFormat format) {
  switch (format) {
    case BlockFormat::kGgufQ4_0:
      return {2, 18, 0xFF, -8, 7};
    case BlockFormat::kGgufQ4_1:
      return {4, 20, 0xFF, 0, 15};
    case BlockFormat::kGgufQ5_0:
      return {2, 22, 0xFF, -16, 15};
    case BlockFormat::kGgufQ5_1:
      return {4, 24, 0xFF, 0, 31};
    case BlockFormat::kGgufQ8_0:
      return {2, 34, 0x40, 0, 64};
    case BlockFormat::kGgufIq4Nl:
      return {2, 18, 0xFF, -127, 113};
    case BlockFormat::kGgufQ4K:
      return {16, 144, 0xFF, 0, 15};
    case BlockFormat::kGgufQ6K:
      return {0, 192, 0xFF, -32, 31};
    case BlockFormat::kGgufMxfp4:
      return {1, 17, 0xFF, 0, -6};
    case BlockFormat::kGgufNvfp4:
      return {4, 36, 0xFF, 0, -6};
    case BlockFormat::kMxfp4:
    case BlockFormat::kNvfp4:
      return {0, 0, 0xFF, 0, -6};
    case BlockFormat::kMxfp6E3M2:
      return {0, 0, 0xFF, 0, -28};
    case BlockFormat::kMxfp6E2M3:
      return {0, 0, 0xFF, 0, -7.5};
    case BlockFormat::kMxfp8E4M3:
      return {0, 0, 0x38, 0, 1};  // all ones would be NaN
    case BlockFormat::kMxfp8E5M2:
      return {0, 0, 0x3C, 0, 1};
    case BlockFormat::kMxint8:
      return {0, 0, 0x40, 0, 64};
    case BlockFormat::kBitsandbytesNf4:
      return {0, 0, 0xFF, -1, 1};
    case BlockFormat::kBitsandbytesFp4:
      break;
  }
  return {0, 0, 0x33, 0, 1};  // of its table, code 3 is 1
}

std::vector<double> numbers(int low, int high) {
  std::vector<double> levels;
  for (int level = low; level <= high; ++level) levels.push_back(level);
  return levels;
}

std::vector<double> ascending(std::vector<double> levels) {
  std::erase_if(levels, [](double level) { return !std::isfinite(level); });
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

std::vector<double> floats(SmallFloat type) {
  const std::span<const float> values = small_float_values(type);
  return ascending({values.begin(), values.end()});
}

std::vector<double> table(CodecProfile profile) {
  const std::span<const double> values = codec_profile_info(profile).codebook;
  return ascending({values.begin(), values.end()});
}

// Code k at an absmax of 1.
std::vector<double> bitsandbytes_table() {
  std::array<std::uint8_t, 8> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<std::uint8_t>((2 * i) << 4U | (2 * i + 1));
  const float one = 1.0F;
  std::array<std::uint8_t, sizeof(float)> scale{};
  std::memcpy(scale.data(), &one, sizeof(one));
  std::array<float, 16> values{};
  const BlockCoding coding{.format = BlockFormat::kBitsandbytesFp4, .block_size = 16};
  if (!decode_blocks(coding, codes, scale, std::span<float>(values)).ok()) return {};
  return ascending({values.begin(), values.end()});
}

std::vector<double> levels_of(BlockFormat format) {
  switch (format) {
    case BlockFormat::kGgufQ4_0:
      return numbers(-8, 7);
    case BlockFormat::kGgufQ4_1:
    case BlockFormat::kGgufQ4K:
      return numbers(0, 15);
    case BlockFormat::kGgufQ5_0:
      return numbers(-16, 15);
    case BlockFormat::kGgufQ5_1:
      return numbers(0, 31);
    case BlockFormat::kGgufQ8_0:
    case BlockFormat::kMxint8:
      return numbers(-127, 127);
    case BlockFormat::kGgufIq4Nl:
      return table(CodecProfile::kIq4Nl);
    case BlockFormat::kGgufQ6K:
      return numbers(-32, 31);
    case BlockFormat::kMxfp6E3M2:
      return floats(SmallFloat::kFloat6E3M2);
    case BlockFormat::kMxfp6E2M3:
      return floats(SmallFloat::kFloat6E2M3);
    case BlockFormat::kMxfp8E4M3:
      return floats(SmallFloat::kFloat8E4M3Fn);
    case BlockFormat::kMxfp8E5M2:
      return floats(SmallFloat::kFloat8E5M2);
    case BlockFormat::kBitsandbytesNf4:
      return table(CodecProfile::kNf4);
    case BlockFormat::kBitsandbytesFp4:
      return bitsandbytes_table();
    case BlockFormat::kGgufMxfp4:
    case BlockFormat::kGgufNvfp4:
    case BlockFormat::kMxfp4:
    case BlockFormat::kNvfp4:
      break;
  }
  return floats(SmallFloat::kFloat4E2M1);
}

class LayoutTrial final : public FormatTrial::Coder {
 public:
  LayoutTrial(const BlockCoding& coding, std::uint32_t block_size)
      : Coder(block_size, levels_of(coding.format)), coding_(coding), probe_(probe_of(coding.format)) {}

  Result<void> run(FloatView values, std::span<float> decoded) override {
    const Result<BlockByteCounts> bytes = block_byte_counts(coding_, values.size());
    if (!bytes.ok()) return bytes.error();
    codes_.resize(static_cast<std::size_t>(bytes.value().codes));
    scales_.resize(static_cast<std::size_t>(bytes.value().scales));
    if (Result<void> done = encode_blocks(coding_, values, codes_, scales_); !done.ok()) return done;
    if (Result<void> done = decode_blocks(coding_, codes_, scales_, decoded); !done.ok()) return done;
    return find_scales(values.size());
  }

 private:
  Result<void> find_scales(std::size_t count) {
    zeros_.resize(count);
    patterns_.resize(count);
    fill_codes(0);
    if (Result<void> done = decode_blocks(coding_, codes_, scales_, std::span<float>(zeros_)); !done.ok())
      return done;
    fill_codes(probe_.pattern);
    if (Result<void> done = decode_blocks(coding_, codes_, scales_, std::span<float>(patterns_)); !done.ok())
      return done;
    clear_scales();
    const double apart = probe_.level_of_pattern - probe_.level_of_zeros;
    for (std::size_t i = 0; i < count; ++i) {
      const auto zero = static_cast<double>(zeros_[i]);
      const double step = (static_cast<double>(patterns_[i]) - zero) / apart;
      add_scale(step, zero - probe_.level_of_zeros * step, 1);
    }
    return {};
  }

  void fill_codes(std::uint8_t pattern) {
    const std::size_t block_bytes = block_format_info(coding_.format).code_bytes;
    if (probe_.last == 0) {
      std::fill(codes_.begin(), codes_.end(), pattern);
      return;
    }
    for (std::size_t block = 0; block + block_bytes <= codes_.size(); block += block_bytes) {
      const auto begin = codes_.begin() + static_cast<std::ptrdiff_t>(block);
      std::fill(begin + static_cast<std::ptrdiff_t>(probe_.first),
                begin + static_cast<std::ptrdiff_t>(probe_.last), pattern);
    }
  }

  BlockCoding coding_;
  CodeProbe probe_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint8_t> scales_;
  std::vector<float> zeros_;
  std::vector<float> patterns_;
};

}  // namespace

std::unique_ptr<FormatTrial::Coder> layout_trial(const BlockCoding& coding) {
  const std::uint32_t block_size =
      coding.block_size == 0 ? block_format_info(coding.format).block_size : coding.block_size;
  return std::make_unique<LayoutTrial>(coding, block_size);
}

}  // namespace halftone::codec
