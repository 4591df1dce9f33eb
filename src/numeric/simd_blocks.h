// The kernels for blocks of one instruction set, from several files, for the table in simd_block_decoding.cc.
// Included once per instruction set, after Highway's headers.
#include "numeric/block_kernels.h"
#include "numeric/kernel_set.h"

#if defined(HALFTONE_SIMD_BLOCKS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HALFTONE_SIMD_BLOCKS_H
#undef HALFTONE_SIMD_BLOCKS_H
#else
#define HALFTONE_SIMD_BLOCKS_H
#endif

namespace halftone::numeric {
namespace HWY_NAMESPACE {

const CodeKernelSet* code_kernels();  // for packing

std::size_t encode_affine_blocks(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                                 AutomaticScales automatic, PackedBlocks<std::uint8_t> codes);
std::size_t encode_table_blocks(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                                AutomaticScales automatic, CodePacking packing,
                                PackedBlocks<std::uint8_t> codes);

}  // namespace HWY_NAMESPACE
}  // namespace halftone::numeric

#endif
