// What formats do to values: figures by hand, and independent of how values come.
#include "halftone/format_trial.h"

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "codec/block_cases.h"
#include "halftone/codec.h"

namespace halftone::test {
namespace {

const StorageFormat& named(std::string_view name) {
  const Result<const StorageFormat*> found = find_storage_format(name);
  REQUIRE(found.ok());
  return *found.value();
}

float largest_of(const std::vector<float>& values) {
  float largest = 0.0F;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

FormatTrial opened(const StorageFormat& format, std::uint32_t block_size, const std::vector<float>& values) {
  Result<FormatTrial> trial = FormatTrial::open(format, block_size, values.size(), largest_of(values));
  REQUIRE(trial.ok());
  return std::move(trial).value();
}

// In pieces of `piece` values.
TrialFigures tried(const StorageFormat& format, std::uint32_t block_size, const std::vector<float>& values,
                   std::size_t piece) {
  FormatTrial trial = opened(format, block_size, values);
  for (std::size_t at = 0; at < values.size(); at += piece) {
    const std::size_t some = std::min(piece, values.size() - at);
    REQUIRE(trial.add(std::span<const float>(values).subspan(at, some)).ok());
  }
  Result<TrialFigures> figures = trial.figures();
  REQUIRE(figures.ok());
  return std::move(figures).value();
}

template <typename Counts>
std::uint64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

TEST_CASE("Figures of four values in int4", "[codec]") {
  const TrialFigures figures = tried(named("int4"), 4, {7.0F, -8.0F, 3.25F, 0.0F}, 4);
  CHECK(figures.count == 4);
  CHECK(figures.bytes == 26);  // three doubles and two bytes of codes
  CHECK(figures.bits_per_weight == 52.0);
  CHECK(figures.sums.max_abs_error == 0.25);
  CHECK(figures.sums.error_squares == 0.0625);
  CHECK(figures.rms_error == 0.125);
  CHECK(figures.error_limit == 0.5);
  CHECK(figures.errors[16] == 1);  // 3 less 3.25
  CHECK(figures.errors[32] == 3);
  CHECK(sum(figures.errors) == 4);
  REQUIRE(figures.levels.size() == 16);
  CHECK(figures.levels.front() == -8.0);
  CHECK(figures.levels.back() == 7.0);
  for (const std::size_t level : {0U, 8U, 11U, 15U}) CHECK(figures.level_counts[level] == 1);
  CHECK(figures.low == -8.75);
  CHECK(figures.high == 7.75);
  // Bins are 16.5 / 128 wide.
  CHECK(figures.values[5] == 1);
  CHECK(figures.values[67] == 1);
  CHECK(figures.values[93] == 1);
  CHECK(figures.values[122] == 1);
  CHECK(figures.below + figures.above == 0);
}

TEST_CASE("Codes of an ONNX type are levels with their zero point", "[codec]") {
  // Scale 1 and zero point 5.
  const TrialFigures figures = tried(named("onnx_uint4"), 4, {-5.0F, 10.0F, 0.0F, 2.0F}, 4);
  REQUIRE(figures.levels.size() == 16);
  CHECK(figures.levels.front() == 0.0);
  for (const std::size_t level : {0U, 5U, 7U, 15U}) CHECK(figures.level_counts[level] == 1);
  CHECK(figures.bytes == 2 + 4 + 1);
  CHECK(figures.error_limit == 0.0);
  CHECK(sum(figures.errors) == 0);
}

TEST_CASE("Levels of nf4 are counted as its codes are", "[codec]") {
  std::mt19937 random(Catch::getSeed());
  INFO("seed " << Catch::getSeed());
  const std::vector<float> values = normal_values(random, 64 * 300);
  const TrialFigures figures = tried(named("nf4"), 64, values, values.size());
  const auto plan = make_codec_plan(CodecProfile::kNf4, values.size(), 64);
  REQUIRE(plan.ok());
  const auto encoder =
      BlockEncoder::open(plan.value(), DataType::kFloat, {static_cast<std::int64_t>(values.size())},
                         BlockEncoder::Scales::kAutomatic);
  REQUIRE(encoder.ok());
  constexpr std::size_t kHead = 24 + 16 * sizeof(double);
  std::vector<std::uint8_t> records(300 * (kHead + 32));
  REQUIRE(encoder.value()
              .encode(0, 300,
                      {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(float)},
                      records)
              .ok());
  std::vector<std::uint64_t> codes(16);
  for (std::size_t block = 0; block < 300; ++block) {
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint8_t byte = records[block * (kHead + 32) + kHead + i];
      codes[byte & 0xFU] += 1;
      codes[byte >> 4U] += 1;
    }
  }
  CHECK(figures.level_counts == codes);
}

TEST_CASE("A layout is tried with its own bytes", "[codec]") {
  std::mt19937 random(Catch::getSeed());
  INFO("seed " << Catch::getSeed());
  const std::vector<float> values = normal_values(random, 4096);
  for (const StorageFormat& format : storage_formats()) {
    const auto* layout = std::get_if<BlockFormat>(&format.format);
    if (layout == nullptr) continue;
    INFO(format.name);
    BlockCoding coding{.format = *layout, .block_size = format.block_size};
    CHECK(FormatTrial::needs_largest(format) == (*layout == BlockFormat::kNvfp4));
    if (FormatTrial::needs_largest(format)) coding.tensor_scale = nvfp4_tensor_scale(largest_of(values));
    const std::vector<float> back = decoded(coding, encoded(coding, values), values.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(back[i]) - static_cast<double>(values[i])));
    }
    const TrialFigures figures = tried(format, format.block_size, values, values.size());
    CHECK(figures.sums.max_abs_error == largest);
    CHECK(sum(figures.level_counts) == values.size());
    CHECK(figures.error_limit > largest);
    CHECK(figures.error_limit <= 2.0 * largest);
  }
}

