// One block's record, encoded and decoded value by value: the definition, for every layout. Kernels do whole
// runs of the common ones (record_runs.h) and must agree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halftone/codec_plan.h"
#include "halftone/result.h"
#include "numeric/code_table.h"

namespace halftone::codec {

inline constexpr std::size_t kRecordNumbers = 24;  // bytes of scale, zero point and offset

struct BlockNumbers {
  double scale = 1.0;
  double zero_point = 0.0;
  double offset = 0.0;
  std::span<const double> table;
};

// Holds what blocks of one layout share, and room for the codes of one.
class RecordCoder {
 public:
  // `layout` was checked.
  RecordCoder(const BlockLayout& layout, const BlockSizes& sizes);

  // Fills a record. `values` are the block's, finite; the numbers were checked. Errors (kNonFinite) name the
  // element within the block.
  Result<void> encode(const BlockNumbers& numbers, std::span<const double> values, std::uint8_t* record);

  // Errors: kInvalidGraph for what a record may not have. Values may come out infinite or NaN.
  Result<void> decode(const std::uint8_t* record, std::span<double> values);

 private:
  Result<void> encode_affine(const BlockNumbers& numbers, std::span<const double> values);
  Result<void> encode_codebook(const BlockNumbers& numbers, std::span<const double> values);
  Result<void> encode_vector(const BlockNumbers& numbers, std::size_t vector, std::size_t first_element);
  Result<void> encode_cast(double scale, std::span<const double> values, std::uint8_t* out) const;
  Result<void> decode_affine(const BlockNumbers& numbers, std::span<double> values) const;
  Result<void> decode_codebook(const BlockNumbers& numbers, std::span<double> values) const;
  void decode_cast(double scale, const std::uint8_t* from, std::span<double> values) const;

  BlockLayout layout_;
  BlockSizes sizes_;
  std::vector<std::uint16_t> codes_;
  std::vector<double> table_;   // of the record that is decoded
  std::vector<double> vector_;  // residual of one vector
  std::vector<double> prepared_from_;
  std::optional<numeric::CodeTable> prepared_;  // of prepared_from_
};

// Writes everything of a record but its codes.
void write_record_numbers(const BlockNumbers& numbers, std::uint8_t* record);

// Checks everything of a record but the range of its codes; reads its numbers. Tables are copied to `table`,
// and not looked at again if they are what `table` holds already (which was checked).
Result<BlockNumbers> read_record_numbers(const BlockLayout& layout, const BlockSizes& sizes,
                                         const std::uint8_t* record, std::vector<double>& table);

// At least the largest magnitude that codes reach at scale 1, whatever the zero point. Casts: infinite.
double widest_value(const BlockLayout& layout, std::span<const double> table);

// Whether every value that a record can stand for is finite in `type` for sure.
bool surely_finite(double widest, double scale, double offset, DataType type);

// The scale that ai.rt::Quantize computes: of c = value - offset, the largest of c / high over c > 0 and of
// c / low over c < 0, where low and high are what codes reach; 1 if there is none. Casts: 1.
double automatic_scale(const BlockLayout& layout, const BlockNumbers& numbers,
                       std::span<const double> values);

// What the values of codes reach at scale 1. Casts: nothing.
struct Reach {
  double low = 0.0;
  double high = 0.0;
};
Reach code_reach(const BlockLayout& layout, const BlockNumbers& numbers);

}  // namespace halftone::codec
