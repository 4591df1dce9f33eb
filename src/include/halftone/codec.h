// Encoding tensors as onnx-light defines it, and back.
//
// Bytes are equal to onnx-light's on x86-64. Its arithmetic is defined on x87 extended precision ("long
// double" there); where a machine has another long double, that format is computed in software, so results
// are the same everywhere. Elements are taken to float64 exactly.
//
// Profiles of onnxruntime's MatMulNBits are handed on to halftone/ort_matmul_nbits.h by encode_tensor,
// quantize_tensor and decode_tensor; what is about schemas and blocks is about the portable profiles only.
//
// Errors of encoding: kUnsupportedType for other than the four source types ("FLOAT"); kNonFinite for values
// that aren't finite, or whose quotient, cast or reconstruction overflows (the element is named in `where`);
// kShapeMismatch where bytes and shape differ; those of check_codec_plan.
// Errors of decoding: kInvalidGraph and kTruncated for damaged values; kNonFinite where the result isn't
// finite in the output type; kInvalidState for a payload that has to be loaded or a value that needs its
// shared parameters first.
//
// Threading: no shared state. Memory: see each function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halftone/codec_plan.h"
#include "halftone/codec_schema.h"
#include "halftone/encoded_value.h"
#include "halftone/result.h"
#include "halftone/struct_type.h"

namespace halftone {

// Values of kFloat, kDouble, kFloat16 or kBfloat16 (kInt64 for indices), little endian, at any address.
// Owns nothing but dims.
struct CodecTensor {
  DataType type = DataType::kFloat;
  std::vector<std::int64_t> dims;
  std::span<const std::uint8_t> bytes;
};

// Encodes with the plan's own numbers: nothing is calibrated. The result has no name.
// Memory: the payload; with outliers, permutation or transform two float64 per element more.
Result<EncodedValue> encode_tensor(const CodecTensor& x, const CodecPlan& plan);

// The inputs 1 to 8 of ai.rt::Quantize. Absent parameters have defaults: scales are calibrated (see
// calibrate_codec_scale), zero points are 0, or 2^(bits-1) for unsigned integers, offsets are 0, code books
// are the profile's. Scales, zero points and offsets have rank 0 or 1 and one value, or one per block.
struct QuantizeInputs {
  std::optional<CodecTensor> scales;
  std::optional<CodecTensor> zero_points;
  std::optional<CodecTensor> offsets;
  std::optional<CodecTensor> codebooks;    // all tables, one after the other
  std::optional<CodecTensor> permutation;  // these four exactly where `type` has room for them
  std::optional<CodecTensor> forward;
  std::optional<CodecTensor> inverse;
  std::optional<CodecTensor> outliers;
};

// ai.rt::Quantize: encodes as `type` says, a descriptor or a reference to one in `catalogue`. The result's
// struct type is `type` as it was given; it has no name.
// Errors: as above, and kInvalidPolicy for inputs that don't fit `type`.
Result<EncodedValue> quantize_tensor(const CodecTensor& x, const StructType& type,
                                     const QuantizeInputs& inputs = {},
                                     const StructCatalogue& catalogue = {});

// A plan of `schema` with default parameters, or those of `inputs`: what quantize_tensor uses. Where scales
// are not given they are 1 in the result.
// Errors: kInvalidPolicy, kNonFinite.
Result<CodecPlan> plan_from_inputs(const CodecSchema& schema, const QuantizeInputs& inputs);

// ai.rt::Dequantize: the values as little-endian `type`, the logical type for kUndefined.
Result<std::vector<std::uint8_t>> decode_tensor(const EncodedValue& value,
                                                DataType type = DataType::kUndefined,
                                                const StructCatalogue& catalogue = {});

// The schema of a value that the codec made, with everything checked but the payload's content: versioned
// descriptor, no parameter_ref, logical shape, payload length (not if `value` has no payload: then the caller
// has it elsewhere).
Result<CodecSchema> encoded_value_schema(const EncodedValue& value, const StructCatalogue& catalogue = {});

// Encodes block ranges of a tensor that is never in memory as a whole: head, then payload, then tail.
//
//   BlockEncoder e = open(...); frame = encoded_value_frame(value, e.schema().payload_bytes);
//   write frame.head, e.prefix(), then the records of blocks 0 .. blocks-1, frame.tail
//
// Plans with outliers, permutation or transform can't be streamed (kInvalidPolicy).
class BlockEncoder {
 public:
  enum class Scales : std::uint8_t {
    kGiven,      // the plan's
    kAutomatic,  // calibrated per block, as ai.rt::Quantize does without scales
  };

  // `dims` are the logical shape. Errors: those of check_codec_plan, kInvalidPolicy for what can't be
  // streamed or calibrated (tables of vectors, several books).
  static Result<BlockEncoder> open(CodecPlan plan, DataType source, std::vector<std::int64_t> dims,
                                   Scales scales);

  [[nodiscard]] const CodecSchema& schema() const { return schema_; }
  [[nodiscard]] const CodecPlan& plan() const { return plan_; }
  // The value without a payload: descriptor and logical type.
  [[nodiscard]] EncodedValue value_without_payload() const;
  // The payload before the first record.
  [[nodiscard]] std::vector<std::uint8_t> prefix() const;

  // Encodes `blocks` whole blocks from `first_block` on. `source` has exactly their elements, `records`
  // exactly their bytes (block_range). Any order, any sizes.
  // Errors: of encoding, and kShapeMismatch for spans of other sizes. What was written then is unspecified.
  Result<void> encode(std::uint64_t first_block, std::uint64_t blocks, std::span<const std::uint8_t> source,
                      std::span<std::uint8_t> records) const;

 private:
  BlockEncoder() = default;

  CodecPlan plan_;
  CodecSchema schema_;
  DataType source_ = DataType::kFloat;
  std::vector<std::int64_t> dims_;
  Scales scales_ = Scales::kGiven;
};

// Decodes block ranges. Values with outliers, permutation or transform can't be streamed (kInvalidPolicy).
class BlockDecoder {
 public:
  static Result<BlockDecoder> open(CodecSchema schema, DataType output);

  [[nodiscard]] const CodecSchema& schema() const { return schema_; }

  // `records` has exactly the bytes of the blocks, `values` exactly their elements in the output type.
  // Errors: of decoding, and kShapeMismatch for spans of other sizes.
  Result<void> decode(std::uint64_t first_block, std::uint64_t blocks, std::span<const std::uint8_t> records,
                      std::span<std::uint8_t> values) const;

 private:
  BlockDecoder() = default;

  CodecSchema schema_;
  DataType output_ = DataType::kFloat;
};

// Elements and payload bytes of the blocks [first_block, first_block + blocks).
struct BlockRange {
  std::uint64_t first_element = 0;
  std::uint64_t elements = 0;
  std::uint64_t first_byte = 0;  // of the payload
  std::uint64_t bytes = 0;
};
// Errors: kInvalidPolicy for blocks that aren't there.
Result<BlockRange> block_range(const CodecSchema& schema, std::uint64_t first_block, std::uint64_t blocks);

// How many blocks from `first_block` on have at most `elements` elements together; at least 1, so that a
// caller can go on, and 0 only behind the last.
std::uint64_t blocks_within(const CodecSchema& schema, std::uint64_t first_block, std::uint64_t elements);

}  // namespace halftone
