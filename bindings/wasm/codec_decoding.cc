// Decoding jobs.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "codec_jobs.h"
#include "codec_options.h"
#include "conversions.h"
#include "halftone/code_bytes.h"
#include "halftone/codec.h"
#include "halftone/ort_matmul_nbits.h"
#include "halftone/quantized_tensor.h"

namespace halftone::wasm {
namespace {

constexpr std::uint64_t kPieceValues = std::uint64_t{1} << 20U;

class BlockDecoding final : public FedJob {
 public:
  BlockDecoding(BlockDecoder decoder, DataType output)
      : FedJob(1), decoder_(std::move(decoder)), width_(data_type_bits(output) / 8) {}

 protected:
  [[nodiscard]] std::uint64_t next_piece() const override {
    if (!begun_) return decoder_.schema().prefix_bytes;
    const Result<BlockRange> range = block_range(decoder_.schema(), next_block_, next_blocks());
    return range.ok() ? range.value().bytes : 0;
  }

  Result<void> use(std::span<const std::uint8_t> piece) override {
    if (!begun_) {
      begun_ = true;
      if (std::all_of(piece.begin(), piece.end(), [](std::uint8_t byte) { return byte == 0; })) return {};
      return Error{ErrorCode::kInvalidGraph, "The reserved byte of the payload isn't 0.",
                   "byte 0 of the payload", "Write the value again."};
    }
    const std::uint64_t blocks = next_blocks();
    const Result<BlockRange> range = block_range(decoder_.schema(), next_block_, blocks);
    if (!range.ok()) return range.error();
    std::vector<std::uint8_t>& out = part(0);
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>(range.value().elements * width_));
    Result<void> done = decoder_.decode(next_block_, blocks, piece, std::span(out).subspan(before));
    next_block_ += blocks;
    return done;
  }

 private:
  [[nodiscard]] std::uint64_t next_blocks() const {
    return blocks_within(decoder_.schema(), next_block_, kPieceValues);
  }

  BlockDecoder decoder_;
  std::uint64_t width_;
  bool begun_ = false;
  std::uint64_t next_block_ = 0;
};

class WholeDecoding final : public FedJob {
 public:
  WholeDecoding(EncodedValue value, std::uint64_t payload_bytes, DataType output, bool matrix)
      : FedJob(1),
        value_(std::move(value)),
        payload_bytes_(payload_bytes),
        output_(output),
        matrix_(matrix) {}

 protected:
  [[nodiscard]] std::uint64_t next_piece() const override { return done_ ? 0 : payload_bytes_; }

  Result<void> use(std::span<const std::uint8_t> piece) override {
    value_.payload.emplace(piece);
    Result<std::vector<std::uint8_t>> values =
        matrix_ ? decode_matmul_nbits(value_, output_) : decode_tensor(value_, output_);
    value_.payload.reset();
    if (!values.ok()) return values.error();
    part(0) = std::move(values).value();
    done_ = true;
    return {};
  }

