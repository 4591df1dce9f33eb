// Small tensors, hex and encoded values for the tests of the codec.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/codec.h"
#include "halftone/small_floats.h"

namespace halftone::test {

using Bytes = std::vector<std::uint8_t>;

std::string to_hex(std::span<const std::uint8_t> bytes);
Bytes from_hex(std::string_view hex);  // spaces are left out

// Owns what a CodecTensor looks at.
struct OwnedTensor {
  DataType type = DataType::kFloat;
  std::vector<std::int64_t> dims;
  Bytes bytes;

  [[nodiscard]] CodecTensor view() const { return {type, dims, bytes}; }
  operator CodecTensor() const { return view(); }  // NOLINT(google-explicit-constructor)
};

// Values of `type`, exact or rounded to it; one dimension, or `dims`.
OwnedTensor floats(const std::vector<double>& values, DataType type = DataType::kFloat);
OwnedTensor shaped(const std::vector<double>& values, std::vector<std::int64_t> dims,
                   DataType type = DataType::kFloat);
OwnedTensor indices(const std::vector<std::int64_t>& values);

std::vector<double> to_doubles(std::span<const std::uint8_t> bytes, DataType type);

// Fails the test if there is an error.
EncodedValue encoded(const CodecTensor& x, const CodecPlan& plan);
EncodedValue quantized(const CodecTensor& x, CodecProfile profile, std::uint64_t block_size,
                       const QuantizeInputs& inputs = {});
CodecPlan plan_of(CodecProfile profile, std::uint64_t count, std::uint64_t block_size = kDefaultBlockSize);
std::vector<double> decoded(const EncodedValue& value, DataType type = DataType::kDouble);
std::string payload_hex(const EncodedValue& value);
// The code bytes of each block, separated by spaces.
std::string code_hex(const EncodedValue& value);
Bytes message(EncodedValue value, std::string_view name);  // with that name
Bytes descriptor(const EncodedValue& value);
StructType type_of(const CodecPlan& plan);

}  // namespace halftone::test