TEST_CASE("Figures don't depend on how values were cut", "[codec]") {
  std::mt19937 random(Catch::getSeed());
  INFO("seed " << Catch::getSeed());
  const std::vector<float> values = normal_values(random, 3 * 16384 + 4096);
  for (const StorageFormat& format : storage_formats()) {
    if (format.needs != FormatNeeds::kNothing) continue;
    INFO(format.name);
    const TrialFigures whole = tried(format, format.block_size, values, values.size());
    CHECK(sum(whole.errors) == (whole.error_limit == 0.0 ? 0 : values.size()));
    if (!whole.levels.empty()) {
      CHECK(std::is_sorted(whole.levels.begin(), whole.levels.end()));
      CHECK(sum(whole.level_counts) == values.size());
      CHECK(sum(whole.values) + whole.below + whole.above == values.size());
    }
    const TrialFigures cut = tried(format, format.block_size, values, 5000 + random() % 100);
    CHECK(cut.bytes == whole.bytes);
    CHECK(cut.rms_error == whole.rms_error);
    CHECK(cut.sums.products == whole.sums.products);
    CHECK(cut.sums.max_abs_error == whole.sums.max_abs_error);
    CHECK(cut.error_limit == whole.error_limit);
    CHECK(cut.errors == whole.errors);
    CHECK(cut.level_counts == whole.level_counts);
    CHECK(cut.values == whole.values);
    CHECK(cut.below == whole.below);
    CHECK(cut.above == whole.above);
  }
}

// Errors that grow from piece to piece: the limit doubles, and counts move with it.
TEST_CASE("Errors are counted as if the largest had been known", "[codec]") {
  std::vector<float> values;
  for (const float scale : {0.0F, 0x1p-10F, 1.0F, 0x1p9F}) {
    for (int block = 0; block < 128; ++block) {
      const float block_values[] = {127.0F, -128.0F, 0.25F, -0.25F};
      for (int i = 0; i < 128; ++i) values.push_back(scale * block_values[i % 4]);
    }
  }
  const TrialFigures figures = tried(named("int8"), 128, values, values.size());
  CHECK(figures.sums.max_abs_error == 128.0);
  CHECK(figures.error_limit == 256.0);
  // Bins are 8 wide: only the last piece's errors of 128 leave the two in the middle, the others are 0 or
  // less than 8. Those below 0 are half of what isn't 0 in the second and the third piece.
  CHECK(figures.errors[16] == 4096);
  CHECK(figures.errors[48] == 4096);
  CHECK(figures.errors[31] == 2 * 4096);
  CHECK(figures.errors[32] == values.size() - 4 * 4096);
}