 private:
  EncodedValue value_;
  std::uint64_t payload_bytes_;
  DataType output_;
  bool matrix_;
  bool done_ = false;
};

struct Opened {
  std::shared_ptr<FedJob> job;
  std::string format;
  std::uint64_t block_size = 0;
};

Error wrong_length(std::uint64_t found, std::uint64_t needed) {
  const bool less = found < needed;
  return {less ? ErrorCode::kTruncated : ErrorCode::kInvalidGraph,
          std::string("The payload ") + (less ? "is truncated" : "has trailing bytes") + ": " +
              std::to_string(found) + " bytes where the descriptor needs " + std::to_string(needed) + ".",
          "", "Write the value again."};
}

Result<Opened> open_blocks(const EncodedValue& value, std::uint64_t payload_bytes, DataType output) {
  Result<CodecSchema> schema = encoded_value_schema(value);
  if (!schema.ok()) return schema.error();
  const CodecSchema& known = schema.value();
  if (known.payload_bytes != payload_bytes) return wrong_length(payload_bytes, known.payload_bytes);
  Opened opened;
  opened.format = codec_profile_info(known.profile).name;
  opened.block_size = known.runs.empty() ? 0 : known.runs.front().layout.count;
  if (known.permutation > 0 || known.transform_size > 0 || known.outliers > 0) {
    opened.job = std::make_shared<WholeDecoding>(value, payload_bytes, output, false);
    return opened;
  }
  Result<BlockDecoder> decoder = BlockDecoder::open(std::move(schema).value(), output);
  if (!decoder.ok()) return decoder.error();
  opened.job = std::make_shared<BlockDecoding>(std::move(decoder).value(), output);
  return opened;
}

Result<Opened> open_value(const EncodedValue& value, std::uint64_t payload_bytes, DataType output) {
  if (!std::holds_alternative<StructType>(value.layout)) {
    return Error{ErrorCode::kInvalidGraph,
                 "The encoded value has no description of the kind that can be decoded here.", "",
                 "Decode it with the tool that made it."};
  }
  if (value.parameter_ref) {
    return Error{ErrorCode::kInvalidState,
                 "The encoded value shares its parameters with a model (parameter_ref).", "",
                 "Decode the whole model instead."};
  }
  const StructType& type = std::get<StructType>(value.layout);
  if (!is_matmul_nbits(type)) return open_blocks(value, payload_bytes, output);
  const Result<MatMulNBitsLayout> layout = parse_matmul_nbits(type);
  if (!layout.ok()) return layout.error();
  if (layout.value().payload_bytes() != payload_bytes)
    return wrong_length(payload_bytes, layout.value().payload_bytes());
  Opened opened;
  opened.format = codec_profile_info(layout.value().profile).name;
  opened.block_size = layout.value().block_size;
  opened.job = std::make_shared<WholeDecoding>(value, payload_bytes, output, true);
  return opened;
}

std::vector<std::uint8_t> bytes_from_js(const val& array) {
  std::vector<std::uint8_t> bytes(array["length"].as<std::size_t>());
  val(emscripten::typed_memory_view(bytes.size(), bytes.data())).call<void>("set", array);
  return bytes;
}

Error wrong_parts() {
  return {ErrorCode::kShapeMismatch, "Codes, scales and zero points don't fit the number of values.", "",
          "Give them as the encoder made them."};
}

// Codes of fewer than 32 bits as numbers.
std::int32_t unpacked(std::span<const std::uint8_t> bytes, const NumberFormatInfo& info, std::size_t index) {
  const auto bits = static_cast<std::size_t>(info.bits);
  const std::size_t at = index * bits;
  std::uint32_t code = bytes[at / 8];
  if (bits == 16)
    return static_cast<std::int32_t>(code | static_cast<std::uint32_t>(bytes[at / 8 + 1]) << 8U);
  return static_cast<std::int32_t>(code >> (at % 8) & ((1U << bits) - 1));
}

Result<std::vector<float>> decode_number(NumberFormat number, std::uint32_t block, std::uint64_t count,
                                         const val& codes, const val& scales, const val& zero_points) {
  const NumberFormatInfo& info = number_format_info(number);
  const std::uint64_t blocks = count / block + (count % block == 0 ? 0 : 1);
  QuantizedTensor tensor;
  tensor.format = number;
  tensor.dims = {static_cast<std::int64_t>(count)};
  tensor.axis = 0;
  tensor.block_size = block;
  tensor.scale_dims = {static_cast<std::int64_t>(blocks)};
  tensor.codes = bytes_from_js(codes);
  const std::vector<std::uint8_t> scale_bytes = bytes_from_js(scales);
  const std::vector<std::uint8_t> points = bytes_from_js(zero_points);
  const bool has_points = info.kind == FormatKind::kInteger && info.lowest == 0;
  const std::uint64_t point_bytes = has_points ? code_byte_count(number, blocks).value_or(0) : 0;
  if (scale_bytes.size() != blocks * sizeof(float) || points.size() != point_bytes) return wrong_parts();
  tensor.scales.resize(static_cast<std::size_t>(blocks));
  if (!scale_bytes.empty()) std::memcpy(tensor.scales.data(), scale_bytes.data(), scale_bytes.size());
  for (std::size_t i = 0; has_points && i < blocks; ++i)
    tensor.zero_points.push_back(unpacked(points, info, i));
  std::vector<float> values(static_cast<std::size_t>(count));
  if (Result<void> done = dequantize_tensor(tensor, std::span<float>(values)); !done.ok())
    return done.error();
  return values;
}

Result<std::vector<float>> decode_layout(const BlockCoding& coding, std::uint64_t count, const val& codes,
                                         const val& scales) {
  std::vector<float> values(static_cast<std::size_t>(count));
  Result<void> done =
      decode_blocks(coding, bytes_from_js(codes), bytes_from_js(scales), std::span<float>(values));
  if (!done.ok()) return done.error();
  return values;
}

}  // namespace

