#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "codec/block_record.h"
#include "codec/float_elements.h"
#include "codec/record_runs.h"

namespace halftone::codec {
namespace {

// Elements that are worked on together, so that they and their records stay in the nearest cache.
constexpr std::uint64_t kGroupElements = 2048;

double number_of(const std::vector<double>& numbers, std::uint64_t block) {
  return numbers.size() == 1 ? numbers[0] : numbers[static_cast<std::size_t>(block)];
}

numeric::BlockDoubles doubles_of(const std::vector<double>& numbers, std::uint64_t block) {
  const std::size_t stride = numbers.size() == 1 ? 0 : sizeof(double);
  return {reinterpret_cast<const std::uint8_t*>(numbers.data()) + stride * static_cast<std::size_t>(block),
          stride};
}

// The blocks of one run of a plan.
class RunEncoder {
 public:
  RunEncoder(const EncodeJob& job, const CodecRun& run, const BlockSizes& sizes, std::uint64_t first_block)
      : job_(job), run_(run), sizes_(sizes), first_block_(first_block), coder_(run.layout, sizes) {}

  // `block` is the first's index within the run.
  Result<void> encode(std::uint64_t block, std::uint64_t blocks, const std::uint8_t* source,
                      std::uint8_t* records) {
    if (!use_kernels()) return encode_each(block, blocks, source, records);
    prepare_table(block);
    // Where blocks have tables of their own, a call does one.
    const std::uint64_t group =
        shared_table() ? std::max<std::uint64_t>(1, kGroupElements / run_.layout.count) : 1;
    const std::uint64_t group_bytes = run_.layout.count * sizeof(float);
    for (std::uint64_t done = 0; done < blocks; done += group) {
      Result<void> encoded = encode_group(block + done, std::min(group, blocks - done),
                                          source + done * group_bytes, records + done * sizes_.record_bytes);
      if (!encoded.ok()) return encoded;
    }
    return {};
  }

 private:
  [[nodiscard]] bool shared_table() const { return run_.codebooks.size() == sizes_.table_values; }

  [[nodiscard]] bool use_kernels() const {
    return job_.kernels != nullptr && job_.source == DataType::kFloat && kernels_know(run_.layout);
  }

  void prepare_table(std::uint64_t block) {
    const BlockNumbers numbers = numbers_of(block);
    template_.resize(kRecordNumbers + numbers.table.size_bytes());
    write_record_numbers(numbers, template_.data());
    widest_ = widest_value(run_.layout, numbers.table);
    if (numbers.table.empty()) return;
    table_ = numeric::make_code_table(numbers.table);
  }

  [[nodiscard]] BlockNumbers numbers_of(std::uint64_t block) const {
    const auto values = static_cast<std::size_t>(sizes_.table_values);
    const std::size_t first = shared_table() ? 0 : values * static_cast<std::size_t>(block);
    return {number_of(run_.scales, block), number_of(run_.zero_points, block), number_of(run_.offsets, block),
            std::span<const double>(run_.codebooks).subspan(first, values)};
  }

  // Numbers that blocks don't share, in place of what is in the template.
  void write_own_numbers(std::uint64_t block, std::size_t blocks, std::uint8_t* records) const {
    const auto stride = static_cast<std::size_t>(sizes_.record_bytes);
    const std::array<const std::vector<double>*, 3> numbers{&run_.scales, &run_.zero_points, &run_.offsets};
    for (std::size_t which = job_.automatic_scales ? 1 : 0; which < numbers.size(); ++which) {
      if (numbers[which]->size() == 1) continue;
      const double* own = numbers[which]->data() + block;
      for (std::size_t i = 0; i < blocks; ++i) {
        std::memcpy(records + i * stride + which * sizeof(double), own + i, sizeof(double));
      }
    }
  }

  // Where a kernel stops, the definition says why; blocks behind it are the definition's, too.
  Result<void> encode_group(std::uint64_t block, std::uint64_t blocks, const std::uint8_t* source,
                            std::uint8_t* records) {
    const auto count = static_cast<std::size_t>(blocks);
    if (!shared_table()) prepare_table(block);
    const std::size_t done = run_kernel(block, count, source, records);
    write_own_numbers(block, count, records);
    const double largest = done < count ? 0.0 : largest_scale(count, records);
    if (done < count || !std::isfinite(largest)) return encode_each(block, count, source, records);
    const bool one_offset = run_.offsets.size() == 1;
    if (one_offset && surely_finite(widest_, largest, run_.offsets[0], job_.source)) return {};
    return check_values(block, count, source, records);
  }

  // NaN and infinity are larger than all others: a scale that isn't finite shows.
  [[nodiscard]] double largest_scale(std::size_t blocks, const std::uint8_t* records) const {
    const auto stride = static_cast<std::size_t>(sizes_.record_bytes);
    std::uint64_t largest = 0;  // of positive doubles, bits have their order
    for (std::size_t i = 0; i < blocks; ++i) {
      largest = std::max(largest, load_bytes<std::uint64_t>(records + i * stride));
    }
    return std::bit_cast<double>(largest);
  }

