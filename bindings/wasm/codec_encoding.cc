// Encoding jobs: one for each way of storing.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "codec_jobs.h"
#include "codec_options.h"
#include "codec_plan_options.h"
#include "conversions.h"
#include "halftone/code_bytes.h"
#include "halftone/codec.h"
#include "halftone/format_trial.h"
#include "halftone/ort_matmul_nbits.h"
#include "halftone/quantized_tensor.h"
#include "halftone/statistics.h"

namespace halftone::wasm {
namespace {

constexpr std::uint64_t kPieceValues = std::uint64_t{1} << 20U;
// Whole bytes of codes and of zero points, whatever their width.
constexpr std::uint64_t kBlocksTogether = 8;

class EncodingJob : public FedJob {
 public:
  struct Part {
    std::string name;
    std::uint64_t bytes = 0;
  };

  EncodingJob(Source source, std::vector<Part> outputs)
      : FedJob(outputs.size()), source_(std::move(source)), outputs_(std::move(outputs)) {}

  [[nodiscard]] const std::vector<Part>& outputs() const { return outputs_; }
  [[nodiscard]] virtual int passes() const { return 1; }
  [[nodiscard]] std::uint32_t block_size() const { return source_.choice.block_size; }

  val result() override {
    val info = val::object();
    info.set("tensorScale", val::null());
    return success(info);
  }

 protected:
  [[nodiscard]] const Source& source() const { return source_; }
  void append(std::size_t index, std::span<const std::uint8_t> bytes) {
    part(index).insert(part(index).end(), bytes.begin(), bytes.end());
  }
  void append(std::size_t index, const std::string& bytes) {
    part(index).insert(part(index).end(), bytes.begin(), bytes.end());
  }

 private:
  Source source_;
  std::vector<Part> outputs_;
};

// ---- encoded values, by ranges of blocks

class ValueEncoding final : public EncodingJob {
 public:
  ValueEncoding(Source source, BlockEncoder encoder, EncodedValueFrame frame, std::uint64_t bytes)
      : EncodingJob(std::move(source), {{"value", bytes}}),
        encoder_(std::move(encoder)),
        frame_(std::move(frame)) {
    append(0, frame_.head);
    append(0, encoder_.prefix());
    if (encoder_.schema().blocks == 0) append(0, frame_.tail);
  }

 protected:
  [[nodiscard]] std::uint64_t next_piece() const override {
    const Result<BlockRange> range = block_range(encoder_.schema(), next_block_, next_blocks());
    return range.ok() ? range.value().elements * source().width() : 0;
  }

  Result<void> use(std::span<const std::uint8_t> piece) override {
    const std::uint64_t blocks = next_blocks();
    const Result<BlockRange> range = block_range(encoder_.schema(), next_block_, blocks);
    if (!range.ok()) return range.error();
    std::vector<std::uint8_t>& out = part(0);
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>(range.value().bytes));
    if (Result<void> done = encoder_.encode(next_block_, blocks, piece, std::span(out).subspan(before));
        !done.ok())
      return done;
    next_block_ += blocks;
    if (next_block_ == encoder_.schema().blocks) append(0, frame_.tail);
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t next_blocks() const {
    return blocks_within(encoder_.schema(), next_block_, kPieceValues);
  }

