// Every statistic kernel of every instruction set against the scalar reference: equal bits.
#include <catch2/catch_all.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "halftone/statistics.h"
#include "numeric/kernel_cases.h"
#include "numeric/kernel_set.h"

namespace halftone {
namespace {

using kernel_cases::GuardedBytes;
using numeric::RawRange;
using numeric::reference_statistic_kernels;
using numeric::simd_statistic_kernels;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Finite values of all sizes, with zeros of both signs.
std::vector<float> finite_values(std::size_t count, std::mt19937& random) {
  std::vector<float> values(count);
  for (float& value : values) {
    do {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    } while (!std::isfinite(value));
    if (random() % 8 == 0) value = random() % 2 == 0 ? 0.0F : -0.0F;
  }
  return values;
}

const std::uint8_t* placed(GuardedBytes& memory, const std::vector<float>& values) {
  if (!values.empty()) std::memcpy(memory.data(), values.data(), values.size() * sizeof(float));
  return memory.data();
}

void compare_range(const std::vector<float>& values, std::size_t offset) {
  GuardedBytes memory(values.size() * sizeof(float), offset);
  const std::uint8_t* x = placed(memory, values);
  const RawRange expected = reference_statistic_kernels().range(x, values.size());
  const RawRange range = simd_statistic_kernels().range(x, values.size());
  INFO(simd_statistic_kernels().instruction_set << " length " << values.size() << " offset " << offset
                                                << " seed " << Catch::getSeed());
  REQUIRE(range.magnitude_bits == expected.magnitude_bits);
  if (expected.magnitude_bits >= numeric::kInfinityBits) return;
  REQUIRE(bits(range.min) == bits(expected.min));
  REQUIRE(bits(range.max) == bits(expected.max));
}

TEST_CASE("Range kernels equal the reference, and find every value that is not finite",
          "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    for (const std::size_t length : kernel_cases::lengths()) {
      for (const std::size_t offset : kernel_cases::kOffsets) {
        std::vector<float> values = finite_values(length, random);
        compare_range(values, offset);
        for (float& value : values) value = -std::fabs(value);
        compare_range(values, offset);
        if (values.empty()) continue;
        constexpr float kBad[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
        values[random() % values.size()] = kBad[random() % 3];
        compare_range(values, offset);
      }
    }
  });
}

TEST_CASE("Column range kernels equal the reference", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    for (const std::size_t columns : {1U, 2U, 3U, 7U, 15U, 16U, 17U, 33U, 64U, 100U}) {
      for (const std::size_t rows : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 11U}) {
        const std::vector<float> values = finite_values(rows * columns, random);
        GuardedBytes memory(values.size() * sizeof(float), 1);
        const std::uint8_t* x = placed(memory, values);
        std::vector<float> min(columns, kInfinity);
        std::vector<float> max(columns, -kInfinity);
        std::vector<std::int32_t> magnitude(columns, 0);
        std::vector<float> expected_min = min;
        std::vector<float> expected_max = max;
        std::vector<std::int32_t> expected_magnitude = magnitude;
        reference_statistic_kernels().column_ranges(x, rows, columns, expected_min.data(),
                                                    expected_max.data(), expected_magnitude.data());
        simd_statistic_kernels().column_ranges(x, rows, columns, min.data(), max.data(), magnitude.data());
        INFO(simd_statistic_kernels().instruction_set << " " << rows << " x " << columns << " seed "
                                                      << Catch::getSeed());
        REQUIRE(min == expected_min);  // == on floats: zeros of either sign are equal here, by contract
        REQUIRE(max == expected_max);
        REQUIRE(magnitude == expected_magnitude);
      }
    }
  });
}

void compare_sums(const std::vector<float>& e, const std::vector<float>& a, std::size_t offset) {
  GuardedBytes e_memory(e.size() * sizeof(float), offset);
  GuardedBytes a_memory(a.size() * sizeof(float), offset);
  const std::uint8_t* expected = placed(e_memory, e);
  const std::uint8_t* actual = placed(a_memory, a);
  const ErrorSums want = reference_statistic_kernels().error_sums(expected, actual, e.size());
  const ErrorSums sums = simd_statistic_kernels().error_sums(expected, actual, e.size());
  INFO(simd_statistic_kernels().instruction_set << " length " << e.size() << " offset " << offset << " seed "
                                                << Catch::getSeed());
  REQUIRE(sums.count == want.count);
  REQUIRE(bits(sums.error_squares) == bits(want.error_squares));
  REQUIRE(bits(sums.expected_squares) == bits(want.expected_squares));
  REQUIRE(bits(sums.actual_squares) == bits(want.actual_squares));
  REQUIRE(bits(sums.products) == bits(want.products));
  REQUIRE(bits(sums.max_abs_error) == bits(want.max_abs_error));
}

TEST_CASE("Error sums equal the reference bit for bit, whatever the vector width", "[numeric][kernels]") {
  kernel_cases::for_each_instruction_set([] {
    std::mt19937 random(Catch::getSeed());
    for (const std::size_t length : kernel_cases::lengths()) {
      for (const std::size_t offset : kernel_cases::kOffsets) {
        std::vector<float> e = kernel_cases::plain_values(length, random);
        std::vector<float> a = kernel_cases::plain_values(length, random);
        compare_sums(e, a, offset);
        compare_sums(finite_values(length, random), finite_values(length, random), offset);
        if (length == 0) continue;
        a[random() % length] = random() % 2 == 0 ? kInfinity : std::numeric_limits<float>::quiet_NaN();
        compare_sums(e, a, offset);
        e[random() % length] = -kInfinity;
        compare_sums(e, a, offset);
      }
    }
  });
}

// Computed independently, in Python's doubles, from the order of addition that statistics.h promises. Native
// and WebAssembly builds run this same test, so that equal numbers here are equal numbers everywhere.
TEST_CASE("Error sums have the bits that the contract's order of addition gives", "[numeric][kernels]") {
  std::vector<float> e;
  std::vector<float> a;
  std::uint32_t state = 12345;
  for (int i = 0; i < 10007; ++i) {
    state = state * 1664525U + 1013904223U;
    e.push_back(static_cast<float>(static_cast<double>(state >> 8U) / 16777216.0 - 0.5));
    state = state * 1664525U + 1013904223U;
    a.push_back(e.back() + static_cast<float>(static_cast<double>(state >> 8U) / 16777216.0 - 0.5) * 0.01F);
  }
  const Result<ErrorSums> result = error_sums(FloatView(e), FloatView(a));
  REQUIRE(result.ok());
  const ErrorSums& sums = result.value();
  CHECK(sums.count == 10007);
  CHECK(sums.error_squares == 0x1.54f7e360e6345p-4);
  CHECK(sums.expected_squares == 0x1.9eafcf0674e20p+9);
  CHECK(sums.actual_squares == 0x1.9eb00fd162d10p+9);
  CHECK(sums.products == 0x1.9eaa9b8c5e596p+9);
  CHECK(sums.max_abs_error == 0x1.47a1e00000000p-8);
}

}  // namespace
}  // namespace halftone
