#include "halftone/format_trial.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "codec/float_elements.h"
#include "codec/trial_coder.h"

namespace halftone {
namespace {

constexpr std::size_t kPiece = 16384;

Error needs_more(const StorageFormat& format) {
  const char* what = format.needs == FormatNeeds::kCodebook    ? "a learned code book"
                     : format.needs == FormatNeeds::kTransform ? "a transform with its inverse"
                                                               : "a matrix";
  return {ErrorCode::kInvalidPolicy,
          format.name + " can't be compared from values alone: it needs " + std::string(what) + ".", "",
          "Leave it out, or encode a tensor with it."};
}

// "element 12" and "scale 3" count from a piece's start.
Error moved(Error error, std::uint64_t first_element, std::uint32_t block_size) {
  const std::pair<std::string_view, std::uint64_t> counted[] = {{"element ", first_element},
                                                                {"scale ", first_element / block_size}};
  for (const auto& [what, first] : counted) {
    if (!error.where.starts_with(what)) continue;
    std::uint64_t index = 0;
    const char* const end = error.where.data() + error.where.size();
    const auto [stop, code] = std::from_chars(error.where.data() + what.size(), end, index);
    if (code != std::errc() || stop != end) continue;
    error.where = std::string(what) + std::to_string(first + index);
    break;
  }
  return error;
}

std::size_t bin_of(double share, std::size_t bins) {
  const double bin = std::floor(share * static_cast<double>(bins));
  return static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(bins - 1)));
}

// The nearest, the lower one of two as near.
std::size_t nearest_level(const std::vector<double>& levels, double value) {
  const auto above = std::lower_bound(levels.begin(), levels.end(), value);
  if (above == levels.begin()) return 0;
  if (above == levels.end()) return levels.size() - 1;
  const auto index = static_cast<std::size_t>(above - levels.begin());
  return value - levels[index - 1] <= *above - value ? index - 1 : index;
}

Result<std::unique_ptr<FormatTrial::Coder>> open_coder(const StorageFormat& format, std::uint32_t block_size,
                                                       std::uint64_t count, float largest) {
  if (const auto* profile = std::get_if<CodecProfile>(&format.format))
    return codec::profile_trial(*profile, block_size, count);
  if (const auto* number = std::get_if<NumberFormat>(&format.format))
    return codec::number_trial(*number, block_size);
  BlockCoding coding{.format = std::get<BlockFormat>(format.format), .block_size = block_size};
  if (coding.format == BlockFormat::kNvfp4) coding.tensor_scale = nvfp4_tensor_scale(largest);
  return codec::layout_trial(coding);
}

}  // namespace

FormatTrial::FormatTrial(FormatTrial&&) noexcept = default;
FormatTrial& FormatTrial::operator=(FormatTrial&&) noexcept = default;
FormatTrial::~FormatTrial() = default;

bool FormatTrial::needs_largest(const StorageFormat& format) {
  const auto* layout = std::get_if<BlockFormat>(&format.format);
  return layout != nullptr && *layout == BlockFormat::kNvfp4;
}

Result<FormatTrial> FormatTrial::open(const StorageFormat& format, std::uint32_t block_size,
                                      std::uint64_t count, float largest) {
  if (format.needs != FormatNeeds::kNothing) return needs_more(format);
  const Result<std::uint64_t> bytes = stored_bytes(format, block_size, count);
  if (!bytes.ok()) return bytes.error();
  Result<std::unique_ptr<Coder>> coder = open_coder(format, block_size, count, largest);
  if (!coder.ok()) return coder.error();
  FormatTrial trial;
  trial.coder_ = std::move(coder).value();
  trial.piece_ = std::max<std::size_t>(1, kPiece / block_size) * block_size;
  TrialFigures& figures = trial.figures_;
  figures.count = count;
  figures.bytes = bytes.value();
  if (count > 0)
    figures.bits_per_weight = static_cast<double>(bytes.value()) * 8 / static_cast<double>(count);
  figures.levels = trial.coder_->levels();
  figures.level_counts.assign(figures.levels.size(), 0);
  if (figures.levels.empty()) return trial;
  const double pad = (figures.levels.back() - figures.levels.front()) / 20;
  figures.low = figures.levels.front() - pad;
  figures.high = figures.levels.back() + pad;
  return trial;
}

