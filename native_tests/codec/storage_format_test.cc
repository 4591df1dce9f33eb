// The list of all formats, and what they say tensors take.
#include "halftone/storage_format.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <vector>

#include "codec/block_cases.h"
#include "halftone/codec.h"
#include "halftone/quantized_tensor.h"

namespace halftone::test {
namespace {

const StorageFormat& named(std::string_view name) {
  const Result<const StorageFormat*> found = find_storage_format(name);
  REQUIRE(found.ok());
  return *found.value();
}

TEST_CASE("Every format has one name, and is found by it", "[codec]") {
  std::set<std::string_view> names;
  std::size_t families[3] = {};
  for (const StorageFormat& format : storage_formats()) {
    CHECK(names.insert(format.name).second);
    CHECK(&named(format.name) == &format);
    CHECK_FALSE(format.source.empty());
    CHECK(format.bits > 0.0);
    CHECK(format.block_size > 0);
    families[static_cast<std::size_t>(format.family)] += 1;
    // Families stand in a row.
    CHECK(&format - storage_formats().data() <
          static_cast<std::ptrdiff_t>(families[0] + families[1] + families[2]));
  }
  CHECK(families[0] == 43);
  CHECK(families[1] == 13);
  CHECK(families[2] == 19);
  CHECK(format_family_name(named("nf4").family) == "onnx-light profile");
  CHECK(format_family_name(named("onnx_int4").family) == "ONNX type");
  CHECK(format_family_name(named("gguf_q4_0").family) == "block layout");
}

TEST_CASE("Formats that aren't there are answered with those that are alike", "[codec]") {
  const Result<const StorageFormat*> unknown = find_storage_format("nf5\n");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::kInvalidPolicy);
  CHECK(unknown.error().message.find('\n') == std::string::npos);
  const Result<const StorageFormat*> near = find_storage_format("gguf_q3_k");
  REQUIRE_FALSE(near.ok());
  CHECK(near.error().next.find("gguf_q4_0") != std::string::npos);
  CHECK_FALSE(find_storage_format("").ok());
  CHECK_FALSE(find_storage_format("onnx_int32").ok());
  CHECK_FALSE(find_storage_format("onnx_float32").ok());
}

TEST_CASE("Formats say their bits, blocks and needs", "[codec]") {
  struct Known {
    std::string_view name;
    double bits;
    std::uint32_t block_size;
    FormatNeeds needs;
  };
  // Bits of GGUF's blocks contain their scales, which are among the codes.
  const Known all[] = {
      {"int8", 8, 128, FormatNeeds::kNothing},       {"nf4", 4, 64, FormatNeeds::kNothing},
      {"ternary", 1.6, 128, FormatNeeds::kNothing},  {"tq2_0", 2, 128, FormatNeeds::kNothing},
      {"onnx_uint2", 2, 128, FormatNeeds::kNothing}, {"onnx_float8e5m2", 8, 128, FormatNeeds::kNothing},
      {"gguf_q4_0", 4.5, 32, FormatNeeds::kNothing}, {"gguf_q6_k", 6.5625, 256, FormatNeeds::kNothing}};
  for (const Known& known : all) {
    INFO(known.name);
    const StorageFormat& format = named(known.name);
    CHECK(format.bits == known.bits);
    CHECK(format.block_size == known.block_size);
    CHECK(format.needs == known.needs);
  }
  std::size_t needs[4] = {};
  for (const StorageFormat& format : storage_formats()) needs[static_cast<std::size_t>(format.needs)] += 1;
  CHECK(needs[static_cast<std::size_t>(FormatNeeds::kMatrix)] == 3);
  CHECK(needs[static_cast<std::size_t>(FormatNeeds::kCodebook)] > 0);
  CHECK(needs[static_cast<std::size_t>(FormatNeeds::kTransform)] > 0);
}

ErrorCode refused_block_size(std::string_view name, std::uint64_t wanted) {
  const Result<std::uint32_t> size = storage_block_size(named(name), wanted);
  REQUIRE_FALSE(size.ok());
  return size.error().code;
}

TEST_CASE("Blocks are of the size that is asked for, where a format can", "[codec]") {
  for (const StorageFormat& format : storage_formats()) {
    INFO(format.name);
    REQUIRE(storage_block_size(format, 0).ok());
    CHECK(storage_block_size(format, 0).value() == format.block_size);
    CHECK(storage_block_size(format, format.block_size).value() == format.block_size);
    if (format.family == FormatFamily::kBlockLayout) {
      CHECK(storage_block_size(format, 512).ok() == format.any_block_size);
      CHECK_FALSE(storage_block_size(format, 100).ok());
      CHECK_FALSE(storage_block_size(format, std::uint64_t{1} << 33U).ok());
    } else if (format.needs == FormatNeeds::kMatrix) {
      CHECK(storage_block_size(format, 64).value() == 64);
      CHECK_FALSE(storage_block_size(format, 100).ok());
      CHECK_FALSE(storage_block_size(format, 8).ok());
    } else {
      CHECK(storage_block_size(format, 100).value() == 100);
    }
  }
  CHECK(refused_block_size("int8", std::uint64_t{1} << 32U) == ErrorCode::kInvalidPolicy);
  CHECK(refused_block_size("gguf_q4_0", 64) == ErrorCode::kInvalidPolicy);
  // An error names the size that was asked for.
  const Result<std::uint32_t> large = storage_block_size(named("bnb_nf4"), 4294967295U);
  REQUIRE_FALSE(large.ok());
  CHECK(large.error().message.find("4294967295") != std::string::npos);
}

// What is written, by those who write it.
std::uint64_t written_bytes(const StorageFormat& format, std::uint32_t block_size, std::size_t count) {
  if (const auto* profile = std::get_if<CodecProfile>(&format.format)) {
    const Result<CodecPlan> plan = make_codec_plan(*profile, count, block_size);
    REQUIRE(plan.ok());
    const Result<CodecSchema> schema = make_codec_schema(plan.value());
    REQUIRE(schema.ok());
    return block_range(schema.value(), 0, schema.value().blocks).value().bytes;
  }
  const std::vector<float> x(count, -0.5F);  // zero points aren't 0
  if (const auto* number = std::get_if<NumberFormat>(&format.format)) {
    const bool asymmetric =
        number_format_info(*number).kind == FormatKind::kInteger && number_format_info(*number).lowest == 0;
    const TensorGrain grain = {.format = *number,
                               .axis = 0,
                               .block_size = block_size,
                               .symmetry = asymmetric ? Symmetry::kAsymmetric : Symmetry::kSymmetric};
    const std::int64_t dims[] = {static_cast<std::int64_t>(count)};
    const Result<QuantizedTensor> tensor = quantize_tensor(std::span<const float>(x), dims, grain);
    REQUIRE(tensor.ok());
    return tensor.value().byte_count();
  }
  const auto layout = std::get<BlockFormat>(format.format);
  const StoredBlocks blocks = encoded({.format = layout, .block_size = block_size}, x);
  return blocks.codes.size() + blocks.scales.size() + (layout == BlockFormat::kNvfp4 ? sizeof(float) : 0);
}

TEST_CASE("Bytes of a tensor are those that are written", "[codec]") {
  for (const StorageFormat& format : storage_formats()) {
    if (format.needs != FormatNeeds::kNothing) continue;
    for (const std::uint32_t block_size : {format.block_size, std::uint32_t{512}, std::uint32_t{30}}) {
      if (!storage_block_size(format, block_size).ok()) continue;
      for (const std::uint64_t count :
           {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{block_size}, block_size + std::uint64_t{1},
            3 * std::uint64_t{block_size}, 3 * std::uint64_t{block_size} + 17}) {
        INFO(format.name << ", " << count << " in blocks of " << block_size);
        const Result<std::uint64_t> bytes = stored_bytes(format, block_size, count);
        if (format.whole_blocks && count % block_size != 0) {
          REQUIRE_FALSE(bytes.ok());
          CHECK(bytes.error().code == ErrorCode::kShapeMismatch);
          continue;
        }
        REQUIRE(bytes.ok());
        CHECK(bytes.value() == written_bytes(format, block_size, static_cast<std::size_t>(count)));
      }
    }
    CHECK(stored_bytes(format, format.block_size, 0).value() == 0);
  }
}

TEST_CASE("Bytes of what can't be stored are an error", "[codec]") {
  const auto code = [](std::string_view name, std::uint32_t block_size, std::uint64_t count) {
    const Result<std::uint64_t> bytes = stored_bytes(named(name), block_size, count);
    REQUIRE_FALSE(bytes.ok());
    return bytes.error().code;
  };
  CHECK(code("int8", 0, 10) == ErrorCode::kInvalidPolicy);
  CHECK(code("int8", 128, (std::uint64_t{1} << 60U) + 1) == ErrorCode::kTooLarge);
  CHECK(code("fp8_e4m3", 1, std::uint64_t{1} << 60U) == ErrorCode::kTooLarge);
  const auto matrix =
      std::find_if(storage_formats().begin(), storage_formats().end(),
                   [](const StorageFormat& format) { return format.needs == FormatNeeds::kMatrix; });
  REQUIRE(matrix != storage_formats().end());
  CHECK(code(matrix->name, matrix->block_size, 1024) == ErrorCode::kInvalidPolicy);
}

}  // namespace
}  // namespace halftone::test
