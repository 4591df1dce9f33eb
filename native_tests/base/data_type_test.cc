#include "halftone/data_type.h"

#include <catch2/catch_all.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace halftone {
namespace {

using Dims = std::vector<std::int64_t>;

TEST_CASE("Element counts refuse what doesn't fit instead of wrapping", "[base]") {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  CHECK(element_count(Dims{}) == 1);
  CHECK(element_count(Dims{2, 3, 4}) == 24);
  CHECK(element_count(Dims{5, 0, 7}) == 0);
  CHECK(element_count(Dims{-1}) == std::nullopt);
  CHECK(element_count(Dims{kHuge}) == std::nullopt);
  CHECK(element_count(Dims{1LL << 31, 1LL << 31}) == (std::uint64_t{1} << 62));
  CHECK(element_count(Dims{1LL << 31, 1LL << 31, 2}) == std::nullopt);
  CHECK(element_count(Dims{1LL << 40, 1LL << 40}) == std::nullopt);
}

TEST_CASE("Raw sizes round sub-byte types up", "[base]") {
  CHECK(raw_byte_count(DataType::kFloat, Dims{3}) == 12);
  CHECK(raw_byte_count(DataType::kInt4, Dims{3}) == 2);
  CHECK(raw_byte_count(DataType::kInt4, Dims{4}) == 2);
  CHECK(raw_byte_count(DataType::kUint2, Dims{5}) == 2);
  CHECK(raw_byte_count(DataType::kComplex128, Dims{2}) == 32);
  CHECK(raw_byte_count(DataType::kString, Dims{2}) == std::nullopt);
  CHECK(raw_byte_count(DataType::kDouble, Dims{1LL << 31, 1LL << 31}) == std::nullopt);
}

TEST_CASE("Types newer than the list keep their number", "[base]") {
  CHECK(data_type_name(static_cast<DataType>(99)) == "type_99");
  CHECK(data_type_bits(static_cast<DataType>(99)) == 0);
  CHECK(data_type_name(static_cast<DataType>(-5)) == "type_-5");
  CHECK(data_type_name(DataType::kFloat8E4M3FN) == "float8e4m3fn");
  CHECK(data_type_name(DataType::kInt2) == "int2");
}

}  // namespace
}  // namespace halftone
