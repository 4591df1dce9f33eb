// Extended precision in software against the machine's, where it has that format, and against known results.
#include "numeric/extended.h"

#include <bit>
#include <catch2/catch_all.hpp>
#include <cmath>
#include <random>

namespace halftone::numeric {
namespace {

TEST_CASE("Extended precision rounds to 64 bits, half to even", "[numeric][blocks]") {
  const SoftExtended one(1.0);
  const SoftExtended step(0x1p-63);  // one last digit of 1
  const SoftExtended half(0x1p-64);
  const auto excess = [&one](SoftExtended sum) { return static_cast<double>(sum - one); };
  CHECK(excess(one + step) == 0x1p-63);
  CHECK(excess(one + half) == 0.0);
  CHECK(excess(one + step + half) == 0x1p-62);
  CHECK(excess(one + (half + SoftExtended(0x1p-120))) == 0x1p-63);
  CHECK(static_cast<double>(one - SoftExtended(0x1p-65)) == 1.0);
  CHECK(excess(one - half) == -0x1p-64);
  // 1 / 3 and its error.
  const SoftExtended third = one / SoftExtended(3.0);
  CHECK(static_cast<double>(third) == 1.0 / 3.0);
  CHECK(static_cast<double>(one - third * SoftExtended(3.0)) == 0.0);
  CHECK(static_cast<double>(third + third + third - one) == 0.0);
  CHECK(static_cast<double>(third - SoftExtended(1.0 / 3.0)) == 0x1.558p-56);
  CHECK(std::signbit(static_cast<double>(SoftExtended(-0.0))));
  CHECK_FALSE(std::signbit(static_cast<double>(one - one)));
  CHECK(static_cast<double>(SoftExtended(0x1p-1074) / SoftExtended(2.0)) == 0.0);
  CHECK(static_cast<double>(SoftExtended(0x1.8p-1073) / SoftExtended(2.0)) == 0x1p-1073);
  CHECK(SoftExtended(-2.0) < SoftExtended(-1.0));
  CHECK(SoftExtended(-1.0) < SoftExtended(0.0));
  CHECK_FALSE(SoftExtended(-0.0) < SoftExtended(0.0));
  CHECK_FALSE(one < one);
}

// Any finite double, often one with few digits, so that results are often exact or ties.
double random_double(std::mt19937_64& random) {
  const std::uint64_t kind = random() % 4;
  if (kind == 0) return static_cast<double>(static_cast<std::int64_t>(random() % 4096) - 2048);
  if (kind == 1) {
    const auto digits = static_cast<double>(random() >> 11U);  // first, on every compiler
    return std::ldexp(digits, static_cast<int>(random() % 64) - 70);
  }
  const double value = std::bit_cast<double>(random());
  return std::isfinite(value) ? value : 0.0;
}

bool equal(SoftExtended soft, long double hard) {
  const auto high = static_cast<double>(hard);
  if (!std::isfinite(high)) return true;
  const auto low = static_cast<double>(hard - static_cast<long double>(high));
  return static_cast<double>(soft) == high && static_cast<double>(soft - SoftExtended(high)) == low;
}

// What is left after the highest 53 bits fits a double, too.
void mix(std::uint64_t& digest, SoftExtended value) {
  const auto high = static_cast<double>(value);
  const double low = std::isfinite(high) ? static_cast<double>(value - SoftExtended(high)) : 0.0;
  for (const double part : {high, low})
    digest = (digest ^ std::bit_cast<std::uint64_t>(part)) * 0x100000001B3U;
}

// Compares with the machine's where it has the format; `digest` is of all results, in any build.
int wrong_results(std::uint64_t seed, std::uint64_t& digest) {
  std::mt19937_64 random(seed);
  int wrong = 0;
  const auto take = [&](SoftExtended soft, long double hard) {
    mix(digest, soft);
    if (LDBL_MANT_DIG == 64) wrong += static_cast<int>(!equal(soft, hard));
  };
  for (int i = 0; i < 300000; ++i) {
    const double a = random_double(random);
    const double b = random_double(random);
    const SoftExtended x(a);
    const SoftExtended y(b);
    const auto p = static_cast<long double>(a);
    const auto q = static_cast<long double>(b);
    take(x + y, p + q);
    take(x - y, p - q);
    take(x * y, p * q);
    wrong += static_cast<int>((x < y) != (a < b));
    if (b == 0.0) continue;
    take(x / y, p / q);
    take((x / y) * (x / y) + y, (p / q) * (p / q) + q);
  }
  return wrong;
}

TEST_CASE("Extended precision in software is the machine's", "[numeric][blocks]") {
  std::uint64_t digest = 0;
  INFO("seed " << Catch::getSeed());
  CHECK(wrong_results(Catch::getSeed(), digest) == 0);
  // Of results that equalled an x87's, one by one: what a machine without one is held to.
  digest = 0;
  CHECK(wrong_results(1, digest) == 0);
  CHECK(digest == 0x1D04685C6506FB24U);
}

}  // namespace
}  // namespace halftone::numeric
