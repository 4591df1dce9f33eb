// bitsandbytes' double quantization: the absmax of every block, stored in 8 bits.
//
// The mean of all absmax is taken off; what is left is stored in blocks of 256 as codes of a table of 256,
// under a float32 absmax of its own: absmax = map[code] * absmax2 + offset. In a checkpoint these are the
// tensors absmax (codes), nested_absmax, nested_quant_map and the nested_offset of quant_state.
//
// Sources: bitsandbytes, functional.py (create_dynamic_map, quantize_4bit with compress_statistics) and
// kernels.cu (dQuantize). Two of its numbers depend on the machine there: the sum behind the mean, whose
// order differs, and the map, whose torch.linspace rounds differently with the width of vectors. Here the
// mean is that of exact sums as far as double holds them, and the map is the formula rounded once; both are
// within one ulp of what bitsandbytes stores. A checkpoint brings its own, for decoding. Threading: pure
// functions, constant data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halftone/result.h"

namespace halftone {

inline constexpr std::size_t kNestedBlockSize = 256;
inline constexpr std::size_t kNestedMapSize = 256;

// create_dynamic_map(signed=True, max_exponent_bits=7, total_bits=8): ascending, from -0.99296875 to 1, with
// 0 at index 127.
std::span<const float> nested_quant_map();

struct NestedAbsmax {
  std::vector<std::uint8_t> codes;  // one per block of the tensor
  std::vector<float> absmax;        // one per 256 codes
  float offset = 0.0F;
};

// Codes by the kernel's binary search: the nearest entry. All results are empty or 0 for no absmax.
// Errors: kNonFinite if an absmax is NaN or infinite.
Result<NestedAbsmax> nest_absmax(std::span<const float> absmax);

// The absmax of blocks first to first + to.size(), in float32: map[code] * absmax2, then + offset.
// Errors: kShapeMismatch if `map` isn't of 256 entries, or there are too few codes or absmax for that range.
Result<void> unnest_absmax(std::span<const std::uint8_t> codes, std::span<const float> absmax, float offset,
                           std::span<const float> map, std::uint64_t first, std::span<float> to);

}  // namespace halftone