Result<void> FormatTrial::add(FloatView values) {
  if (values.size() > figures_.count - seen_) {
    return Error{ErrorCode::kShapeMismatch, "There are more values than the tensor has.", "",
                 "Check the tensor's dimensions."};
  }
  seen_ += values.size();
  for (std::size_t at = 0; at < values.size();) {
    const std::size_t part = std::min(values.size() - at, piece_ - pending_.size());
    const std::size_t before = pending_.size();
    pending_.resize(before + part);
    std::memcpy(pending_.data() + before, values.bytes() + at * sizeof(float), part * sizeof(float));
    at += part;
    if (pending_.size() < piece_ && seen_ < figures_.count) continue;
    if (pending_.size() < piece_ && at < values.size()) continue;
    if (Result<void> done = encode_pending(); !done.ok()) return done;
  }
  return {};
}

Result<void> FormatTrial::encode_pending() {
  decoded_.resize(pending_.size());
  if (const Result<void> done = coder_->run(std::span<const float>(pending_), decoded_); !done.ok())
    return moved(done.error(), done_, coder_->block_size());
  const Result<ErrorSums> sums =
      error_sums(std::span<const float>(pending_), std::span<const float>(decoded_));
  if (!sums.ok()) return sums.error();
  figures_.sums.merge(sums.value());
  widen_errors(sums.value().max_abs_error);
  count_errors();
  count_levels();
  done_ += pending_.size();
  pending_.clear();
  return {};
}

// Doubling the limit puts two bins into one, so counts stay exact.
void FormatTrial::widen_errors(double largest) {
  if (!(largest > 0.0) || !std::isfinite(largest)) return;
  if (figures_.error_limit == 0.0) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    figures_.error_limit = std::ldexp(1.0, exponent);
    // Without an error before, all were 0: in the bin above the middle.
    figures_.errors[TrialFigures::kErrorBins / 2] = done_;
  }
  constexpr std::size_t kHalf = TrialFigures::kErrorBins / 2;
  while (figures_.error_limit <= largest) {
    std::array<std::uint64_t, TrialFigures::kErrorBins> wider = {};
    for (std::size_t bin = 0; bin < figures_.errors.size(); ++bin)
      wider[kHalf / 2 + bin / 2] += figures_.errors[bin];
    figures_.errors = wider;
    figures_.error_limit *= 2;
  }
}

void FormatTrial::count_errors() {
  if (figures_.error_limit == 0.0) return;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const double error = static_cast<double>(decoded_[i]) - static_cast<double>(pending_[i]);
    const double share = (error / figures_.error_limit + 1.0) / 2.0;
    figures_.errors[bin_of(share, figures_.errors.size())] += 1;
  }
}

void FormatTrial::count_levels() {
  if (figures_.levels.empty()) return;
  const double width = figures_.high - figures_.low;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const double value = coder_->normalised(i, static_cast<double>(pending_[i]));
    const double stored = coder_->normalised(i, static_cast<double>(decoded_[i]));
    figures_.level_counts[nearest_level(figures_.levels, stored)] += 1;
    if (value < figures_.low) {
      figures_.below += 1;
    } else if (value > figures_.high) {
      figures_.above += 1;
    } else {
      figures_.values[bin_of((value - figures_.low) / width, figures_.values.size())] += 1;
    }
  }
}

Result<TrialFigures> FormatTrial::figures() {
  if (done_ != figures_.count) {
    return Error{ErrorCode::kShapeMismatch,
                 "The tensor has " + std::to_string(figures_.count) + " values, and " +
                     std::to_string(seen_) + " are there.",
                 "", "Check the tensor's dimensions."};
  }
  TrialFigures figures = figures_;
  if (figures.count > 0) {
    figures.rms_error = std::sqrt(figures.sums.error_squares / static_cast<double>(figures.count));
  }
  return figures;
}

Result<void> to_float32(DataType type, std::span<const std::uint8_t> bytes, std::span<float> values) {
  if (!codec::is_codec_float(type)) {
    return Error{ErrorCode::kUnsupportedType, "Values of " + data_type_name(type) + " are no floats.", "",
                 "Convert the tensor to float32."};
  }
  const auto width = static_cast<std::size_t>(data_type_bits(type)) / 8;
  if (bytes.size() != values.size() * width)
    return Error{ErrorCode::kShapeMismatch, "The bytes of a tensor don't fit its number of values.", "", ""};
  if (type == DataType::kFloat) {
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return {};
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(codec::load_float(type, bytes.data() + i * width));
  return {};
}

}  // namespace halftone
