#include "halftone/codec_plan.h"

#include <limits>
#include <string>
#include <utility>

#include "codec/checked_size.h"

namespace halftone {
namespace {

Error bad_layout(std::string what, std::string next) {
  return {ErrorCode::kInvalidPolicy, std::move(what), "", std::move(next)};
}

bool is_plain_float(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

Result<void> check_codebook_layout(const BlockLayout& layout) {
  if (layout.books == 0 || layout.entries == 0 || layout.vector_size == 0) {
    return bad_layout("A codebook needs at least one book, one entry and vectors of one component.",
                      "Set books, entries and vector_size.");
  }
  if (layout.entries > 1U << layout.bits) {
    return bad_layout("A codebook of " + std::to_string(layout.entries) + " entries has more than " +
                          std::to_string(layout.bits) + " bits can name.",
                      "Use more bits or fewer entries.");
  }
  return {};
}

Result<void> check_numbers(const BlockLayout& layout) {
  if (layout.count == 0) {
    return bad_layout("A run needs nonempty blocks; its blocks have 0 elements.",
                      "Use blocks of 1 element or more.");
  }
  if (static_cast<std::uint32_t>(layout.method) > static_cast<std::uint32_t>(CodecMethod::kCast)) {
    return bad_layout("There is no quantization method " +
                          std::to_string(static_cast<std::uint32_t>(layout.method)) +
                          ": it is an unknown quantization method.",
                      "Use 0 (integers), 1 (codebook) or 2 (plain floats).");
  }
  if (layout.bits == 0 || layout.bits > 16) {
    return bad_layout("The index width of codes is " + std::to_string(layout.bits) + " bits.",
                      "Use an index width from 1 to 16 bits.");
  }
  if (!is_plain_float(layout.cast_type)) {
    return bad_layout("The cast_type is " + data_type_name(layout.cast_type) + ".",
                      "Use FLOAT, DOUBLE, FLOAT16 or BFLOAT16 as cast_type, also where nothing is cast.");
  }
  const bool three = layout.method == CodecMethod::kCodebook && layout.entries == 3 && layout.books == 1 &&
                     layout.vector_size == 1;
  if (layout.base3 && !three) {
    return bad_layout("The base-3 packing needs one codebook of 3 entries with vectors of one component.",
                      "Turn base3 off, or use a ternary codebook.");
  }
  return {};
}

std::uint64_t ceil_div(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + static_cast<std::uint64_t>(value % divisor != 0);
}

codec::CheckedSize code_bytes(const BlockLayout& layout, std::uint64_t codes) {
  if (layout.method == CodecMethod::kCast)
    return codec::CheckedSize(codes) * (data_type_bits(layout.cast_type) / 8);
  if (layout.base3) return codec::CheckedSize(ceil_div(codes, 5));
  return codec::CheckedSize(codes / 8) * layout.bits + ceil_div(codes % 8 * layout.bits, 8);
}

CodecRun default_run(const CodecProfileInfo& info, std::uint32_t count, std::uint64_t blocks) {
  CodecRun run;
  run.layout = info.layout;
  run.layout.count = count;
  run.blocks = blocks;
  run.zero_points = {info.zero_point};
  run.codebooks.assign(info.codebook.begin(), info.codebook.end());
  return run;
}

}  // namespace

Result<BlockSizes> check_block_layout(const BlockLayout& layout) {
  if (Result<void> checked = check_numbers(layout); !checked.ok()) return checked.error();
  BlockSizes sizes;
  codec::CheckedSize codes(layout.count);
  codec::CheckedSize table(0);
  if (layout.method == CodecMethod::kCodebook) {
    if (Result<void> checked = check_codebook_layout(layout); !checked.ok()) return checked.error();
    codes = codec::CheckedSize(ceil_div(layout.count, layout.vector_size)) * layout.books;
    table = codec::CheckedSize(layout.books) * layout.entries * layout.vector_size;
  }
  const codec::CheckedSize bytes = codes.fits() ? code_bytes(layout, codes.value()) : codes;
  const codec::CheckedSize record = table * 8 + 24 + bytes;
  // A block is worked on as a whole: its values in float64, its codes in 16 bits.
  const bool workable = record.fits() && codec::fits_memory(record.value()) &&
                        codec::fits_memory(codes.value() * 2) &&
                        codec::fits_memory(std::uint64_t{layout.count} * 8);
  if (!workable) {
    return Error{ErrorCode::kTooLarge, "A block of this layout is larger than memory can be.", "",
                 "Use smaller blocks or a smaller codebook."};
  }
  sizes.codes = codes.value();
  sizes.code_bytes = bytes.value();
  sizes.table_values = table.value();
  sizes.record_bytes = record.value();
  return sizes;
}

CodeLimits code_limits(const BlockLayout& layout) {
  const double range = static_cast<double>(1U << layout.bits);
  const double low = layout.signed_codes ? -range / 2 : 0.0;
  return {low, low + range - 1};
}

double bits_per_weight(const BlockLayout& layout) {
  const Result<BlockSizes> sizes = check_block_layout(layout);
  return sizes.ok() ? 8.0 * static_cast<double>(sizes.value().record_bytes) / layout.count
                    : std::numeric_limits<double>::quiet_NaN();
}

Result<CodecPlan> make_codec_plan(CodecProfile profile, std::uint64_t count, std::uint64_t block_size) {
  const CodecProfileInfo& info = codec_profile_info(profile);
  if (info.ort) {
    return bad_layout(
        "Format " + std::string(info.name) + " is made for matrices of MatMulNBits, not for blocks.",
        "Make a plan for MatMulNBits, with the matrix's shape.");
  }
  if (block_size == 0 || block_size > std::numeric_limits<std::uint32_t>::max()) {
    return bad_layout("A block size of " + std::to_string(block_size) + " isn't possible.",
                      "Use a block size from 1 to 4294967295.");
  }
  CodecPlan plan;
  plan.profile = profile;
  const std::uint64_t whole = count / block_size;
  const std::uint64_t rest = count % block_size;
  if (whole > 0) plan.runs.push_back(default_run(info, static_cast<std::uint32_t>(block_size), whole));
  if (rest > 0) plan.runs.push_back(default_run(info, static_cast<std::uint32_t>(rest), 1));
  return plan;
}

}  // namespace halftone