  std::size_t run_kernel(std::uint64_t block, std::size_t blocks, const std::uint8_t* source,
                         std::uint8_t* records) const {
    const auto stride = static_cast<std::size_t>(sizes_.record_bytes);
    const numeric::AutomaticScales automatic{job_.automatic_scales ? records : nullptr, stride};
    const numeric::BlockRun run{
        blocks, run_.layout.count, doubles_of(run_.scales, block), {template_.data(), template_.size()}};
    const numeric::PackedBlocks<std::uint8_t> codes{records + template_.size(), stride};
    if (run_.layout.method == CodecMethod::kAffine) {
      const numeric::AffineCodes affine{run_.layout.bits, run_.layout.signed_codes,
                                        doubles_of(run_.zero_points, block), doubles_of(run_.offsets, block)};
      return job_.kernels->encode_affine(source, run, affine, automatic, codes);
    }
    return job_.kernels->encode_table(source, run, *table_, automatic, {run_.layout.bits, run_.layout.base3},
                                      codes);
  }

  // Blocks whose values may leave the source's type are done again, value by value.
  Result<void> check_values(std::uint64_t block, std::size_t blocks, const std::uint8_t* source,
                            std::uint8_t* records) {
    if (!job_.check_values) return {};
    const auto stride = static_cast<std::size_t>(sizes_.record_bytes);
    for (std::size_t i = 0; i < blocks; ++i) {
      const auto scale = load_bytes<double>(records + i * stride);
      if (surely_finite(widest_, scale, number_of(run_.offsets, block + i), job_.source)) continue;
      Result<void> encoded =
          encode_each(block + i, 1, source + i * run_.layout.count * sizeof(float), records + i * stride);
      if (!encoded.ok()) return encoded;
    }
    return {};
  }

  Result<void> encode_each(std::uint64_t block, std::uint64_t blocks, const std::uint8_t* source,
                           std::uint8_t* records) {
    const std::size_t width = data_type_bits(job_.source) / 8;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      Result<void> encoded =
          encode_one(block + i, source + i * run_.layout.count * width, records + i * sizes_.record_bytes);
      if (encoded.ok()) continue;
      Error error = encoded.error();
      const std::string place = "block " + std::to_string(first_block_ + block + i);
      error.where = error.where.empty() ? place : place + ", " + error.where;
      return error;
    }
    return {};
  }

  Result<void> encode_one(std::uint64_t block, const std::uint8_t* source, std::uint8_t* record) {
    const std::size_t width = data_type_bits(job_.source) / 8;
    values_.resize(run_.layout.count);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = load_float(job_.source, source + i * width);
      if (std::isfinite(values_[i])) continue;
      return Error{ErrorCode::kNonFinite,
                   "All values must be finite to be encoded; one is infinite or no number.",
                   "element " + std::to_string(i), "Replace NaN and infinity first."};
    }
    BlockNumbers numbers = numbers_of(block);
    if (job_.automatic_scales) numbers.scale = automatic_scale(run_.layout, numbers, values_);
    if (!std::isfinite(numbers.scale)) {
      return Error{ErrorCode::kNonFinite,
                   "The computed scale of a block must be finite and positive; it is an overflow.", "",
                   "Use a codebook with larger entries."};
    }
    if (Result<void> encoded = coder_.encode(numbers, values_, record); !encoded.ok()) return encoded;
    const double widest = widest_value(run_.layout, numbers.table);
    if (!job_.check_values || surely_finite(widest, numbers.scale, numbers.offset, job_.source)) return {};
    return check_decoded(record);
  }

  Result<void> check_decoded(const std::uint8_t* record) {
    if (Result<void> decoded = coder_.decode(record, values_); !decoded.ok()) return decoded;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (std::isfinite(rounded_float(job_.source, values_[i]))) continue;
      return Error{ErrorCode::kNonFinite,
                   "A value would be reconstructed as nonfinite: its code stands for more than " +
                       data_type_name(job_.source) + " holds.",
                   "element " + std::to_string(i), "Use a smaller scale."};
    }
    return {};
  }

  const EncodeJob& job_;
  const CodecRun& run_;
  BlockSizes sizes_;
  std::uint64_t first_block_;
  RecordCoder coder_;
  std::vector<double> values_;
  // Of the run, or of the block that is done, if each has its own table.
  std::optional<numeric::CodeTable> table_;
  double widest_ = 0.0;
  std::vector<std::uint8_t> template_;
};

}  // namespace

bool kernels_know(const BlockLayout& layout) {
  if (layout.bits > 8) return false;
  if (layout.method == CodecMethod::kAffine) return true;
  return layout.method == CodecMethod::kCodebook && layout.books == 1 && layout.vector_size == 1;
}

const numeric::BlockKernelSet& default_kernels() { return numeric::simd_block_kernels(); }

Result<void> encode_records(const EncodeJob& job, std::uint64_t first_block, std::uint64_t blocks,
                            const std::uint8_t* source, std::uint8_t* records) {
  const std::size_t width = data_type_bits(job.source) / 8;
  std::uint64_t run_first = 0;
  for (const CodecRun& run : job.plan.runs) {
    if (blocks == 0) break;
    const std::uint64_t run_end = run_first + run.blocks;
    if (first_block < run_end) {
      const Result<BlockSizes> sizes = check_block_layout(run.layout);
      if (!sizes.ok()) return sizes.error();
      const std::uint64_t part = std::min(blocks, run_end - first_block);
      RunEncoder encoder(job, run, sizes.value(), run_first);
      Result<void> encoded = encoder.encode(first_block - run_first, part, source, records);
      if (!encoded.ok()) return encoded;
      source += part * run.layout.count * width;
      records += part * sizes.value().record_bytes;
      first_block += part;
      blocks -= part;
    }
    run_first = run_end;
  }
  return {};
}

}  // namespace halftone::codec
