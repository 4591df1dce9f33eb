// The list of kernels. Every implementation (the scalar reference, and each instruction set) fills the same
// two tables, and the public functions, the tests and the benchmarks go through them: a kernel that is in the
// list can't go untested.
//
// Conventions: float32 values and 16-bit codes are at any byte address, little endian. Counts are elements
// and may be 0. Inputs and outputs are disjoint, except that fake-quantize may work in place. Callers have
// checked sizes and scales.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halftone/number_format.h"
#include "halftone/statistics.h"

namespace halftone::numeric {

// How codes lie in memory before small ones are packed (int4 and int2 use kS8, uint4 and uint2 use kU8), and
// what they mean. The kernels of small floats look at no zero point and no bounds.
enum class CodeStorage : std::uint8_t { kS8, kU8, kS16, kU16, kE4M3Fn, kE4M3Fnuz, kE5M2, kE5M2Fnuz, kE2M1 };
inline constexpr std::size_t kCodeStorageCount = 9;
inline constexpr std::size_t kCodeStorageBytes[kCodeStorageCount] = {1, 1, 2, 2, 1, 1, 1, 1, 1};

CodeStorage code_storage_of(NumberFormat format);

// Rows of equal length, each with its own scale and zero point.
struct RowGrid {
  const float* scales;              // one per row
  const std::int32_t* zero_points;  // one per row; nullptr: all 0
  std::int32_t lowest;              // codes, both ends included
  std::int32_t highest;
};

// Element i uses scales[i % period] and zero_points[i % period].
struct PeriodicGrid {
  const float* scales;
  const float* zero_points;  // as float32: exact, they are 16 bits at most
  std::size_t period;        // at least 1
  std::int32_t lowest;
  std::int32_t highest;
};

// One entry per CodeStorage.
struct CodeKernels {
  void (*quantize_rows)(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                        std::uint8_t* codes);
  void (*quantize_periodic)(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                            std::uint8_t* codes);
  void (*dequantize_rows)(const std::uint8_t* codes, std::size_t rows, std::size_t length,
                          const RowGrid& grid, std::uint8_t* y);
  void (*dequantize_periodic)(const std::uint8_t* codes, std::size_t count, const PeriodicGrid& grid,
                              std::uint8_t* y);
  // Needs no storage for codes: the four integer entries share theirs.
  void (*fake_quantize_rows)(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                             std::uint8_t* y);
  void (*fake_quantize_periodic)(const std::uint8_t* x, std::size_t count, const PeriodicGrid& grid,
                                 std::uint8_t* y);
};

// Of a type that is no number format by itself: the small floats of 6 bits, which only blocks have.
struct RowKernels {
  void (*quantize_rows)(const std::uint8_t* x, std::size_t rows, std::size_t length, const RowGrid& grid,
                        std::uint8_t* codes);
  void (*dequantize_rows)(const std::uint8_t* codes, std::size_t rows, std::size_t length,
                          const RowGrid& grid, std::uint8_t* y);
};

struct CodeKernelSet {
  const char* instruction_set;  // "scalar" for the reference, else Highway's name of the target
  CodeKernels by_storage[kCodeStorageCount];
  RowKernels float6e3m2;
  RowKernels float6e2m3;
  // Two one-byte codes into one byte, the first in the low half; writes (count + 1) / 2 bytes, an odd tail
  // padded with 0.
  void (*pack_nibbles)(const std::uint8_t* codes, std::size_t count, std::uint8_t* packed);
  // The inverse; `sign_extend` is true for int4. Reads (count + 1) / 2 bytes and writes `count`.
  void (*unpack_nibbles)(const std::uint8_t* packed, std::size_t count, bool sign_extend,
                         std::uint8_t* codes);
  // The same for codes of 2 bits, four to a byte, the first in the lowest bits. `sign_extend` is for int2.
  void (*pack_quarters)(const std::uint8_t* codes, std::size_t count, std::uint8_t* packed);
  void (*unpack_quarters)(const std::uint8_t* packed, std::size_t count, bool sign_extend,
                          std::uint8_t* codes);
};

// Magnitudes are compared as the bits of |x|, whose order is 0 < denormal < normal < infinity < NaN.
inline constexpr std::int32_t kInfinityBits = 0x7F800000;

// min and max have no sign on zero and are unspecified if magnitude_bits >= kInfinityBits (something is not
// finite).
struct RawRange {
  float min;                    // +infinity for no values
  float max;                    // -infinity for no values
  std::int32_t magnitude_bits;  // the largest of the bits of |x|; 0 for no values
};

struct StatisticKernelSet {
  const char* instruction_set;
  RawRange (*range)(const std::uint8_t* x, std::size_t count);
  // The range of each column of a row-major matrix, merged into min, max and magnitude_bits (arrays of
  // `columns`), which the caller has set to an empty range. Zeros may have either sign here.
  void (*column_ranges)(const std::uint8_t* x, std::size_t rows, std::size_t columns, float* min, float* max,
                        std::int32_t* magnitude_bits);
  ErrorSums (*error_sums)(const std::uint8_t* expected, const std::uint8_t* actual, std::size_t count);
};

// The normative implementation: plain loops that say what every other kernel has to compute.
const CodeKernelSet& reference_code_kernels();
const StatisticKernelSet& reference_statistic_kernels();

// The best implementation for this machine. WebAssembly has one, chosen when it was compiled.
const CodeKernelSet& simd_code_kernels();
const StatisticKernelSet& simd_statistic_kernels();

}  // namespace halftone::numeric