TEST_CASE("A trial asks for as many values as it was opened for", "[codec]") {
  const std::vector<float> values(10, 1.0F);
  FormatTrial trial = opened(named("int8"), 4, values);
  REQUIRE(trial.add(std::span<const float>(values).first(7)).ok());
  const Result<TrialFigures> early = trial.figures();
  REQUIRE_FALSE(early.ok());
  CHECK(early.error().code == ErrorCode::kShapeMismatch);
  const Result<void> more = trial.add(std::span<const float>(values).first(4));
  REQUIRE_FALSE(more.ok());
  CHECK(more.error().code == ErrorCode::kShapeMismatch);
  REQUIRE(trial.add(std::span<const float>(values).first(3)).ok());
  CHECK(trial.figures().ok());
  const TrialFigures none = tried(named("nf4"), 64, {}, 1);
  CHECK(none.bytes == 0);
  CHECK(none.bits_per_weight == 0.0);
  CHECK(none.rms_error == 0.0);
}

TEST_CASE("Values that no format holds are named by their place", "[codec]") {
  std::vector<float> values(40000, 1.0F);
  values[35210] = std::numeric_limits<float>::infinity();
  // Profiles number blocks of 128, and elements within them; types of ONNX scales, of 128 each.
  const std::pair<std::string_view, std::string_view> places[] = {
      {"int8", "block 275, element 10"}, {"onnx_int8", "scale 275"}, {"gguf_q8_0", "element 35210"}};
  for (const auto& [name, place] : places) {
    INFO(name);
    const StorageFormat& format = named(name);
    Result<FormatTrial> trial = FormatTrial::open(format, format.block_size, values.size(), 1.0F);
    REQUIRE(trial.ok());
    const Result<void> added = trial.value().add(std::span<const float>(values));
    REQUIRE_FALSE(added.ok());
    CHECK(added.error().code == ErrorCode::kNonFinite);
    CHECK(added.error().where == place);
  }
}

TEST_CASE("Formats that need more than values aren't tried", "[codec]") {
  for (const StorageFormat& format : storage_formats()) {
    if (format.needs == FormatNeeds::kNothing) continue;
    INFO(format.name);
    const Result<FormatTrial> trial = FormatTrial::open(format, format.block_size, 1024, 1.0F);
    REQUIRE_FALSE(trial.ok());
    CHECK(trial.error().code == ErrorCode::kInvalidPolicy);
    CHECK(trial.error().message.find(format.name) != std::string::npos);
  }
}

template <typename T>
std::vector<float> as_floats(DataType type, std::vector<T> stored) {
  std::vector<float> values(stored.size());
  REQUIRE(to_float32(type, {reinterpret_cast<const std::uint8_t*>(stored.data()), stored.size() * sizeof(T)},
                     values)
              .ok());
  return values;
}

TEST_CASE("Floats of four types become float32", "[codec]") {
  CHECK(as_floats<float>(DataType::kFloat, {1.5F, -0.0F}) == std::vector<float>{1.5F, -0.0F});
  CHECK(as_floats<double>(DataType::kDouble, {0.1, 1e300}) ==
        std::vector<float>{0.1F, std::numeric_limits<float>::infinity()});
  CHECK(as_floats<std::uint16_t>(DataType::kFloat16, {0x3C00, 0x0001}) == std::vector<float>{1.0F, 0x1p-24F});
  CHECK(as_floats<std::uint16_t>(DataType::kBfloat16, {0x3F80, 0xC049}) ==
        std::vector<float>{1.0F, -3.140625F});
  std::vector<float> two(2);
  const std::vector<std::uint8_t> bytes(8);
  CHECK(to_float32(DataType::kInt32, bytes, two).error().code == ErrorCode::kUnsupportedType);
  CHECK(to_float32(DataType::kDouble, bytes, two).error().code == ErrorCode::kShapeMismatch);
}

}  // namespace
}  // namespace halftone::test
