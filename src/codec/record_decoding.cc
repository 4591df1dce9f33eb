#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "codec/block_record.h"
#include "codec/code_stream.h"
#include "codec/float_elements.h"
#include "codec/plan_checks.h"
#include "codec/record_runs.h"

namespace halftone::codec {
namespace {

// Elements that are worked on together, so that they and their records stay in the nearest cache.
constexpr std::uint64_t kGroupElements = 2048;

bool same_words(const void* first, const void* second, std::size_t bytes) {
  const auto* a = static_cast<const std::uint8_t*>(first);
  const auto* b = static_cast<const std::uint8_t*>(second);
  std::uint64_t different = 0;
  for (std::size_t at = 0; at < bytes; at += sizeof(different)) {
    different |= load_bytes<std::uint64_t>(a + at) ^ load_bytes<std::uint64_t>(b + at);
  }
  return different == 0;
}

// The blocks of one run of a schema.
class RunDecoder {
 public:
  RunDecoder(const DecodeJob& job, const SchemaRun& run)
      : job_(job), run_(run), width_(data_type_bits(job.output) / 8), coder_(run.layout, run.sizes) {
    if (run.layout.method == CodecMethod::kAffine) limits_ = code_limits(run.layout);
    checks_codes_ = run.layout.base3 || run.sizes.codes % 8 * run.layout.bits % 8 != 0;
  }

  // `block` is the first's number in the schema.
  Result<void> decode(std::uint64_t block, std::uint64_t blocks, const std::uint8_t* records,
                      std::uint8_t* values) {
    const bool kernels =
        job_.kernels != nullptr && job_.output == DataType::kFloat && kernels_know(run_.layout);
    const std::uint64_t group = std::max<std::uint64_t>(1, kGroupElements / run_.layout.count);
    for (std::uint64_t done = 0; done < blocks; done += group) {
      const std::uint64_t part = std::min(group, blocks - done);
      const std::uint8_t* from = records + done * run_.sizes.record_bytes;
      std::uint8_t* to = values + done * run_.layout.count * width_;
      Result<void> decoded =
          kernels ? decode_group(block + done, part, from, to) : decode_each(block + done, part, from, to);
      if (!decoded.ok()) return decoded;
    }
    return {};
  }

 private:
  Result<void> decode_group(std::uint64_t block, std::uint64_t blocks, const std::uint8_t* records,
                            std::uint8_t* values) {
    const auto stride = static_cast<std::size_t>(run_.sizes.record_bytes);
    const auto count = static_cast<std::size_t>(blocks);
    for (std::size_t i = 0; i < count; ++i) {
      // The definition says what is wrong.
      if (!is_sound(records + i * stride)) return decode_each(block, count, records, values);
    }
    const std::size_t done = run_kernel(count, records, values);
    return done >= count ? Result<void>() : decode_each(block, count, records, values);
  }

  // What kernels ask of a record. Quick: for most blocks this is all that is checked one by one.
  bool is_sound(const std::uint8_t* record) {
    return has_sound_scale(record) && has_sound_shift(record) && has_sound_table(record) &&
           (!checks_codes_ || has_sound_codes(record));
  }

  // Positive and finite: bits of such doubles are above those of 0 and below those of infinity.
  static bool has_sound_scale(const std::uint8_t* record) {
    constexpr std::uint64_t kInfinity = 0x7FF0000000000000U;
    return load_bytes<std::uint64_t>(record) - 1 < kInfinity - 1;
  }

  // Zero point and offset. Like tables they are compared with those before.
  bool has_sound_shift(const std::uint8_t* record) {
    const auto zero_point = load_bytes<double>(record + 8);
    const auto offset = load_bytes<double>(record + 16);
    if (has_shift_ && same_words(shift_.data(), record + 8, sizeof(shift_))) return true;
    const bool affine = run_.layout.method == CodecMethod::kAffine;
    has_shift_ = zero_point >= limits_.low && zero_point <= limits_.high &&
                 zero_point == std::trunc(zero_point) && (affine ? std::isfinite(offset) : offset == 0.0);
    shift_ = {zero_point, offset};
    return has_shift_;
  }

