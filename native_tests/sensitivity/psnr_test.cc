// PSNR against AIMET's published behaviour. Tolerance 1e-3 dB: AIMET itself
// works in the arrays' type (float32), we in double.
#include <catch2/catch_all.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "halftone/sensitivity.h"

namespace halftone {
namespace {

constexpr double kToleranceDb = 1e-3;

double psnr(const std::vector<float>& expected, const std::vector<float>& actual) {
  PsnrAccumulator accumulator;
  REQUIRE(accumulator.add(expected, actual).ok());
  const Result<double> score = accumulator.score();
  REQUIRE(score.ok());
  return score.value();
}

struct Vector {
  const char* id;
  std::vector<float> expected;
  std::vector<float> actual;
  double db;
};

std::vector<float> line(std::size_t count, bool on_grid) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(static_cast<float>(on_grid ? std::round(x * 15.0) / 15.0 : x));
  }
  return values;
}

TEST_CASE("PSNR equals AIMET's compute_psnr on its vectors", "[sensitivity][psnr]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Vector> vectors = {
      {"P1", {1, 2, 3, 4}, {1, 2, 3, 4}, 100},
      {"P2", {0, 1, 2, 3}, {0.5F, 1, 2, 3}, 21.5836249},
      {"P3", {-1, 1}, {-0.9F, 0.9F}, 26.0205999},
      {"P4", {5, 6}, {5.1F, 6.1F}, 35.5630250},
      {"P5", {0, 0, 0, 0}, {1, 2, 3, 4}, -100},
      {"P6", {0, 0}, {0, 0}, 100},
      {"P7", {1, 2}, {1, nan}, -100},
      {"P9",
       {1.62434536F, -0.61175641F, -0.52817175F, -1.07296862F},
       {0.86540763F, -2.3015387F, 1.74481176F, -0.7612069F},
       5.24653408},
      {"P10a", {0}, {1e-12F}, 40},
      {"P10b", {0}, {1e-10F}, 0},
      {"P10c", {0}, {1e-14F}, 80},
      {"P11", {1}, {1.000001F}, 100},
      {"P12", {0.001F, 0.002F}, {10, 20}, -77.9579315},
      {"P13", {2, 2, 2}, {2.02F, 1.98F, 2}, 41.7609126},
      {"P14", {300, 1}, {0, 1}, 3.0102999},
      {"P17", line(256, false), line(256, true), 34.3456890},
      {"P18 stacked", {0, 1, 0, 10}, {0, 1.1F, 0, 10.1F}, 43.0103000},
      {"P18 first row", {0, 1}, {0, 1.1F}, 23.0103000},
  };
  for (const Vector& vector : vectors) {
    INFO(vector.id);
    CHECK(std::abs(psnr(vector.expected, vector.actual) - vector.db) < kToleranceDb);
  }
}

TEST_CASE("PSNR refuses what AIMET refuses, P8 and P15", "[sensitivity][psnr]") {
  PsnrAccumulator accumulator;
  const std::vector<float> two = {1, 2};
  const std::vector<float> three = {1, 2, 3};
  const std::vector<float> broken = {1, std::numeric_limits<float>::quiet_NaN()};  // P8
  CHECK(accumulator.score().error().code == ErrorCode::kInvalidState);
  CHECK(accumulator.add(two, three).error().code == ErrorCode::kShapeMismatch);
  CHECK(accumulator.add(broken, two).error().code == ErrorCode::kNonFinite);
  CHECK(accumulator.score().error().code == ErrorCode::kInvalidState);
  REQUIRE(accumulator.add({}, {}).ok());  // P15
  CHECK(accumulator.score().error().code == ErrorCode::kInvalidState);
}

TEST_CASE("A non-finite output anywhere makes the score -100", "[sensitivity][psnr]") {
  PsnrAccumulator accumulator;
  const std::vector<float> expected = {1, 2, 3};
  REQUIRE(accumulator.add(expected, std::vector<float>{1, std::numeric_limits<float>::infinity(), 3}).ok());
  REQUIRE(accumulator.add(expected, expected).ok());
  CHECK(accumulator.saw_non_finite());
  CHECK(accumulator.score().value() == -100.0);
}

TEST_CASE("PSNR over samples equals PSNR of their concatenation", "[sensitivity][psnr]") {
  const auto seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> expected(4096);
  std::vector<float> actual(4096);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = normal(random);
    actual[i] = expected[i] + 0.01F * normal(random);
  }
  const double whole = psnr(expected, actual);
  PsnrAccumulator merged;
  for (std::size_t start = 0; start < expected.size(); start += 512) {
    PsnrAccumulator part;
    REQUIRE(part.add(std::span(expected).subspan(start, 512), std::span(actual).subspan(start, 512)).ok());
    merged.merge(part);
  }
  // Only the order of some additions differs: 4096 additions of double, each
  // within half an ulp.
  CHECK(std::abs(merged.score().value() - whole) < 1e-9);
}

}  // namespace
}  // namespace halftone