  BlockEncoder encoder_;
  EncodedValueFrame frame_;
  std::uint64_t next_block_ = 0;
};

// ---- encoded values that need the whole tensor

Result<EncodedValue> encode_whole(const CodecTensor& x, WholePlan& whole) {
  if (codec_profile_info(whole.plan.profile).ort) {
    if (whole.automatic) {
      if (Result<void> done = calibrate_matmul_nbits(x, whole.plan); !done.ok()) return done.error();
    }
    return encode_matmul_nbits(x, whole.plan);
  }
  if (!whole.automatic) return encode_tensor(x, whole.plan);
  // Only quantize_tensor calibrates; it takes the plan apart again.
  const CodecPlan& plan = whole.plan;
  const Result<CodecSchema> schema = make_codec_schema(plan);
  if (!schema.ok()) return schema.error();
  const auto tensor = [](DataType type, std::vector<std::int64_t> dims, const auto& numbers) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(numbers.data());
    return CodecTensor{type, std::move(dims), {bytes, numbers.size() * sizeof(numbers[0])}};
  };
  const auto list = [&](DataType type, const auto& numbers) {
    return tensor(type, {static_cast<std::int64_t>(numbers.size())}, numbers);
  };
  std::vector<double> zero_points;
  std::vector<double> offsets;
  std::vector<double> codebooks;
  for (const CodecRun& run : plan.runs) {
    for (std::uint64_t block = 0; block < run.blocks; ++block) {
      const auto at = static_cast<std::size_t>(block);
      zero_points.push_back(run.zero_points[run.zero_points.size() == 1 ? 0 : at]);
      offsets.push_back(run.offsets[run.offsets.size() == 1 ? 0 : at]);
      codebooks.insert(codebooks.end(), run.codebooks.begin(), run.codebooks.end());
    }
  }
  QuantizeInputs inputs;
  inputs.zero_points = list(DataType::kDouble, zero_points);
  inputs.offsets = list(DataType::kDouble, offsets);
  if (!codebooks.empty()) inputs.codebooks = list(DataType::kDouble, codebooks);
  if (!plan.permutation.empty()) inputs.permutation = list(DataType::kInt64, plan.permutation);
  if (!plan.outliers.empty()) inputs.outliers = list(DataType::kInt64, plan.outliers);
  const std::vector<std::int64_t> square(2, plan.transform_size);
  if (plan.transform_size > 0) {
    inputs.forward = tensor(DataType::kDouble, square, plan.forward);
    inputs.inverse = tensor(DataType::kDouble, square, plan.inverse);
  }
  return quantize_tensor(x, codec_descriptor(schema.value()), inputs);
}

class WholeEncoding final : public EncodingJob {
 public:
  // How large the value becomes is known at the end only.
  WholeEncoding(Source source, WholePlan whole)
      : EncodingJob(std::move(source), {{"value", 0}}), whole_(std::move(whole)) {}

  Result<void> finish(std::span<const std::uint8_t> bytes) {
    const CodecTensor x{source().type, source().dims, bytes};
    Result<EncodedValue> value = encode_whole(x, whole_);
    if (!value.ok()) return value.error();
    value.value().name = whole_.name;
    const ByteRope rope = write_encoded_value(value.value());
    for (const std::span<const std::uint8_t> piece : rope.pieces()) append(0, piece);
    done_ = true;
    return {};
  }

 protected:
  [[nodiscard]] std::uint64_t next_piece() const override {
    return done_ ? 0 : source().count * source().width();
  }
  Result<void> use(std::span<const std::uint8_t> piece) override { return finish(piece); }

 private:
  WholePlan whole_;
  bool done_ = false;
};

// ---- block layouts and types of ONNX, whose scales lie apart

class ApartEncoding : public EncodingJob {
 public:
  using EncodingJob::EncodingJob;

 protected:
  [[nodiscard]] std::uint64_t next_piece() const override {
    const std::uint64_t group = source().choice.block_size * kBlocksTogether;
    const std::uint64_t piece = std::max<std::uint64_t>(1, kPieceValues / group) * group;
    return std::min(piece, source().count - done_) * source().width();
  }

  Result<void> use(std::span<const std::uint8_t> piece) override {
    values_.resize(piece.size() / source().width());
    if (Result<void> converted = to_float32(source().type, piece, values_); !converted.ok()) return converted;
    Result<void> used = encode(std::span<const float>(values_));
    done_ += values_.size();
    return used;
  }

  virtual Result<void> encode(FloatView values) = 0;
  void again() { done_ = 0; }
  // Behind the values of this piece.
  [[nodiscard]] bool at_end() const { return done_ + values_.size() == source().count; }

