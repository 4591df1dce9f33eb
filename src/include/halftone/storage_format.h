// Every format that a tensor's values can be stored in, under one name each: the profiles of encoded values
// ("nf4"), the types of DequantizeLinear ("onnx_int4"), and the block layouts of other tools ("gguf_q4_0").
//
// Where a format has scales per block, a block is consecutive elements in row-major order; the last may be
// shorter unless `whole_blocks` is set. For the types of ONNX that is a flat tensor with blocks along its one
// axis, which a model's Reshape brings into shape again.
// Threading: constant data and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "halftone/block_format.h"
#include "halftone/codec_plan.h"
#include "halftone/number_format.h"
#include "halftone/result.h"

namespace halftone {

enum class FormatFamily : std::uint8_t { kEncodedValue, kOnnxType, kBlockLayout };

// "onnx-light profile", "ONNX type" or "block layout".
std::string_view format_family_name(FormatFamily family);

// What a format asks for besides the values.
enum class FormatNeeds : std::uint8_t {
  kNothing,
  kCodebook,   // tables that were learned elsewhere
  kTransform,  // a matrix and its inverse (and, for quip_sharp, tables)
  kMatrix,     // a tensor of rank 2: onnxruntime's profiles cut columns, not the flat tensor
};

struct StorageFormat {
  std::string name;
  FormatFamily family = FormatFamily::kEncodedValue;
  std::variant<CodecProfile, NumberFormat, BlockFormat> format;
  std::string_view source;       // where it is defined
  double bits = 0.0;             // of the code of a value, without overhead
  std::uint32_t block_size = 0;  // where none is said
  bool any_block_size = true;    // block layouts: a power of two from 16 to 4096, or none but their own
  bool whole_blocks = false;
  FormatNeeds needs = FormatNeeds::kNothing;
};

// Profiles, then ONNX types, then block layouts, each in the order of its enum. int32 and float32 are left
// out.
std::span<const StorageFormat> storage_formats();

// Errors: kInvalidPolicy for an unknown name, with the nearest ones.
Result<const StorageFormat*> find_storage_format(std::string_view name);

// `wanted`, or the format's own for 0. Errors: kInvalidPolicy for one that the format can't have.
Result<std::uint32_t> storage_block_size(const StorageFormat& format, std::uint64_t wanted);

// Bytes of `count` values in blocks of `block_size`, with scales, zero points, tables and the scale of the
// tensor; without names and descriptors. 0 for count 0.
// Errors: kInvalidPolicy for formats that need a matrix or a block size of 0; kShapeMismatch where whole
// blocks are asked for; kTooLarge.
Result<std::uint64_t> stored_bytes(const StorageFormat& format, std::uint32_t block_size,
                                   std::uint64_t count);

}  // namespace halftone
