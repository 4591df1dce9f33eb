#include "codec/block_record.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "codec/code_stream.h"
#include "codec/float_elements.h"
#include "codec/nearest_entry.h"
#include "codec/plan_checks.h"
#include "numeric/block_codes.h"

namespace halftone::codec {
namespace {

Error overflow(const std::string& what, std::size_t element) {
  return {ErrorCode::kNonFinite, what + " of a value is an overflow.", "element " + std::to_string(element),
          "Use a larger scale, or let it be computed."};
}

Error damaged_record(std::string what) {
  return {ErrorCode::kInvalidGraph, std::move(what), "",
          "Encode the tensor again; this value was changed or written wrongly."};
}

Result<void> stream_error(StreamFault fault) {
  if (fault == StreamFault::kNone) return {};
  return fault == StreamFault::kPadding
             ? damaged_record("The padding behind the codes of a block isn't zero.")
             : damaged_record("A base-3 byte of a block is more than 242.");
}

}  // namespace

RecordCoder::RecordCoder(const BlockLayout& layout, const BlockSizes& sizes)
    : layout_(layout), sizes_(sizes) {
  if (layout.method != CodecMethod::kCast) codes_.resize(static_cast<std::size_t>(sizes.codes));
}

Result<void> RecordCoder::encode(const BlockNumbers& numbers, std::span<const double> values,
                                 std::uint8_t* record) {
  write_record_numbers(numbers, record);
  std::uint8_t* out = record + kRecordNumbers + numbers.table.size_bytes();
  if (layout_.method == CodecMethod::kCast) return encode_cast(numbers.scale, values, out);
  const bool affine = layout_.method == CodecMethod::kAffine;
  Result<void> encoded = affine ? encode_affine(numbers, values) : encode_codebook(numbers, values);
  if (encoded.ok()) write_codes(layout_, codes_, out);
  return encoded;
}

Result<void> RecordCoder::encode_affine(const BlockNumbers& numbers, std::span<const double> values) {
  const CodeLimits limits = code_limits(layout_);
  const numeric::AffineBlock block{numbers.scale, numbers.zero_point, numbers.offset, limits.low,
                                   limits.high};
  for (std::size_t i = 0; i < values.size(); ++i) {
    codes_[i] = static_cast<std::uint16_t>(numeric::affine_code(values[i], block));
  }
  return {};
}

Result<void> RecordCoder::encode_codebook(const BlockNumbers& numbers, std::span<const double> values) {
  const bool scalar =
      layout_.books == 1 && layout_.vector_size == 1 && layout_.entries <= numeric::kTableEntries;
  if (scalar &&
      !(prepared_ && std::equal(numbers.table.begin(), numbers.table.end(), prepared_from_.begin()))) {
    prepared_from_.assign(numbers.table.begin(), numbers.table.end());
    prepared_ = numeric::make_code_table(prepared_from_);
  }
  for (std::size_t first = 0, vector = 0; first < values.size(); first += layout_.vector_size, ++vector) {
    if (scalar) {
      const std::optional<std::uint8_t> code = numeric::table_code(values[first], numbers.scale, *prepared_);
      if (!code) return overflow("The scaling", first);
      codes_[first] = *code;
      continue;
    }
    const auto part =
        values.subspan(first, std::min<std::size_t>(layout_.vector_size, values.size() - first));
    vector_.assign(part.begin(), part.end());
    if (Result<void> encoded = encode_vector(numbers, vector, first); !encoded.ok()) return encoded;
  }
  return {};
}

// Residuals chain through the books.
Result<void> RecordCoder::encode_vector(const BlockNumbers& numbers, std::size_t vector,
                                        std::size_t first_element) {
  for (std::size_t j = 0; j < vector_.size(); ++j) {
    vector_[j] /= numbers.scale;
    if (!std::isfinite(vector_[j])) return overflow("The scaling", first_element + j);
  }
  const std::size_t book_values = std::size_t{layout_.entries} * layout_.vector_size;
  for (std::size_t book = 0; book < layout_.books; ++book) {
    const double* entries = numbers.table.data() + book * book_values;
    const std::size_t code = nearest_entry(vector_, entries, layout_.entries, layout_.vector_size);
    codes_[vector * layout_.books + book] = static_cast<std::uint16_t>(code);
    for (std::size_t j = 0; j < vector_.size(); ++j) {
      vector_[j] -= entries[code * layout_.vector_size + j];
      if (!std::isfinite(vector_[j])) return overflow("The codebook distance", first_element + j);
    }
  }
  return {};
}

Result<void> RecordCoder::encode_cast(double scale, std::span<const double> values, std::uint8_t* out) const {
  const std::size_t width = data_type_bits(layout_.cast_type) / 8;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double quotient = values[i] / scale;
    if (!std::isfinite(quotient)) return overflow("The scaling", i);
    const double stored = rounded_float(layout_.cast_type, quotient);
    if (!std::isfinite(stored)) return overflow("The cast to " + data_type_name(layout_.cast_type), i);
    store_float(layout_.cast_type, stored, out + i * width);
  }
  return {};
}