 private:
  std::uint64_t done_ = 0;
  std::vector<float> values_;
};

class LayoutEncoding final : public ApartEncoding {
 public:
  LayoutEncoding(Source source, std::vector<Part> outputs, const BlockCoding& coding)
      : ApartEncoding(std::move(source), std::move(outputs)),
        coding_(coding),
        ranging_(coding.format == BlockFormat::kNvfp4 && this->source().count > 0) {}

  [[nodiscard]] int passes() const override { return ranging_ ? 2 : 1; }

  val result() override {
    val info = val::object();
    info.set("tensorScale", coding_.format == BlockFormat::kNvfp4 ? val(coding_.tensor_scale) : val::null());
    return success(info);
  }

 protected:
  Result<void> use(std::span<const std::uint8_t> piece) override {
    Result<void> used = ApartEncoding::use(piece);
    if (restart_) again();
    restart_ = false;
    return used;
  }

  Result<void> encode(FloatView values) override {
    if (ranging_) return range(values);
    const Result<BlockByteCounts> bytes = block_byte_counts(coding_, values.size());
    if (!bytes.ok()) return bytes.error();
    const auto grown = [](std::vector<std::uint8_t>& out, std::uint64_t by) {
      const std::size_t before = out.size();
      out.resize(before + static_cast<std::size_t>(by));
      return std::span(out).subspan(before);
    };
    const std::span<std::uint8_t> codes = grown(part(0), bytes.value().codes);
    const std::span<std::uint8_t> scales =
        outputs().size() > 1 ? grown(part(1), bytes.value().scales) : std::span<std::uint8_t>();
    return encode_blocks(coding_, values, codes, scales);
  }

 private:
  Result<void> range(FloatView values) {
    const RangeStatistics found = range_of(values);
    if (!found.all_finite()) {
      return Error{ErrorCode::kNonFinite, "The tensor has NaN or infinity, which modelopt_nvfp4 can't store.",
                   "", "Replace these values, or choose another format."};
    }
    largest_ = std::max({largest_, std::abs(found.min), std::abs(found.max)});
    if (at_end()) {
      ranging_ = false;
      restart_ = true;
      coding_.tensor_scale = nvfp4_tensor_scale(largest_);
    }
    return {};
  }

  BlockCoding coding_;
  bool ranging_ = false;
  bool restart_ = false;
  float largest_ = 0.0F;
};

class NumberEncoding final : public ApartEncoding {
 public:
  NumberEncoding(Source source, std::vector<Part> outputs, const TensorGrain& grain)
      : ApartEncoding(std::move(source), std::move(outputs)), grain_(grain) {}

 protected:
  Result<void> encode(FloatView values) override {
    const std::int64_t dims[] = {static_cast<std::int64_t>(values.size())};
    const Result<QuantizedTensor> tensor = quantize_tensor(values, dims, grain_);
    if (!tensor.ok()) return tensor.error();
    append(0, tensor.value().codes);
    append(1, float_bytes(tensor.value().scales));
    if (outputs().size() < 3) return {};
    std::vector<std::int32_t> points = tensor.value().zero_points;
    points.resize(tensor.value().scales.size());
    append(2, code_bytes(grain_.format, points));
    return {};
  }