  bool has_sound_codes(const std::uint8_t* record) const {
    const std::uint8_t* codes =
        record + kRecordNumbers + static_cast<std::size_t>(run_.sizes.table_values) * sizeof(double);
    const std::span<const std::uint8_t> bytes(codes, static_cast<std::size_t>(run_.sizes.code_bytes));
    return check_code_bytes(run_.layout, bytes, run_.sizes.codes) == StreamFault::kNone;
  }

  // Tables are compared with the one before: most often they are the same.
  bool has_sound_table(const std::uint8_t* record) {
    const auto values = static_cast<std::size_t>(run_.sizes.table_values);
    const std::uint8_t* stored = record + kRecordNumbers;
    if (values == 0) return true;
    if (table_.size() == values && same_words(table_.data(), stored, values * sizeof(double))) return true;
    table_.resize(values);
    std::memcpy(table_.data(), stored, values * sizeof(double));
    return check_table(table_).ok();
  }

  std::size_t run_kernel(std::size_t blocks, const std::uint8_t* records, std::uint8_t* values) {
    const auto stride = static_cast<std::size_t>(run_.sizes.record_bytes);
    const auto table_bytes = static_cast<std::size_t>(run_.sizes.table_values) * sizeof(double);
    const numeric::BlockRun run{blocks, run_.layout.count, {records, stride}};
    const numeric::PackedBlocks<const std::uint8_t> codes{records + kRecordNumbers + table_bytes, stride};
    if (run_.layout.method == CodecMethod::kAffine) {
      const numeric::AffineCodes affine{
          run_.layout.bits, run_.layout.signed_codes, {records + 8, stride}, {records + 16, stride}};
      return job_.kernels->decode_affine(codes, run, affine, values);
    }
    return job_.kernels->decode_table(codes, run, {records + kRecordNumbers, stride}, run_.layout.entries,
                                      {run_.layout.bits, run_.layout.base3}, values);
  }

  Result<void> decode_each(std::uint64_t block, std::uint64_t blocks, const std::uint8_t* records,
                           std::uint8_t* values) {
    decoded_.resize(run_.layout.count);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      Result<void> decoded = coder_.decode(records + i * run_.sizes.record_bytes, decoded_);
      if (!decoded.ok()) return placed(decoded.error(), block + i);
      Result<void> stored = store(values + i * run_.layout.count * width_);
      if (!stored.ok()) return placed(stored.error(), block + i);
    }
    return {};
  }

  Result<void> store(std::uint8_t* out) const {
    for (std::size_t i = 0; i < decoded_.size(); ++i) {
      const double value = rounded_float(job_.output, decoded_[i]);
      if (!std::isfinite(value)) {
        return Error{ErrorCode::kNonFinite,
                     "A decoded value is nonfinite: the output dtype overflow isn't hidden by infinity in " +
                         data_type_name(job_.output) + ".",
                     "element " + std::to_string(i), "Decode to a wider type."};
      }
      store_float(job_.output, value, out + i * width_);
    }
    return {};
  }

  static Error placed(Error error, std::uint64_t block) {
    const std::string place = "block " + std::to_string(block);
    error.where = error.where.empty() ? place : place + ", " + error.where;
    return error;
  }

  const DecodeJob& job_;
  const SchemaRun& run_;
  std::size_t width_;
  RecordCoder coder_;
  CodeLimits limits_;          // of zero points
  bool checks_codes_ = false;  // where there are bytes or bits that no codes may have
  bool has_shift_ = false;     // of the record before: checked
  std::array<double, 2> shift_{};
  std::vector<double> table_;
  std::vector<double> decoded_;
};

}  // namespace

Result<void> decode_records(const DecodeJob& job, std::uint64_t first_block, std::uint64_t blocks,
                            const std::uint8_t* records, std::uint8_t* values) {
  const std::size_t width = data_type_bits(job.output) / 8;
  for (const SchemaRun& run : job.schema.runs) {
    if (blocks == 0) break;
    const std::uint64_t run_end = run.first_block + run.blocks;
    if (first_block >= run_end) continue;
    const std::uint64_t part = std::min(blocks, run_end - first_block);
    Result<void> decoded = RunDecoder(job, run).decode(first_block, part, records, values);
    if (!decoded.ok()) return decoded;
    records += part * run.sizes.record_bytes;
    values += part * run.layout.count * width;
    first_block += part;
    blocks -= part;
  }
  return {};
}

}  // namespace halftone::codec
