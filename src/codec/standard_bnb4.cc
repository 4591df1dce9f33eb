// Inputs of com.microsoft.MatMulBnb4.
#include <algorithm>
#include <bit>
#include <cmath>

#include "codec/standard_form.h"

namespace halftone::codec {

std::vector<double> first_table(const CodecSchema& schema, std::span<const std::uint8_t> payload) {
  std::vector<double> table;
  if (schema.runs.empty()) return table;
  const SchemaRun& run = schema.runs.front();
  if (!read_record_numbers(run.layout, run.sizes, payload.data() + run.first_byte, table)) table.clear();
  return table;
}

// High nibbles come first here, low ones in an encoded value.
Result<Bnb4Weight> bnb4_weight(const CodecSchema& schema, const EncodedValue& value) {
  constexpr std::uint32_t kSmallestBlock = 16;
  if (Result<void> even = check_even_blocks(schema); !even) return even.error();
  const std::uint32_t block = schema.runs.front().layout.count;
  if (schema.blocks > 1 && (!std::has_single_bit(block) || block < kSmallestBlock))
    return no_equivalent("MatMulBnb4 has blocks of a power of two from 16 on, not of " +
                         std::to_string(block) + ".");
  const std::vector<std::int64_t>& dims = value.logical_type->dims;
  Bnb4Weight made{dims[0], dims[1], std::max(std::bit_ceil(block), kSmallestBlock), 0, {}, {}};
  std::vector<double> book;
  PackedCodes codes(4, schema.elements);
  const Result<void> walked =
      for_each_block(schema, value.payload->bytes(),
                     [&](const BlockNumbers& numbers, const auto& block_codes) -> Result<void> {
                       if (book.empty()) book.assign(numbers.table.begin(), numbers.table.end());
                       if (!std::equal(book.begin(), book.end(), numbers.table.begin(), numbers.table.end()))
                         return no_equivalent("Its blocks have different code books.");
                       const auto absmax = static_cast<float>(numbers.scale);
                       if (static_cast<double>(absmax) != numbers.scale)
                         return no_equivalent("It has scales that are no float32 numbers.");
                       made.absmax.push_back(absmax);
                       for (const std::uint16_t code : block_codes) codes.add(code);
                       return {};
                     });
  if (!walked) return walked.error();
  made.quant_type = bnb4_type(schema.runs.front().layout, book).value_or(1);
  made.codes = codes.take();
  for (std::uint8_t& byte : made.codes) byte = std::rotl(byte, 4);
  return made;
}

}  // namespace halftone::codec
