// bitsandbytes' double quantization.
#include "halftone/nested_absmax.h"

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "codec/block_cases.h"

namespace halftone::test {
namespace {

TEST_CASE("The dynamic map of bitsandbytes", "[codec]") {
  const std::span<const float> map = nested_quant_map();
  REQUIRE(map.size() == 256);
  // As torch prints them, where its rounding doesn't depend on the machine.
  CHECK(map[0] == -0.992968738079071F);
  CHECK(map[1] == -0.9789062738418579F);
  CHECK(map[2] == -0.96484375F);
  CHECK(map[3] == -0.9507812261581421F);
  CHECK(map[126] == -5.5e-7F);
  CHECK(map[127] == 0.0F);
  CHECK(map[128] == 5.5e-7F);
  CHECK(map[129] == 3.25e-6F);
  CHECK(map[254] == 0.992968738079071F);
  CHECK(map[255] == 1.0F);
  for (std::size_t i = 1; i < map.size(); ++i) CHECK(map[i - 1] < map[i]);
}

TEST_CASE("Nested absmax are the nearest of the map, in blocks of 256", "[codec]") {
  const std::uint32_t seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::vector<float> absmax = normal_values(random, 600, 0.1F);
  for (float& v : absmax) v = std::fabs(v);
  absmax[300] = 5.0F;
  const Result<NestedAbsmax> result = nest_absmax(absmax);
  REQUIRE(result.ok());
  const NestedAbsmax& nested = result.value();
  CHECK(nested.codes.size() == 600);
  CHECK(nested.absmax.size() == 3);
  CHECK(nested.absmax[1] == 5.0F - nested.offset);
  CHECK(nested.codes[300] == 255);
  const std::span<const float> map = nested_quant_map();
  for (std::size_t i = 0; i < absmax.size(); ++i) {
    const float scaled = (absmax[i] - nested.offset) * (1.0F / nested.absmax[i / 256]);
    const float error = std::fabs(map[nested.codes[i]] - scaled);
    for (const float entry : map) CHECK(error <= std::fabs(entry - scaled) + 1e-9F);
  }
  std::vector<float> back(600);
  REQUIRE(unnest_absmax(nested.codes, nested.absmax, nested.offset, map, 0, back).ok());
  std::vector<float> part(100);
  REQUIRE(unnest_absmax(nested.codes, nested.absmax, nested.offset, map, 250, part).ok());
  CHECK(std::equal(part.begin(), part.end(), back.begin() + 250));
  CHECK(back[300] == 1.0F * nested.absmax[1] + nested.offset);
}

TEST_CASE("Nested absmax of equal blocks, of none, and what is refused", "[codec]") {
  const std::vector<float> equal(5, 0.25F);
  const Result<NestedAbsmax> nested = nest_absmax(equal);
  REQUIRE(nested.ok());
  CHECK(nested.value().offset == 0.25F);
  CHECK(nested.value().absmax == std::vector<float>{0.0F});
  CHECK(nested.value().codes == std::vector<std::uint8_t>(5, 127));
  std::vector<float> back(5);
  const std::span<const float> map = nested_quant_map();
  REQUIRE(unnest_absmax(nested.value().codes, nested.value().absmax, 0.25F, map, 0, back).ok());
  CHECK(back == equal);
  CHECK(nest_absmax({}).value().codes.empty());
  const std::vector<float> bad = {1.0F, std::numeric_limits<float>::infinity()};
  CHECK(nest_absmax(bad).error().code == ErrorCode::kNonFinite);
  CHECK(nest_absmax(bad).error().where == "block 1");
  const auto unnest = [&](std::uint64_t first, std::span<const float> scales, std::span<const float> table) {
    return unnest_absmax(nested.value().codes, scales, 0.0F, table, first, back);
  };
  CHECK(unnest(1, nested.value().absmax, map).error().code == ErrorCode::kShapeMismatch);
  CHECK(unnest(std::numeric_limits<std::uint64_t>::max(), nested.value().absmax, map).error().code ==
        ErrorCode::kShapeMismatch);
  CHECK(unnest(0, {}, map).error().code == ErrorCode::kShapeMismatch);
  CHECK(unnest(0, nested.value().absmax, map.first(255)).error().code == ErrorCode::kShapeMismatch);
}

}  // namespace
}  // namespace halftone::test
