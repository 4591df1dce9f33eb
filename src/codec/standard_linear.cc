// Codes, scales and zero points for DequantizeLinear.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "codec/code_stream.h"
#include "codec/float_elements.h"
#include "codec/standard_form.h"

namespace halftone::codec {
namespace {

class LinearBuilder {
 public:
  LinearBuilder(StandardGrain grain, const CodecSchema& schema, const LinearOptions& options)
      : schema_(schema), options_(options) {
    made_.grain = std::move(grain);
    made_.scales.reserve(static_cast<std::size_t>(schema.blocks));
  }

  Result<LinearWeight> build(std::span<const std::uint8_t> payload) {
    const Result<void> walked = for_each_block(
        schema_, payload,
        [this](const BlockNumbers& numbers, const auto& codes) { return add(numbers, codes); });
    if (!walked) return walked.error();
    if (rounded_ != 0 && !options_.round_scales) {
      return no_equivalent("Of its " + std::to_string(schema_.blocks) + " scales, which are float64, " +
                           std::to_string(rounded_) +
                           " are no float32 number; allow rounding to convert it.");
    }
    made_.codes = codes_->take();
    pack_zero_points();
    return std::move(made_);
  }

 private:
  Result<void> add(const BlockNumbers& numbers, std::span<const std::uint16_t> codes) {
    const BlockLayout& layout = schema_.runs.front().layout;
    if (numbers.offset != 0) return no_equivalent("Its blocks have offsets.");
    if (!codes_) {
      Result<StandardTable> table = standard_table(layout, numbers.table, options_.float4);
      if (!table) return table.error();
      table_ = std::move(table).value();
      book_.assign(numbers.table.begin(), numbers.table.end());
      made_.type = table_.type;
      codes_.emplace(data_type_bits(table_.type), schema_.elements);
    }
    if (!std::equal(book_.begin(), book_.end(), numbers.table.begin(), numbers.table.end()))
      return no_equivalent("Its blocks have different code books.");
    if (Result<void> scaled = add_scale(numbers.scale); !scaled) return scaled;
    zero_points_.push_back(static_cast<std::int32_t>(numbers.zero_point));
    for (const std::uint16_t code : codes) {
      if (code >= table_.codes.size()) {
        return Error{ErrorCode::kInvalidGraph, "A code is an index out of range of its code book.", "",
                     "Check what wrote the encoded value."};
      }
      codes_->add(table_.codes[code]);
    }
    return {};
  }

  Result<void> add_scale(double scale) {
    const auto single = static_cast<float>(scale);
    if (single == 0.0F || !std::isfinite(single))
      return no_equivalent("It has a scale beyond the range of float32.");
    const double change = std::abs(static_cast<double>(single) - scale) / scale;
    if (change != 0) ++rounded_;
    made_.rounding = std::max(made_.rounding, change);
    made_.scales.push_back(single);
    return {};
  }

  void pack_zero_points() {
    if (std::all_of(zero_points_.begin(), zero_points_.end(), [](std::int32_t zero) { return zero == 0; }))
      return;
    PackedCodes packed(data_type_bits(made_.type), zero_points_.size());
    for (const std::int32_t zero : zero_points_) packed.add(static_cast<std::uint32_t>(zero));
    made_.zero_points = packed.take();
  }

  const CodecSchema& schema_;
  const LinearOptions& options_;
  LinearWeight made_;
  StandardTable table_;
  std::vector<double> book_;  // of the first block
  std::optional<PackedCodes> codes_;
  std::vector<std::int32_t> zero_points_;
  std::uint64_t rounded_ = 0;
};

// Codes of com.microsoft.MatMulNBits, by column.
class MatMulNBitsReader {
 public:
  explicit MatMulNBitsReader(const MatMulNBitsInputs& inputs)
      : inputs_(inputs), layout_(inputs.layout), mask_((1U << inputs.layout.bits) - 1) {}

  [[nodiscard]] std::uint32_t code(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t group = row / layout_.block_size;
    const std::uint64_t bit = row % layout_.block_size * layout_.bits;
    const std::uint64_t byte = (column * layout_.groups() + group) * layout_.group_bytes() + bit / 8;
    return inputs_.weights[static_cast<std::size_t>(byte)] >> (bit % 8) & mask_;
  }
  [[nodiscard]] float scale(std::uint64_t group, std::uint64_t column) const {
    const std::size_t width = data_type_bits(layout_.type) / 8;
    const auto index = static_cast<std::size_t>(column * layout_.groups() + group);
    return static_cast<float>(load_float(layout_.type, inputs_.scales.data() + index * width));
  }
  [[nodiscard]] std::uint32_t zero_point(std::uint64_t group, std::uint64_t column) const {
    if (layout_.zero_points == MatMulNBitsLayout::ZeroPoints::kMidpoint) return 1U << (layout_.bits - 1);
    const std::uint64_t bit = group * layout_.bits;
    const std::uint64_t byte = column * layout_.packed_column_bytes() + bit / 8;
    return inputs_.zero_points[static_cast<std::size_t>(byte)] >> (bit % 8) & mask_;
  }

