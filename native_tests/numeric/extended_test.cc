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
  if (kind == 1)
    return std::ldexp(static_cast<double>(random() >> 11U), static_cast<int>(random() % 64) - 70);
  const double value = std::bit_cast<double>(random());
  return std::isfinite(value) ? value : 0.0;
}

bool equal(SoftExtended soft, long double hard) {
  // What is left after the highest 53 bits fits a double, too.
  const auto high = static_cast<double>(hard);
  if (!std::isfinite(high)) return true;
  const auto low = static_cast<double>(hard - static_cast<long double>(high));
  return static_cast<double>(soft) == high && static_cast<double>(soft - SoftExtended(high)) == low;
}

TEST_CASE("Extended precision in software is the machine's", "[numeric][blocks]") {
  // A case everywhere, so that both builds of the suite have as many.
  if (LDBL_MANT_DIG != 64) SKIP("this machine's long double is another format");
  std::mt19937_64 random(Catch::getSeed());
  INFO("seed " << Catch::getSeed());
  int wrong = 0;
  for (int i = 0; i < 300000; ++i) {
    const double a = random_double(random);
    const double b = random_double(random);
    const SoftExtended x(a);
    const SoftExtended y(b);
    const auto p = static_cast<long double>(a);
    const auto q = static_cast<long double>(b);
    wrong += static_cast<int>(!equal(x + y, p + q)) + static_cast<int>(!equal(x - y, p - q)) +
             static_cast<int>(!equal(x * y, p * q)) + static_cast<int>((x < y) != (p < q));
    if (b == 0.0) continue;
    wrong += static_cast<int>(!equal(x / y, p / q)) +
             static_cast<int>(!equal((x / y) * (x / y) + y, (p / q) * (p / q) + q));
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace halftone::numeric
