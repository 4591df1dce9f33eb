// Encoding and decoding by ranges of blocks.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "codec/element_order.h"
#include "codec/float_elements.h"
#include "codec/plan_checks.h"
#include "codec/record_runs.h"
#include "halftone/codec.h"

namespace halftone {
namespace {

Error not_streamed() {
  return {ErrorCode::kInvalidPolicy, "A permutation, transforms or outliers need the whole tensor at once.",
          "", "Encode or decode the tensor as a whole."};
}

Error no_memory() {
  return {ErrorCode::kOutOfMemory, "There is not enough memory to work on a block.", "",
          "Use smaller blocks."};
}

Error wrong_size(const std::string& what, std::uint64_t bytes, std::uint64_t expected) {
  return {ErrorCode::kShapeMismatch,
          what + " of " + std::to_string(expected) + " bytes are needed, not " + std::to_string(bytes) + ".",
          "", "Ask block_range for the sizes."};
}

Result<void> check_calibrated(const CodecPlan& plan) {
  for (const CodecRun& run : plan.runs) {
    const BlockLayout& layout = run.layout;
    if (layout.method != CodecMethod::kCodebook || (layout.books == 1 && layout.vector_size == 1)) continue;
    return Error{ErrorCode::kInvalidPolicy,
                 "Tables of vectors need explicit scales: none are computed for them.", "", "Give scales."};
  }
  return {};
}

}  // namespace

Result<BlockRange> block_range(const CodecSchema& schema, std::uint64_t first_block, std::uint64_t blocks) {
  if (first_block > schema.blocks || blocks > schema.blocks - first_block) {
    return Error{ErrorCode::kInvalidPolicy,
                 "There are no blocks " + std::to_string(first_block) + " to " +
                     std::to_string(first_block + blocks) + "; the value has " +
                     std::to_string(schema.blocks) + ".",
                 "", "Ask for blocks that the value has."};
  }
  BlockRange range{schema.elements, 0, schema.payload_bytes, 0};
  bool found = false;
  for (const SchemaRun& run : schema.runs) {
    if (first_block >= run.first_block + run.blocks) continue;
    const std::uint64_t skipped = first_block > run.first_block ? first_block - run.first_block : 0;
    if (!std::exchange(found, true)) {
      range.first_element = run.first_element + skipped * run.layout.count;
      range.first_byte = run.first_byte + skipped * run.sizes.record_bytes;
    }
    const std::uint64_t part = std::min(blocks, run.blocks - skipped);
    range.elements += part * run.layout.count;
    range.bytes += part * run.sizes.record_bytes;
    blocks -= part;
    if (blocks == 0) break;
  }
  return range;
}

std::uint64_t blocks_within(const CodecSchema& schema, std::uint64_t first_block, std::uint64_t elements) {
  std::uint64_t blocks = 0;
  for (const SchemaRun& run : schema.runs) {
    const std::uint64_t run_end = run.first_block + run.blocks;
    if (first_block + blocks >= run_end) continue;
    const std::uint64_t left = run_end - (first_block + blocks);
    const std::uint64_t part = std::min(left, elements / run.layout.count);
    blocks += part;
    elements -= part * run.layout.count;
    if (part < left) break;
  }
  return blocks == 0 && first_block < schema.blocks ? 1 : blocks;
}

Result<BlockEncoder> BlockEncoder::open(CodecPlan plan, DataType source, std::vector<std::int64_t> dims,
                                        Scales scales) {
  if (!codec::is_codec_float(source)) {
    return Error{
        ErrorCode::kUnsupportedType,
        "Encoding requires FLOAT, DOUBLE, FLOAT16 or BFLOAT16 values, not " + data_type_name(source) + ".",
        "", "Convert the tensor to one of these types."};
  }
  const std::optional<std::uint64_t> count = element_count(dims);
  if (!count) {
    return Error{ErrorCode::kShapeMismatch, "The shape of the tensor is negative or too large.", "",
                 "Check the tensor's dimensions."};
  }
  if (Result<void> checked = check_codec_plan(plan, *count); !checked.ok()) return checked.error();
  Result<CodecSchema> schema = make_codec_schema(plan);
  if (!schema.ok()) return schema.error();
  if (!codec::keeps_order(schema.value())) return not_streamed();
  if (scales == Scales::kAutomatic) {
    if (Result<void> checked = check_calibrated(plan); !checked.ok()) return checked.error();
  }
  BlockEncoder encoder;
  encoder.plan_ = std::move(plan);
  encoder.schema_ = std::move(schema).value();
  encoder.source_ = source;
  encoder.dims_ = std::move(dims);
  encoder.scales_ = scales;
  return encoder;
}

EncodedValue BlockEncoder::value_without_payload() const {
  EncodedValue value;
  value.logical_type = TensorType{source_, dims_, true};
  value.layout = codec_descriptor(schema_);
  return value;
}

std::vector<std::uint8_t> BlockEncoder::prefix() const { return {0}; }

Result<void> BlockEncoder::encode(std::uint64_t first_block, std::uint64_t blocks,
                                  std::span<const std::uint8_t> source, std::span<std::uint8_t> records) const
    try {
  const Result<BlockRange> range = block_range(schema_, first_block, blocks);
  if (!range.ok()) return range.error();
  const std::uint64_t bytes = range.value().elements * (data_type_bits(source_) / 8);
  if (source.size() != bytes) return wrong_size("Values", source.size(), bytes);
  if (records.size() != range.value().bytes)
    return wrong_size("Records", records.size(), range.value().bytes);
  const codec::EncodeJob job{plan_, source_, scales_ == Scales::kAutomatic, true, &codec::default_kernels()};
  return codec::encode_records(job, first_block, blocks, source.data(), records.data());
} catch (const std::bad_alloc&) {
  return no_memory();
}

Result<BlockDecoder> BlockDecoder::open(CodecSchema schema, DataType output) {
  if (!codec::is_codec_float(output)) {
    return Error{
        ErrorCode::kUnsupportedType,
        "The output dtype must be FLOAT, DOUBLE, FLOAT16 or BFLOAT16, not " + data_type_name(output) + ".",
        "", "Choose one of these types."};
  }
  if (!codec::keeps_order(schema)) return not_streamed();
  BlockDecoder decoder;
  decoder.schema_ = std::move(schema);
  decoder.output_ = output;
  return decoder;
}

Result<void> BlockDecoder::decode(std::uint64_t first_block, std::uint64_t blocks,
                                  std::span<const std::uint8_t> records, std::span<std::uint8_t> values) const
    try {
  const Result<BlockRange> range = block_range(schema_, first_block, blocks);
  if (!range.ok()) return range.error();
  const std::uint64_t bytes = range.value().elements * (data_type_bits(output_) / 8);
  if (records.size() != range.value().bytes)
    return wrong_size("Records", records.size(), range.value().bytes);
  if (values.size() != bytes) return wrong_size("Values", values.size(), bytes);
  const codec::DecodeJob job{schema_, output_, &codec::default_kernels()};
  return codec::decode_records(job, first_block, blocks, records.data(), values.data());
} catch (const std::bad_alloc&) {
  return no_memory();
}

}  // namespace halftone
