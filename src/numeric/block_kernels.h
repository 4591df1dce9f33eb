// Kernels for values that are coded in blocks, each block with its own float64 scale, zero point and offset:
// the codec of encoded values (payload records) and everything else that keeps a double per block. As in
// kernel_set.h there is a scalar reference, which is the definition, and one implementation per instruction
// set, whose bytes are equal to the reference's.
//
// Conventions: source values are float32, little endian, at any address. Codes of a block start at a byte;
// the blocks of a run lie `stride` bytes apart, and what lies between them is left alone, but for heads and
// scales that are chosen. Counts may be 0. Inputs and outputs are disjoint, but scales may be read from the
// records that codes are written to.
//
// The definition of a code (block_codes.h) is made of steps in x87 extended precision, on every machine:
// where long double is something else, that format is computed in software. A fast path decides an element
// only if it is provably not near a tie; the others are decided by the definition.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/code_table.h"

namespace halftone::numeric {

// A float64 per block, at any address: within the records of a payload (stride: bytes from one record to the
// next), in an array (stride 8), or one for all blocks (stride 0).
struct BlockDoubles {
  const std::uint8_t* first;
  std::size_t stride;
};

// What encoding writes in front of the codes of each block, so that it ends where they begin; a scale that is
// chosen comes on top of it. The same for all blocks; nothing with size 0.
struct BlockHeads {
  const std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
};

// Blocks of equal length.
struct BlockRun {
  std::size_t blocks;
  std::size_t count;  // elements of each
  BlockDoubles scales;
  BlockHeads heads = {};
};

// Where the codes of block b are: first + b * stride. A block has packed_byte_count(packing, count) bytes.
template <typename Byte>
struct PackedBlocks {
  Byte* first;
  std::size_t stride;
};

// How the codes of a block are packed: `bits` each (1 to 8), the first in the lowest bits, unused bits 0; or,
// if `base3`, five to a byte, the first the least significant, codes 0 to 2.
struct CodePacking {
  std::uint32_t bits;
  bool base3;
};

constexpr std::size_t packed_byte_count(CodePacking packing, std::size_t count) {
  return packing.base3 ? count / 5 + static_cast<std::size_t>(count % 5 != 0)
                       : count / 8 * packing.bits + (count % 8 * packing.bits + 7) / 8;
}

// Integer codes: -2^(bits-1) .. 2^(bits-1)-1 in two's complement, or 0 .. 2^bits-1. Zero points are whole and
// among them.
struct AffineCodes {
  std::uint32_t bits;  // 1 to 8
  bool is_signed;
  BlockDoubles zero_points;
  BlockDoubles offsets;
};

// What can be reached on either side of 0, in steps: for integers the lowest and highest code minus the zero
// point, for a table its smallest and largest entry.
struct CodeReach {
  double low;
  double high;
};

// Where encoding leaves the scale of block b that it chose: first + b * stride. With first = nullptr it
// chooses none and reads the run's. A scale is the largest of c / high over c > 0 (if high > 0) and c / low
// over c < 0 (if low < 0), where c = value - offset and all is in double; 1 if there is none.
struct AutomaticScales {
  std::uint8_t* first;
  std::size_t stride;
};

struct BlockKernelSet {
  const char* instruction_set;  // "scalar" for the reference, else Highway's name of the target

  // Codes of values. Scales of the run are positive and finite. Returns the number of blocks before the first
  // that has a value, a scale chosen here or, with a table, a quotient that isn't finite: `run.blocks` if all
  // is well. Heads, codes and scales from that block on are unspecified then.
  std::size_t (*encode_affine)(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                               AutomaticScales automatic, PackedBlocks<std::uint8_t> codes);
  std::size_t (*encode_table)(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                              AutomaticScales automatic, CodePacking packing,
                              PackedBlocks<std::uint8_t> codes);

  // Values: float32((code - zero_point) * scale + offset) and float32(entry * scale), both computed in
  // double. -0 of a table is +0. Returns the number of blocks before the first that has a value beyond
  // float32 or a code that isn't in the table: `run.blocks` if all is well. Unused bits aren't looked at (see
  // padding_is_zero).
  std::size_t (*decode_affine)(PackedBlocks<const std::uint8_t> codes, const BlockRun& run,
                               const AffineCodes& affine, std::uint8_t* y);
  // `tables` has `entries` float64 for each block.
  std::size_t (*decode_table)(PackedBlocks<const std::uint8_t> codes, const BlockRun& run,
                              BlockDoubles tables, std::size_t entries, CodePacking packing, std::uint8_t* y);
};

const BlockKernelSet& reference_block_kernels();
const BlockKernelSet& simd_block_kernels();

}  // namespace halftone::numeric
