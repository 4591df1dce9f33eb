// The profiles ort_matmulnbits_int2, _int4 and _int8 of encoded values: exactly the bytes that onnxruntime's
// com.microsoft.MatMulNBits takes as inputs B, scales and zero_points, one after the other.
//
// The tensor is a matrix of K rows and N columns, row major. Each column is cut into ceil(K / block_size)
// groups; the codes of a group, low bits first, fill block_size * bits / 8 bytes, rows from K on being 0.
// Groups lie column by column. weight = (code - zero point) * scale. Scales have the source's type; zero
// points are left out where all are 2^(bits-1), packed where all are whole numbers that a code can be
// (bytes begin anew with each column), and of the source's type else.
//
// Source: onnx-light, quantization.cc (ORT profiles of format v1); onnxruntime, ContribOperators.md.
// Words in double quotes below are part of messages.
// Threading: no shared state. Memory: the result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halftone/codec.h"

namespace halftone {

// What a descriptor says.
struct MatMulNBitsLayout {
  enum class ZeroPoints : std::uint8_t { kMidpoint, kPacked, kSourceType };

  CodecProfile profile = CodecProfile::kOrtMatMulNBitsInt4;
  std::uint32_t bits = 4;
  std::uint32_t block_size = 128;
  std::uint64_t k = 0;
  std::uint64_t n = 0;
  DataType type = DataType::kFloat;  // of the source, the scales and unpacked zero points
  ZeroPoints zero_points = ZeroPoints::kMidpoint;

  [[nodiscard]] std::uint64_t groups() const { return (k - 1) / block_size + 1; }
  [[nodiscard]] std::uint64_t group_bytes() const { return std::uint64_t{block_size} / 8 * bits; }
  [[nodiscard]] std::uint64_t weight_bytes() const { return n * groups() * group_bytes(); }
  [[nodiscard]] std::uint64_t scale_bytes() const { return n * groups() * data_type_bits(type) / 8; }
  [[nodiscard]] std::uint64_t packed_column_bytes() const { return (groups() * bits + 7) / 8; }
  [[nodiscard]] std::uint64_t zero_point_bytes() const;
  [[nodiscard]] std::uint64_t payload_bytes() const {
    return weight_bytes() + scale_bytes() + zero_point_bytes();
  }
};

// A plan with scale 1 and zero point 2^(bits-1) for each group: one run of n * ceil(k / block_size) blocks.
// Errors (kInvalidPolicy): another profile; a block size that isn't a power of two from 16 to 2^31; "shape"
// for k or n 0; kTooLarge for a payload over 2^60 bytes.
Result<CodecPlan> make_matmul_nbits_plan(CodecProfile profile, std::uint64_t k, std::uint64_t n,
                                         std::uint32_t block_size = kDefaultBlockSize);

// Sets the plan's scales from the values of each group, as ai.rt::Quantize does without scales: in double, by
// the codes' range around the zero point as it is given. Encoding rounds both to x's type later.
// Errors: those of encode_matmul_nbits that come before scales.
Result<void> calibrate_matmul_nbits(const CodecTensor& x, CodecPlan& plan);

// Encodes with the plan's scales and zero points, both rounded to x's type first. Negative scales are
// allowed; a scale of 0 only for a group of zeros.
// Errors: kUnsupportedType for other than float, float16 and bfloat16; kShapeMismatch where x isn't the
// matrix of the plan ("shape"); kInvalidPolicy for offsets, code books, permutations, transforms, outliers,
// several runs or an edited layout, for a "zero scale" of values that aren't 0, and for a scale that
// "underflows" to 0; kNonFinite for values, scales or zero points that aren't "finite", before or after
// rounding, and for a reconstruction that isn't ("overflow").
Result<EncodedValue> encode_matmul_nbits(const CodecTensor& x, const CodecPlan& plan);

// The canonical descriptor. Precondition: sizes are those of a made plan.
StructType matmul_nbits_descriptor(const MatMulNBitsLayout& layout);

// Whether the name says that this is one of the three profiles; false for a reference.
bool is_matmul_nbits(const StructType& type);

// Errors: kInvalidGraph where `descriptor` isn't canonical ("does not match its versioned schema").
Result<MatMulNBitsLayout> parse_matmul_nbits(const StructType& descriptor);

// The layout of a value, with everything checked: descriptor, logical "shape" and type, payload length
// ("truncated", "trailing"), "weight padding" and "zero-point padding".
// Errors: kInvalidGraph, kTruncated; kInvalidState for a payload that has to be loaded or a parameter_ref.
Result<MatMulNBitsLayout> check_matmul_nbits(const EncodedValue& value,
                                             const StructCatalogue& catalogue = {});

// (code - zero point) * scale in double, then as `type`, the logical type for kUndefined.
// Errors: those of check_matmul_nbits; kUnsupportedType for other than float, double, float16, bfloat16;
// kNonFinite where a result isn't finite in `type` ("overflow").
Result<std::vector<std::uint8_t>> decode_matmul_nbits(const EncodedValue& value,
                                                      DataType type = DataType::kUndefined,
                                                      const StructCatalogue& catalogue = {});

// The operator's attributes and inputs; spans are parts of the value's payload.
struct MatMulNBitsInputs {
  MatMulNBitsLayout layout;
  std::span<const std::uint8_t> weights;      // B: uint8 [N, groups, group_bytes]
  std::span<const std::uint8_t> scales;       // of layout.type, [N, groups]
  std::span<const std::uint8_t> zero_points;  // empty, or uint8 [N, packed_column_bytes], or as scales
};

// Errors: those of check_matmul_nbits.
Result<MatMulNBitsInputs> export_matmul_nbits_inputs(const EncodedValue& value,
                                                     const StructCatalogue& catalogue = {});

}  // namespace halftone
