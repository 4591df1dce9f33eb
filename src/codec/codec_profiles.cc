#include <array>
#include <cstddef>
#include <string>

#include "codec/codec_tables.h"
#include "halftone/codec_plan.h"

namespace halftone {
namespace {

constexpr std::size_t kProfiles = 43;

BlockLayout integers(std::uint32_t bits, bool is_signed) {
  BlockLayout layout;
  layout.bits = bits;
  layout.signed_codes = is_signed;
  return layout;
}

BlockLayout table(std::uint32_t bits, std::uint32_t entries, bool base3 = false) {
  BlockLayout layout = integers(bits, false);
  layout.method = CodecMethod::kCodebook;
  layout.entries = entries;
  layout.base3 = base3;
  return layout;
}

// Learned tables keep the default of the signed flag: it is part of the descriptor, and means nothing.
BlockLayout learned(std::uint32_t bits, std::uint32_t books, std::uint32_t entries,
                    std::uint32_t vector_size) {
  BlockLayout layout = table(bits, entries);
  layout.signed_codes = true;
  layout.books = books;
  layout.vector_size = vector_size;
  return layout;
}

BlockLayout plain_floats() {
  BlockLayout layout;
  layout.method = CodecMethod::kCast;
  layout.cast_type = DataType::kFloat;
  return layout;
}

struct ProfileRow {
  std::string_view name;
  BlockLayout layout;
  std::span<const double> codebook;
  bool needs_transform = false;
  bool ort = false;
};

ProfileRow row(std::string_view name, const BlockLayout& layout, std::span<const double> codebook = {}) {
  return {name, layout, codebook, false, false};
}

ProfileRow transformed(std::string_view name, const BlockLayout& layout) {
  return {name, layout, {}, true, false};
}

ProfileRow ort_row(std::string_view name, std::uint32_t bits) {
  return {name, integers(bits, false), {}, false, true};
}

std::array<ProfileRow, kProfiles> profile_rows() {
  using codec::binary_table;
  using codec::ternary_table;
  const BlockLayout int8 = integers(8, true);
  const BlockLayout int4 = integers(4, true);
  const BlockLayout uint4 = integers(4, false);
  const BlockLayout trits = table(2, 3, true);
  const BlockLayout e2m1 = table(4, 16);
  const BlockLayout e3m2 = table(6, 64);
  return {row("int8", int8),
          row("int8_per_channel", int8),
          row("int4", int4),
          row("gptq", uint4),
          row("awq", uint4),
          row("eetq", int8),
          row("matmulnbits", uint4),
          row("q2_k", integers(2, true)),
          row("q3_k", integers(3, true)),
          row("q4_k", int4),
          row("q5_k", integers(5, true)),
          row("q6_k", integers(6, true)),
          row("hqq", int4),
          row("exl2", int4),
          row("exl3", int4),
          row("nf4", table(4, 16), codec::nf4_table()),
          row("iq4_nl", table(4, 16), codec::iq4_nl_table()),
          row("binary", table(1, 2), binary_table()),
          row("ternary", trits, ternary_table()),
          row("tq1_0", trits, ternary_table()),
          row("tq2_0", table(2, 3), ternary_table()),
          row("bitnet", trits, ternary_table()),
          row("paretoq", trits, ternary_table()),
          row("tequila", trits, ternary_table()),
          row("stq1_0", learned(5, 1, 32, 4)),
          row("iq1_s", learned(8, 1, 256, 8)),
          row("aqlm", learned(8, 2, 256, 8)),
          transformed("quip_sharp", learned(8, 1, 256, 8)),
          row("spqr", int4),
          row("squeezellm", learned(4, 1, 16, 1)),
          row("log", table(4, 15), codec::log_table()),
          row("fp6_llm", e3m2, codec::e3m2_table()),
          row("fp8_e4m3", table(8, 254), codec::e4m3_table()),
          row("mxfp4", e2m1, codec::e2m1_table()),
          row("mxfp6", e3m2, codec::e3m2_table()),
          row("nvfp4", e2m1, codec::e2m1_table()),
          transformed("quarot", int4),
          transformed("smoothquant", int8),
          row("tiled_float", plain_floats()),
          row("column_major", plain_floats()),
          ort_row("ort_matmulnbits_int2", 2),
          ort_row("ort_matmulnbits_int4", 4),
          ort_row("ort_matmulnbits_int8", 8)};
}

std::array<CodecProfileInfo, kProfiles> make_infos() {
  std::array<CodecProfileInfo, kProfiles> infos{};
  const std::array<ProfileRow, kProfiles> rows = profile_rows();
  for (std::size_t i = 0; i < kProfiles; ++i) {
    const BlockLayout& layout = rows[i].layout;
    const bool midpoint = layout.method == CodecMethod::kAffine && !layout.signed_codes;
    infos[i] = {static_cast<CodecProfile>(i),
                rows[i].name,
                layout,
                midpoint ? static_cast<double>(1U << (layout.bits - 1)) : 0.0,
                layout.method == CodecMethod::kCodebook && rows[i].codebook.empty(),
                rows[i].needs_transform,
                rows[i].ort,
                rows[i].codebook};
  }
  return infos;
}

}  // namespace

std::span<const CodecProfileInfo> codec_profiles() {
  static const std::array<CodecProfileInfo, kProfiles> infos = make_infos();
  return infos;
}

const CodecProfileInfo& codec_profile_info(CodecProfile profile) {
  return codec_profiles()[static_cast<std::size_t>(profile)];
}

Result<CodecProfile> parse_codec_profile(std::string_view name) {
  for (const CodecProfileInfo& info : codec_profiles()) {
    if (info.name == name) return info.profile;
  }
  return Error{ErrorCode::kInvalidPolicy, "Unknown quantization format " + printable(name) + ".", "",
               "Use one of the listed formats, in lower case, such as int4 or nf4."};
}

}  // namespace halftone