Result<void> RecordCoder::decode(const std::uint8_t* record, std::span<double> values) {
  const Result<BlockNumbers> numbers = read_record_numbers(layout_, sizes_, record, table_);
  if (!numbers.ok()) return numbers.error();
  const std::uint8_t* from = record + kRecordNumbers + numbers.value().table.size_bytes();
  if (layout_.method == CodecMethod::kCast) {
    decode_cast(numbers.value().scale, from, values);
    return {};
  }
  if (Result<void> read = stream_error(read_codes(layout_, from, codes_)); !read.ok()) return read;
  return layout_.method == CodecMethod::kAffine ? decode_affine(numbers.value(), values)
                                                : decode_codebook(numbers.value(), values);
}

Result<void> RecordCoder::decode_affine(const BlockNumbers& numbers, std::span<double> values) const {
  const int sign = layout_.signed_codes ? 1 << (layout_.bits - 1) : 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int code = (codes_[i] ^ sign) - sign;
    const double product = (code - numbers.zero_point) * numbers.scale;
    values[i] = product + numbers.offset;
  }
  return {};
}

Result<void> RecordCoder::decode_codebook(const BlockNumbers& numbers, std::span<double> values) const {
  const std::size_t vector_size = layout_.vector_size;
  for (const std::uint16_t code : codes_) {
    if (code >= layout_.entries) {
      return damaged_record("The index " + std::to_string(code) +
                            " of a block is out of range for a codebook of " +
                            std::to_string(layout_.entries) + " entries.");
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t first_code = i / vector_size * layout_.books;
    double sum = 0.0;
    for (std::size_t book = 0; book < layout_.books; ++book) {
      const std::size_t entry = book * layout_.entries + codes_[first_code + book];
      sum += numbers.table[entry * vector_size + i % vector_size];
    }
    values[i] = sum * numbers.scale;
  }
  return {};
}

void RecordCoder::decode_cast(double scale, const std::uint8_t* from, std::span<double> values) const {
  const std::size_t width = data_type_bits(layout_.cast_type) / 8;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = load_float(layout_.cast_type, from + i * width) * scale;
  }
}

void write_record_numbers(const BlockNumbers& numbers, std::uint8_t* record) {
  std::memcpy(record, &numbers.scale, sizeof(double));
  std::memcpy(record + 8, &numbers.zero_point, sizeof(double));
  std::memcpy(record + 16, &numbers.offset, sizeof(double));
  if (!numbers.table.empty())
    std::memcpy(record + kRecordNumbers, numbers.table.data(), numbers.table.size_bytes());
}

Result<BlockNumbers> read_record_numbers(const BlockLayout& layout, const BlockSizes& sizes,
                                         const std::uint8_t* record, std::vector<double>& table) {
  BlockNumbers numbers{
      load_bytes<double>(record), load_bytes<double>(record + 8), load_bytes<double>(record + 16), {}};
  if (Result<void> checked = check_scale(numbers.scale); !checked.ok()) return as_damage(checked.error());
  if (Result<void> checked = check_zero_point(layout, numbers.zero_point); !checked.ok()) {
    return as_damage(checked.error());
  }
  if (Result<void> checked = check_offset(layout, numbers.offset); !checked.ok())
    return as_damage(checked.error());
  const auto values = static_cast<std::size_t>(sizes.table_values);
  if (values == 0) return numbers;
  const std::uint8_t* stored = record + kRecordNumbers;
  if (table.size() != values || std::memcmp(table.data(), stored, values * sizeof(double)) != 0) {
    table.resize(values);
    std::memcpy(table.data(), stored, values * sizeof(double));
    if (Result<void> checked = check_table(table); !checked.ok()) {
      table.clear();
      return as_damage(checked.error());
    }
  }
  numbers.table = table;
  return numbers;
}

Reach code_reach(const BlockLayout& layout, const BlockNumbers& numbers) {
  if (layout.method == CodecMethod::kAffine) {
    const CodeLimits limits = code_limits(layout);
    return {limits.low - numbers.zero_point, limits.high - numbers.zero_point};
  }
  if (numbers.table.empty()) return {};
  const auto [low, high] = std::minmax_element(numbers.table.begin(), numbers.table.end());
  return {*low, *high};
}

double widest_value(const BlockLayout& layout, std::span<const double> table) {
  if (layout.method == CodecMethod::kCast) return std::numeric_limits<double>::infinity();
  if (layout.method == CodecMethod::kAffine) return static_cast<double>(1U << layout.bits);
  double widest = 0.0;
  for (const double entry : table) widest = std::max(widest, std::abs(entry));
  return widest * layout.books;
}

// The margin is wider than all roundings together.
bool surely_finite(double widest, double scale, double offset, DataType type) {
  constexpr double kMargin = 1.0 - 0x1p-8;
  const double bound = widest * scale + std::abs(offset);
  if (type == DataType::kDouble) return bound < std::numeric_limits<double>::max() * kMargin;
  if (type == DataType::kFloat16) return bound < 65504.0 * kMargin;
  return bound < static_cast<double>(std::numeric_limits<float>::max()) * kMargin;
}

double automatic_scale(const BlockLayout& layout, const BlockNumbers& numbers,
                       std::span<const double> values) {
  if (layout.method == CodecMethod::kCast) return 1.0;
  const Reach reach = code_reach(layout, numbers);
  double scale = 0.0;
  for (const double value : values) {
    const double c = value - numbers.offset;
    if (c > 0.0 && reach.high > 0.0) scale = std::max(scale, c / reach.high);
    if (c < 0.0 && reach.low < 0.0) scale = std::max(scale, c / reach.low);
  }
  return scale == 0.0 ? 1.0 : scale;
}

}  // namespace halftone::codec
