// Parts of an encoded value as the initializers of standard operators. Errors with the code kInvalidPolicy
// say why there is no equivalent, in a sentence about "it"; other errors are faults of the value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/block_record.h"
#include "halftone/codec_schema.h"
#include "halftone/encoded_value.h"
#include "halftone/ort_matmul_nbits.h"

namespace halftone::codec {

inline Error no_equivalent(std::string why) { return {ErrorCode::kInvalidPolicy, std::move(why), "", ""}; }

// Every block of a value in order: its numbers, checked, and its codes.
using BlockVisit = std::function<Result<void>(const BlockNumbers&, std::span<const std::uint16_t>)>;
Result<void> for_each_block(const CodecSchema& schema, std::span<const std::uint8_t> payload,
                            const BlockVisit& visit);

// Elements of 4, 8 or 16 bits, one after the other; two to a byte, low bits first.
class PackedCodes {
 public:
  PackedCodes(std::size_t bits, std::uint64_t count);
  void add(std::uint32_t code);
  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::size_t bits_;
  bool half_ = false;
  std::vector<std::uint8_t> bytes_;
};

// A type whose values are what codes stand for at scale 1, and its code for each of them.
struct StandardTable {
  DataType type = DataType::kUndefined;
  std::vector<std::uint16_t> codes;  // by code of the value
};
// `float4`: whether float4e2m1 may be it.
Result<StandardTable> standard_table(const BlockLayout& layout, std::span<const double> table, bool float4);

// Which blocks share a scale, as DequantizeLinear says it.
struct StandardGrain {
  std::optional<std::int64_t> axis;
  std::int64_t block_size = 0;
  std::vector<std::int64_t> scale_dims;
};
Result<StandardGrain> standard_grain(const CodecSchema& schema, std::span<const std::int64_t> dims);

// Blocks of one layout and size, but for a shorter last one.
Result<void> check_even_blocks(const CodecSchema& schema);

struct LinearWeight {
  DataType type = DataType::kUndefined;
  StandardGrain grain;
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;
  std::vector<std::uint8_t> zero_points;  // of `type`; empty: all 0
  double rounding = 0.0;                  // the largest relative change of a scale

  [[nodiscard]] std::int64_t opset_needed() const;
};

// Precondition: value and schema belong together and were checked.
struct LinearOptions {
  bool round_scales = false;
  bool float4 = true;
};
Result<LinearWeight> linear_weight(const CodecSchema& schema, const EncodedValue& value,
                                   const LinearOptions& options);
// Of an onnxruntime profile: codes row by row, blocks along axis 0.
Result<LinearWeight> linear_weight(const MatMulNBitsInputs& inputs);

// Inputs of com.microsoft.MatMulBnb4.
struct Bnb4Weight {
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t block_size = 0;
  std::int64_t quant_type = 0;  // 0: FP4, 1: NF4
  std::vector<std::uint8_t> codes;
  std::vector<float> absmax;
};

// Whether a code book is NF4 or FP4 as bitsandbytes has them; the operator's number for it.
std::optional<std::int64_t> bnb4_type(const BlockLayout& layout, std::span<const double> table);
// The table of a value's first block; empty where it has none.
std::vector<double> first_table(const CodecSchema& schema, std::span<const std::uint8_t> payload);
Result<Bnb4Weight> bnb4_weight(const CodecSchema& schema, const EncodedValue& value);

}  // namespace halftone::codec
