// What happens to elements before they are cut into blocks, and back: outliers, permutation, transforms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/codec.h"

namespace halftone::codec {

// The part of a payload before the records.
struct PayloadPrefix {
  std::vector<std::int64_t> permutation;
  std::uint32_t transform_size = 0;
  std::vector<double> forward;
  std::vector<double> inverse;
  std::vector<std::int64_t> outliers;
  std::vector<double> outlier_values;
};

// Whether blocks are consecutive elements of the tensor, as they are.
bool keeps_order(const CodecSchema& schema);

void append_prefix(const PayloadPrefix& prefix, std::vector<std::uint8_t>& payload);

// Precondition: `payload` has at least schema.prefix_bytes. Errors: kInvalidGraph.
Result<PayloadPrefix> read_prefix(const CodecSchema& schema, std::span<const std::uint8_t> payload);

// Finite values of `x` in the order of blocks; fills in prefix.outlier_values. Errors: kNonFinite.
Result<std::vector<double>> to_block_order(const CodecTensor& x, std::uint64_t count, PayloadPrefix& prefix);

// Values of blocks in the tensor's order. They may come out infinite or NaN.
std::vector<double> from_block_order(std::vector<double> values, const PayloadPrefix& prefix);

}  // namespace halftone::codec
