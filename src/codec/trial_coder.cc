// Profiles of encoded values and types of ONNX on trial.
#include "codec/trial_coder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "codec/float_elements.h"
#include "halftone/codec.h"
#include "halftone/quantized_tensor.h"

namespace halftone {

double FormatTrial::Coder::normalised(std::size_t i, double value) const {
  const double above = value - offsets_[i];
  if (above == 0.0) return 0.0;
  return above / steps_[i];
}

namespace codec {
namespace {

std::vector<double> whole_numbers(double low, double high) {
  if (high - low >= static_cast<double>(kMostLevels)) return {};
  std::vector<double> levels(static_cast<std::size_t>(high - low) + 1);
  std::iota(levels.begin(), levels.end(), low);
  return levels;
}

std::vector<double> sorted_once(std::vector<double> levels) {
  std::erase_if(levels, [](double level) { return !std::isfinite(level); });
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

std::vector<double> levels_of(const CodecProfileInfo& info) {
  switch (info.layout.method) {
    case CodecMethod::kAffine: {
      const CodeLimits limits = code_limits(info.layout);
      return whole_numbers(limits.low - info.zero_point, limits.high - info.zero_point);
    }
    case CodecMethod::kCodebook:
      return sorted_once({info.codebook.begin(), info.codebook.end()});
    case CodecMethod::kCast:
      break;
  }
  return {};
}

class ProfileTrial final : public FormatTrial::Coder {
 public:
  ProfileTrial(std::uint32_t block_size, std::vector<double> levels, BlockEncoder encoder,
               BlockDecoder decoder)
      : Coder(block_size, std::move(levels)), encoder_(std::move(encoder)), decoder_(std::move(decoder)) {}

  Result<void> run(FloatView values, std::span<float> decoded) override {
    const std::uint64_t blocks = blocks_within(encoder_.schema(), next_block_, values.size());
    const Result<BlockRange> range = block_range(encoder_.schema(), next_block_, blocks);
    if (!range.ok()) return range.error();
    records_.resize(static_cast<std::size_t>(range.value().bytes));
    const std::span<const std::uint8_t> source(values.bytes(), values.size() * sizeof(float));
    if (Result<void> done = encoder_.encode(next_block_, blocks, source, records_); !done.ok()) return done;
    const std::span<std::uint8_t> target(reinterpret_cast<std::uint8_t*>(decoded.data()),
                                         decoded.size_bytes());
    if (Result<void> done = decoder_.decode(next_block_, blocks, records_, target); !done.ok()) return done;
    next_block_ += blocks;
    if (shows_levels()) read_scales(values.size());
    return {};
  }

 private:
  // A record begins with its scale, zero point and offset; all records but the tensor's last are of one size.
  void read_scales(std::size_t values) {
    clear_scales();
    const std::uint64_t record = encoder_.schema().runs.front().sizes.record_bytes;
    const std::uint8_t* at = records_.data();
    for (std::size_t first = 0; first < values; first += block_size()) {
      add_scale(load_bytes<double>(at), load_bytes<double>(at + 2 * sizeof(double)),
                std::min<std::size_t>(block_size(), values - first));
      at += record;
    }
  }

  BlockEncoder encoder_;
  BlockDecoder decoder_;
  std::uint64_t next_block_ = 0;
  std::vector<std::uint8_t> records_;
};

class NumberTrial final : public FormatTrial::Coder {
 public:
  NumberTrial(std::uint32_t block_size, std::vector<double> levels, const TensorGrain& grain)
      : Coder(block_size, std::move(levels)), grain_(grain) {}

  Result<void> run(FloatView values, std::span<float> decoded) override {
    const std::int64_t dims[] = {static_cast<std::int64_t>(values.size())};
    const Result<QuantizedTensor> tensor = quantize_tensor(values, dims, grain_);
    if (!tensor.ok()) return tensor.error();
    if (Result<void> done = dequantize_tensor(tensor.value(), decoded); !done.ok()) return done;
    if (!shows_levels()) return {};
    clear_scales();
    for (std::size_t block = 0; block < tensor.value().scales.size(); ++block) {
      const auto scale = static_cast<double>(tensor.value().scales[block]);
      const double zero = tensor.value().zero_points.empty() ? 0.0 : tensor.value().zero_points[block];
      // Levels are codes: code = x / scale + zero point.
      add_scale(scale, -zero * scale,
                std::min<std::size_t>(block_size(), values.size() - block * block_size()));
    }
    return {};
  }

 private:
  TensorGrain grain_;
};

}  // namespace

Result<std::unique_ptr<FormatTrial::Coder>> profile_trial(CodecProfile profile, std::uint32_t block_size,
                                                          std::uint64_t count) {
  Result<CodecPlan> plan = make_codec_plan(profile, count, block_size);
  if (!plan.ok()) return plan.error();
  Result<BlockEncoder> encoder =
      BlockEncoder::open(std::move(plan).value(), DataType::kFloat, {static_cast<std::int64_t>(count)},
                         BlockEncoder::Scales::kAutomatic);
  if (!encoder.ok()) return encoder.error();
  Result<BlockDecoder> decoder = BlockDecoder::open(encoder.value().schema(), DataType::kFloat);
  if (!decoder.ok()) return decoder.error();
  return std::unique_ptr<FormatTrial::Coder>(
      std::make_unique<ProfileTrial>(block_size, levels_of(codec_profile_info(profile)),
                                     std::move(encoder).value(), std::move(decoder).value()));
}

std::unique_ptr<FormatTrial::Coder> number_trial(NumberFormat number, std::uint32_t block_size) {
  const NumberFormatInfo& info = number_format_info(number);
  TensorGrain grain;
  grain.format = number;
  grain.axis = 0;
  grain.block_size = block_size;
  std::vector<double> levels;
  if (info.kind == FormatKind::kInteger) {
    if (info.lowest == 0) grain.symmetry = Symmetry::kAsymmetric;
    levels = whole_numbers(info.lowest, info.highest);
  } else if (const std::optional<SmallFloat> small = small_float_of(number)) {
    const std::span<const float> values = small_float_values(*small);
    levels = sorted_once({values.begin(), values.end()});
  }
  return std::make_unique<NumberTrial>(block_size, std::move(levels), grain);
}

}  // namespace codec
}  // namespace halftone
