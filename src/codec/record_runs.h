// Runs of blocks between plain floats and records: kernels where there are some for the layout, else
// RecordCoder, block by block, which also says what is wrong with a block that kernels stopped at.
#pragma once

#include <cstdint>
#include <span>

#include "halftone/codec_plan.h"
#include "halftone/codec_schema.h"
#include "halftone/result.h"
#include "numeric/block_kernels.h"

namespace halftone::codec {

struct EncodeJob {
  const CodecPlan& plan;  // checked
  DataType source = DataType::kFloat;
  bool automatic_scales = false;
  bool check_values = true;                          // what was encoded has to be finite in the source's type
  const numeric::BlockKernelSet* kernels = nullptr;  // nullptr: only RecordCoder
};

// Encodes blocks first_block .. first_block + blocks - 1, numbered through the plan's runs. Sizes were
// checked.
Result<void> encode_records(const EncodeJob& job, std::uint64_t first_block, std::uint64_t blocks,
                            const std::uint8_t* source, std::uint8_t* records);

struct DecodeJob {
  const CodecSchema& schema;
  DataType output = DataType::kFloat;  // values beyond it are an error
  const numeric::BlockKernelSet* kernels = nullptr;
};

Result<void> decode_records(const DecodeJob& job, std::uint64_t first_block, std::uint64_t blocks,
                            const std::uint8_t* records, std::uint8_t* values);

// Whether kernels know a layout: scalar codes of at most 8 bits.
bool kernels_know(const BlockLayout& layout);

// The kernels to use where nothing else is asked for.
const numeric::BlockKernelSet& default_kernels();

}  // namespace halftone::codec
