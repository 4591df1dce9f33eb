// The descriptor of an encoded value: what says, in the value itself, how its payload is laid out.
//
// A schema is a plan without its numbers. Its descriptor is a struct type of a fixed form, to the byte: a
// reader accepts no other (docs of onnx-light: "does not match its versioned schema"). Descriptors grow with
// the number of runs, not with the number of blocks.
//
// Payload: 0 | permutation int64[] | forward float64[] | inverse float64[] | outlier indices int64[] |
// outlier values float64[] | records of the blocks, in order. A record: scale | zero point | offset | code
// book, all float64 | code bytes. Little endian, no padding. So block b of a run lies at a fixed distance
// from the first: blocks can be read and written in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "halftone/codec_plan.h"
#include "halftone/result.h"
#include "halftone/struct_type.h"

namespace halftone {

inline constexpr std::string_view kCodecSchemaPrefix = "onnx_light.quantization.v1/";

struct SchemaRun {
  BlockLayout layout;
  std::uint64_t blocks = 0;
  // Filled in by make_codec_schema and parse_codec_schema: where the run begins.
  BlockSizes sizes;
  std::uint64_t first_block = 0;
  std::uint64_t first_element = 0;
  std::uint64_t first_byte = 0;  // of the payload
};

struct CodecSchema {
  CodecProfile profile = CodecProfile::kInt4;
  std::vector<SchemaRun> runs;    // neighbours have different layouts
  std::uint64_t permutation = 0;  // 0 or the number of elements
  std::uint32_t transform_size = 0;
  std::uint64_t outliers = 0;
  // Totals.
  std::uint64_t blocks = 0;
  std::uint64_t elements = 0;
  std::uint64_t prefix_bytes = 1;  // of the payload, before the first record
  std::uint64_t payload_bytes = 1;
};

// Neighbouring runs of one layout become one.
// Errors: those of check_block_layout; kInvalidPolicy for runs without blocks and for profiles of
// onnxruntime; kTooLarge for a payload over 2^60 bytes.
Result<CodecSchema> make_codec_schema(const CodecPlan& plan);

// The canonical descriptor. Precondition: `schema` is from one of the functions here.
StructType codec_descriptor(const CodecSchema& schema);

// Errors: kInvalidGraph where `descriptor` isn't canonical ("does not match its versioned schema", or what is
// wrong with its numbers), kInvalidPolicy for an unknown profile.
Result<CodecSchema> parse_codec_schema(const StructType& descriptor);

}  // namespace halftone