 private:
  const MatMulNBitsInputs& inputs_;
  const MatMulNBitsLayout& layout_;
  std::uint32_t mask_;
};

}  // namespace

PackedCodes::PackedCodes(std::size_t bits, std::uint64_t count) : bits_(bits) {
  bytes_.reserve(static_cast<std::size_t>(count * bits / 8 + 1));
}

void PackedCodes::add(std::uint32_t code) {
  if (bits_ == 4) {
    if (half_) {
      bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | (code & 0xFU) << 4U);
    } else {
      bytes_.push_back(static_cast<std::uint8_t>(code & 0xFU));
    }
    half_ = !half_;
    return;
  }
  bytes_.push_back(static_cast<std::uint8_t>(code & 0xFFU));
  if (bits_ == 16) bytes_.push_back(static_cast<std::uint8_t>(code >> 8U & 0xFFU));
}

Result<void> for_each_block(const CodecSchema& schema, std::span<const std::uint8_t> payload,
                            const BlockVisit& visit) {
  std::vector<double> table;
  std::vector<std::uint16_t> codes;
  for (const SchemaRun& run : schema.runs) {
    codes.resize(static_cast<std::size_t>(run.sizes.codes));
    for (std::uint64_t block = 0; block < run.blocks; ++block) {
      const std::uint8_t* record = payload.data() + run.first_byte + block * run.sizes.record_bytes;
      const Result<BlockNumbers> numbers = read_record_numbers(run.layout, run.sizes, record, table);
      if (!numbers) return numbers.error();
      const std::uint64_t codes_at = kRecordNumbers + sizeof(double) * run.sizes.table_values;
      if (run.layout.method != CodecMethod::kCast &&
          read_codes(run.layout, record + codes_at, codes) != StreamFault::kNone) {
        return Error{ErrorCode::kInvalidGraph, "The padding behind a block's codes isn't 0.", "",
                     "Check what wrote the encoded value."};
      }
      if (Result<void> visited = visit(numbers.value(), codes); !visited) return visited;
    }
  }
  return {};
}

std::int64_t LinearWeight::opset_needed() const {
  constexpr std::int64_t kBlocks = 21;
  if (type == DataType::kFloat4E2M1) return 23;
  if (grain.block_size != 0) return kBlocks;
  if (type == DataType::kFloat8E4M3FN) return 19;
  return type == DataType::kInt8 || type == DataType::kUint8 ? 13 : kBlocks;
}

Result<LinearWeight> linear_weight(const CodecSchema& schema, const EncodedValue& value,
                                   const LinearOptions& options) {
  Result<StandardGrain> grain = standard_grain(schema, value.logical_type->dims);
  if (!grain) return grain.error();
  return LinearBuilder(std::move(grain).value(), schema, options).build(value.payload->bytes());
}

Result<LinearWeight> linear_weight(const MatMulNBitsInputs& inputs) {
  const MatMulNBitsLayout& layout = inputs.layout;
  if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kSourceType)
    return no_equivalent("Its zero points are no integers.");
  const MatMulNBitsReader reader(inputs);
  LinearWeight made;
  made.type = layout.bits == 8 ? DataType::kUint8 : DataType::kUint4;
  made.grain = {0,
                layout.block_size,
                {static_cast<std::int64_t>(layout.groups()), static_cast<std::int64_t>(layout.n)}};
  PackedCodes codes(data_type_bits(made.type), layout.k * layout.n);
  PackedCodes zero_points(data_type_bits(made.type), layout.groups() * layout.n);
  for (std::uint64_t row = 0; row < layout.k; ++row) {
    for (std::uint64_t column = 0; column < layout.n; ++column) codes.add(reader.code(row, column));
  }
  for (std::uint64_t group = 0; group < layout.groups(); ++group) {
    for (std::uint64_t column = 0; column < layout.n; ++column) {
      made.scales.push_back(reader.scale(group, column));
      zero_points.add(reader.zero_point(group, column));
    }
  }
  made.codes = codes.take();
  made.zero_points = zero_points.take();
  return made;
}

}  // namespace halftone::codec