 private:
  TensorGrain grain_;
};

// ---- which job

using Made = Result<std::shared_ptr<EncodingJob>>;

Made encode_profile(const val& options, Source source, CodecProfile profile) {
  Result<WholePlan> whole = profile_plan(options, source, profile);
  if (!whole.ok()) return whole.error();
  const CodecPlan& plan = whole.value().plan;
  const bool reordered = !plan.permutation.empty() || plan.transform_size > 0 || !plan.outliers.empty();
  if (codec_profile_info(profile).ort || reordered) {
    auto job = std::make_shared<WholeEncoding>(std::move(source), std::move(whole).value());
    return std::shared_ptr<EncodingJob>(std::move(job));
  }
  const auto scales =
      whole.value().automatic ? BlockEncoder::Scales::kAutomatic : BlockEncoder::Scales::kGiven;
  Result<BlockEncoder> encoder = BlockEncoder::open(plan, source.type, source.dims, scales);
  if (!encoder.ok()) return encoder.error();
  EncodedValue value = encoder.value().value_without_payload();
  value.name = whole.value().name;
  const std::uint64_t payload = encoder.value().schema().payload_bytes;
  EncodedValueFrame frame = encoded_value_frame(value, payload);
  const std::uint64_t bytes = frame.head.size() + payload + frame.tail.size();
  return std::shared_ptr<EncodingJob>(std::make_shared<ValueEncoding>(
      std::move(source), std::move(encoder).value(), std::move(frame), bytes));
}

Made encode_layout(Source source, BlockFormat format) {
  const BlockCoding coding{.format = format, .block_size = source.choice.block_size};
  const Result<BlockByteCounts> bytes = block_byte_counts(coding, source.count);
  if (!bytes.ok()) return bytes.error();
  std::vector<EncodingJob::Part> parts{{"codes", bytes.value().codes}};
  if (block_format_info(format).scale_bytes > 0) parts.push_back({"scales", bytes.value().scales});
  return std::shared_ptr<EncodingJob>(
      std::make_shared<LayoutEncoding>(std::move(source), std::move(parts), coding));
}

Made encode_number(Source source, NumberFormat number) {
  const NumberFormatInfo& info = number_format_info(number);
  TensorGrain grain;
  grain.format = number;
  grain.axis = 0;
  grain.block_size = source.choice.block_size;
  const bool zero_points = info.kind == FormatKind::kInteger && info.lowest == 0;
  if (zero_points) grain.symmetry = Symmetry::kAsymmetric;
  const std::uint64_t block = source.choice.block_size;
  const std::uint64_t blocks = source.count / block + (source.count % block == 0 ? 0 : 1);
  std::vector<EncodingJob::Part> parts{{"codes", code_byte_count(number, source.count).value_or(0)},
                                       {"scales", blocks * sizeof(float)}};
  if (zero_points) parts.push_back({"zero_points", code_byte_count(number, blocks).value_or(0)});
  return std::shared_ptr<EncodingJob>(
      std::make_shared<NumberEncoding>(std::move(source), std::move(parts), grain));
}

Made make_encoding(const val& options) {
  const Result<FormatChoice> choice =
      format_choice(options["format"].as<std::string>(), options["block"].as<double>());
  if (!choice.ok()) return choice.error();
  const Result<DataType> type = float_type_from_js(options["type"].as<std::string>());
  if (!type.ok()) return type.error();
  Result<std::vector<std::int64_t>> dims = dims_from_js(options["dims"]);
  if (!dims.ok()) return dims.error();
  const std::uint64_t count = element_count(dims.value()).value_or(0);
  Source source{type.value(), std::move(dims).value(), count, choice.value()};
  const auto& format = choice.value().format->format;
  if (const auto* profile = std::get_if<CodecProfile>(&format))
    return encode_profile(options, std::move(source), *profile);
  if (const auto* number = std::get_if<NumberFormat>(&format))
    return encode_number(std::move(source), *number);
  return encode_layout(std::move(source), std::get<BlockFormat>(format));
}

}  // namespace

val create_encoder(const val& options) {
  return guarded([&] {
    Made made = make_encoding(options);
    if (!made.ok()) return failure(made.error());
    const std::shared_ptr<EncodingJob> job = std::move(made).value();
    val info = val::object();
    val parts = val::array();
    for (const EncodingJob::Part& part : job->outputs()) {
      val entry = val::object();
      entry.set("name", part.name);
      entry.set("bytes", static_cast<double>(part.bytes));
      parts.call<void>("push", entry);
    }
    info.set("parts", parts);
    info.set("block", job->block_size());
    info.set("passes", job->passes());
    info.set("job", std::shared_ptr<TensorJob>(job));
    return success(info);
  });
}

}  // namespace halftone::wasm
