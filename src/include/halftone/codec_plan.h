// What an encoded value is made from: onnx-light's profiles, layouts of blocks, and plans.
//
// A tensor is cut, in row-major order (after outliers, permutation and transform, see CodecPlan), into blocks
// of consecutive elements; neighbouring blocks of one layout are a run. Every block has a float64 scale, zero
// point and offset, and codes:
//
//   affine    integers; value = (code - zero point) * scale + offset
//   codebook  indices of tables; value = (sum over the books of the entry's component) * scale. An entry is a
//             vector of `vector_size` components, coded at once
//   cast      value / scale as a plain float
//
// A profile is a name with defaults for all that; every default may be edited, the name then only labels the
// value. Source: onnx-light, quantization.h (format version v1).
//
// Memory: parameters of a run are arrays with one number per block, or one number for all of them; the same
// for code books. Threading: plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "halftone/data_type.h"
#include "halftone/result.h"

namespace halftone {

// In onnx-light's order; wire names are the lower-case spellings of its members ("int8_per_channel").
enum class CodecProfile : std::uint8_t {
  kInt8,
  kInt8PerChannel,
  kInt4,
  kGptq,
  kAwq,
  kEetq,
  kMatMulNBits,  // a portable layout; not onnxruntime's bytes
  kQ2K,
  kQ3K,
  kQ4K,
  kQ5K,
  kQ6K,
  kHqq,
  kExl2,
  kExl3,
  kNf4,
  kIq4Nl,
  kBinary,
  kTernary,
  kTq1_0,
  kTq2_0,
  kBitNet,
  kParetoQ,
  kTequila,
  kStq1_0,
  kIq1S,
  kAqlm,
  kQuipSharp,
  kSpqr,
  kSqueezeLlm,
  kLog,
  kFp6Llm,
  kFp8E4M3,
  kMxfp4,
  kMxfp6,
  kNvfp4,
  kQuarot,
  kSmoothQuant,
  kTiledFloat,
  kColumnMajor,
  kOrtMatMulNBitsInt2,  // these three are onnxruntime's bytes, with a layout of their own
  kOrtMatMulNBitsInt4,
  kOrtMatMulNBitsInt8,
};

// Numbers of the descriptor. A number that isn't listed is kept, and refused by check_block_layout.
enum class CodecMethod : std::uint32_t { kAffine = 0, kCodebook = 1, kCast = 2 };

// What blocks of a run have in common: the nine integers of a descriptor's `parameters`.
struct BlockLayout {
  std::uint32_t count = 0;  // elements of a block, at least 1
  CodecMethod method = CodecMethod::kAffine;
  std::uint32_t bits = 4;         // of a code: 1 to 16
  bool signed_codes = true;       // affine: two's complement. Others keep it without a meaning
  std::uint32_t books = 1;        // codebook: additive tables
  std::uint32_t entries = 0;      // codebook: of each table, at most 2^bits
  std::uint32_t vector_size = 1;  // codebook: components of an entry
  bool base3 = false;             // codebook of 3 entries: five codes to a byte
  DataType cast_type =
      DataType::kFloat16;  // cast: kFloat, kDouble, kFloat16 or kBfloat16; always one of them

  bool operator==(const BlockLayout&) const = default;
};

// Of a block of a layout.
struct BlockSizes {
  std::uint64_t codes = 0;  // number of codes
  std::uint64_t code_bytes = 0;
  std::uint64_t table_values = 0;  // float64 of its code book; 0 without one
  std::uint64_t record_bytes = 0;  // 24 + 8 * table_values + code_bytes
};

// The sizes of a sound layout.
// Errors (kInvalidPolicy): whatever is wrong with the layout itself, kTooLarge for a block that memory can't
// hold.
Result<BlockSizes> check_block_layout(const BlockLayout& layout);

// Integer codes run from `low` to `high`: of an affine layout with 1 to 16 bits.
struct CodeLimits {
  double low = 0;
  double high = 0;
};
CodeLimits code_limits(const BlockLayout& layout);

struct CodecProfileInfo {
  CodecProfile profile;
  std::string_view name;             // on the wire: "nf4"
  BlockLayout layout;                // with count 0
  double zero_point;                 // of every block, by default
  bool learned_codebook;             // there is no default table: plans need codebooks
  bool needs_transform;              // plans need forward and inverse
  bool ort;                          // onnxruntime's own bytes
  std::span<const double> codebook;  // the default table, books * entries * vector_size; else empty
};

// O(1).
const CodecProfileInfo& codec_profile_info(CodecProfile profile);
// All 43, in the order of the enum.
std::span<const CodecProfileInfo> codec_profiles();
// By wire name, exactly.
// Errors: kInvalidPolicy, "Unknown quantization format".
Result<CodecProfile> parse_codec_profile(std::string_view name);

// Bits of storage per weight of whole blocks, scale, zero point, offset and table included. Precondition: the
// layout is sound.
double bits_per_weight(const BlockLayout& layout);

// Neighbouring blocks of one layout. `scales`, `zero_points` and `offsets` have one number per block, or one
// for all blocks; `codebooks` has one table after the other, or one for all blocks, in the order
// [book][entry][component].
struct CodecRun {
  BlockLayout layout;
  std::uint64_t blocks = 0;
  std::vector<double> scales{1.0};
  std::vector<double> zero_points{0.0};
  std::vector<double> offsets{0.0};
  std::vector<double> codebooks;
};

struct MatrixShape {
  std::uint64_t k = 0;  // rows
  std::uint64_t n = 0;  // columns
};

// Before blocks are cut, in this order: the elements at `outliers` are kept as float64 and become 0; element
// i becomes element permutation[i]; each group of `transform_size` elements, as a row vector, is multiplied
// by `forward`.
struct CodecPlan {
  CodecProfile profile = CodecProfile::kInt4;
  std::vector<CodecRun> runs;               // none for an empty tensor
  std::optional<MatrixShape> matrix_shape;  // profiles of onnxruntime only
  std::vector<std::int64_t> permutation;    // empty, or every element's index once
  std::uint32_t transform_size = 0;         // n; 0: none
  std::vector<double> forward;              // n * n, row major
  std::vector<double> inverse;              // its inverse
  std::vector<std::int64_t> outliers;       // flat indices, each once
};

inline constexpr std::uint64_t kDefaultBlockSize = 128;

// A plan for `count` elements: blocks of `block_size`, then one of what is left, with the profile's
// parameters. No runs for count 0. Learned code books and transforms are left for the caller to fill in.
// Errors (kInvalidPolicy): block_size not in 1 .. 2^32-1; a profile of onnxruntime, which has plans of its
// own.
Result<CodecPlan> make_codec_plan(CodecProfile profile, std::uint64_t count,
                                  std::uint64_t block_size = kDefaultBlockSize);

// Everything that encoding `count` elements asks of a plan. O(elements) with a permutation, else O(blocks).
// Errors: kInvalidPolicy, one sentence about the first thing that is wrong; kNonFinite for numbers of the
// plan that aren't finite.
Result<void> check_codec_plan(const CodecPlan& plan, std::uint64_t count);

}  // namespace halftone