val create_decoder(const val& frame, double payload_bytes, const std::string& type) {
  return guarded([&] {
    const std::vector<std::uint8_t> message = bytes_from_js(frame);
    const Result<EncodedValue> value = read_encoded_value(message);
    if (!value.ok()) return failure(value.error());
    const Result<std::uint64_t> payload = size_from_js(payload_bytes);
    if (!payload.ok()) return failure(payload.error());
    if (!value.value().logical_type) {
      return failure(Error{ErrorCode::kInvalidGraph, "The encoded value doesn't say what it stands for.", "",
                           "Write it again with its logical type."});
    }
    const TensorType& logical = *value.value().logical_type;
    DataType output = logical.type;
    if (!type.empty()) {
      const Result<DataType> wanted = float_type_from_js(type);
      if (!wanted.ok()) return failure(wanted.error());
      output = wanted.value();
    }
    Result<Opened> opened = open_value(value.value(), payload.value(), output);
    if (!opened.ok()) return failure(opened.error());
    val info = val::object();
    info.set("job", std::shared_ptr<TensorJob>(opened.value().job));
    info.set("name", value.value().name ? val(*value.value().name) : val::null());
    info.set("format", opened.value().format);
    info.set("block", static_cast<double>(opened.value().block_size));
    info.set("type", data_type_name(output));
    val dims = val::array();
    for (const std::int64_t dim : logical.dims) dims.call<void>("push", static_cast<double>(dim));
    info.set("dims", dims);
    info.set("bytes", static_cast<double>(raw_byte_count(output, logical.dims).value_or(0)));
    return success(info);
  });
}

val decode_stored(const val& options, const val& codes, const val& scales, const val& zero_points) {
  return guarded([&] {
    const Result<FormatChoice> choice =
        format_choice(options["format"].as<std::string>(), options["block"].as<double>());
    if (!choice.ok()) return failure(choice.error());
    const Result<std::uint64_t> count = size_from_js(options["count"].as<double>());
    if (!count.ok()) return failure(count.error());
    // Of these formats, none has less than a bit for a value.
    if (count.value() / 8 > codes["length"].as<std::size_t>()) return failure(wrong_parts());
    const auto& format = choice.value().format->format;
    if (std::holds_alternative<CodecProfile>(format)) {
      return failure(Error{ErrorCode::kInvalidPolicy,
                           choice.value().format->name + " is stored as one encoded value, not in parts.", "",
                           "Decode the value as a whole."});
    }
    Result<std::vector<float>> values = [&] {
      if (const auto* number = std::get_if<NumberFormat>(&format))
        return decode_number(*number, choice.value().block_size, count.value(), codes, scales, zero_points);
      BlockCoding coding{.format = std::get<BlockFormat>(format), .block_size = choice.value().block_size};
      const val scale = options["tensorScale"];
      if (coding.format == BlockFormat::kNvfp4 && scale.isNumber()) coding.tensor_scale = scale.as<float>();
      return decode_layout(coding, count.value(), codes, scales);
    }();
    return values.ok() ? success(floats_to_js(values.value())) : failure(values.error());
  });
}

}  // namespace halftone::wasm
