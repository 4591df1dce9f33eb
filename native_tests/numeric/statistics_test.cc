#include <catch2/catch_all.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "halftone/statistics.h"
#include "numeric/kernel_cases.h"

namespace halftone {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

RangeStatistics range(const std::vector<float>& values) { return range_of(FloatView(values)); }

TEST_CASE("A range is of the finite values, and says what else there was", "[numeric]") {
  const RangeStatistics r = range({1.0F, kNan, -3.0F, kInfinity, 2.0F, -kInfinity});
  CHECK(r.min == -3.0F);
  CHECK(r.max == 2.0F);
  CHECK(r.count == 6);
  CHECK(r.nan_count == 1);
  CHECK(r.infinity_count == 2);
  CHECK(r.first_non_finite == 1);
  CHECK_FALSE(r.all_finite());
  CHECK(r.has_range());
  CHECK(r.magnitude() == 3.0F);
}

TEST_CASE("Ranges of nothing and of nothing finite", "[numeric]") {
  const RangeStatistics nothing = range({});
  CHECK(nothing.count == 0);
  CHECK(nothing.all_finite());
  CHECK_FALSE(nothing.has_range());
  CHECK(nothing.min == kInfinity);
  CHECK(nothing.magnitude() == 0.0F);
  const RangeStatistics bad = range({kNan, kInfinity});
  CHECK_FALSE(bad.has_range());
  CHECK(bad.min == kInfinity);
  CHECK(bad.max == -kInfinity);
}

TEST_CASE("Zero has no sign in a range", "[numeric]") {
  CHECK_FALSE(std::signbit(range({-0.0F}).min));
  CHECK_FALSE(std::signbit(range({-0.0F, -0.0F}).max));
  CHECK_FALSE(std::signbit(range({-0.0F, kNan}).min));
}

TEST_CASE("Merging ranges is as if there had been one span", "[numeric]") {
  const std::vector<float> a = {1.0F, 5.0F};
  const std::vector<float> b = {kNan, -1.0F, kInfinity};
  const std::vector<float> both = {1.0F, 5.0F, kNan, -1.0F, kInfinity};
  RangeStatistics merged = range(a);
  merged.merge(range(b));
  merged.merge(RangeStatistics());
  const RangeStatistics whole = range(both);
  CHECK(merged.min == whole.min);
  CHECK(merged.max == whole.max);
  CHECK(merged.count == whole.count);
  CHECK(merged.nan_count == whole.nan_count);
  CHECK(merged.infinity_count == whole.infinity_count);
  CHECK(merged.first_non_finite == whole.first_non_finite);
}

std::vector<RangeStatistics> naive(const std::vector<float>& x, const GridLayout& layout) {
  std::vector<std::vector<float>> channels(layout.scale_count());
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t at = i / layout.inner % layout.channels;
    if (layout.block_size != 0) {
      const std::size_t blocks = (layout.channels + layout.block_size - 1) / layout.block_size;
      at = (i / layout.inner / layout.channels * blocks + at / layout.block_size) * layout.inner +
           i % layout.inner;
    }
    channels[at].push_back(x[i]);
  }
  std::vector<RangeStatistics> out;
  for (const std::vector<float>& values : channels) {
    RangeStatistics r;
    for (const float value : values) r.merge(range({value}));
    out.push_back(r);
  }
  return out;
}

TEST_CASE("Channel ranges of every layout", "[numeric]") {
  std::mt19937 random(Catch::getSeed());
  const GridLayout layouts[] = {{1, 1, 50, 0}, {1, 8, 75, 0}, {64, 10, 1, 0},  {3, 5, 9, 0},
                                {4, 3, 70, 0}, {7, 1, 9, 0},  {1031, 3, 1, 0}, {2, 2000, 1, 0},
                                {1, 33, 9, 0}, {5, 11, 7, 0}, {4, 64, 1, 16},  {3, 10, 11, 4},
                                {0, 3, 5, 0}};
  for (const GridLayout& layout : layouts) {
    for (const int bad : {0, 1, 3}) {
      INFO(layout.outer << " x " << layout.channels << " x " << layout.inner << " bad " << bad << " seed "
                        << Catch::getSeed());
      std::vector<float> x = kernel_cases::plain_values(layout.element_count(), random);
      for (int k = 0; k < bad && !x.empty(); ++k)
        x[random() % x.size()] = random() % 2 == 0 ? kNan : -kInfinity;
      const Result<std::vector<RangeStatistics>> got = channel_ranges(FloatView(x), layout);
      REQUIRE(got.ok());
      const std::vector<RangeStatistics> expected = naive(x, layout);
      REQUIRE(got.value().size() == expected.size());
      for (std::size_t c = 0; c < expected.size(); ++c) {
        REQUIRE(got.value()[c].min == expected[c].min);
        REQUIRE(got.value()[c].max == expected[c].max);
        REQUIRE(got.value()[c].count == expected[c].count);
        REQUIRE(got.value()[c].nan_count == expected[c].nan_count);
        REQUIRE(got.value()[c].infinity_count == expected[c].infinity_count);
        REQUIRE(got.value()[c].first_non_finite == expected[c].first_non_finite);
      }
    }
  }
  const std::vector<float> x(5);
  CHECK(channel_ranges(FloatView(x), {2, 3, 1, 0}).error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("Error sums by hand", "[numeric]") {
  const std::vector<float> e = {1.0F, -2.0F, 3.0F};
  const std::vector<float> a = {1.5F, -2.0F, 1.0F};
  ErrorSums sums = error_sums(FloatView(e), FloatView(a)).value();
  CHECK(sums.count == 3);
  CHECK(sums.error_squares == 4.25);
  CHECK(sums.expected_squares == 14.0);
  CHECK(sums.actual_squares == 7.25);
  CHECK(sums.products == 8.5);
  CHECK(sums.max_abs_error == 2.0);
  sums.merge(sums);
  CHECK(sums.count == 6);
  CHECK(sums.error_squares == 8.5);
  CHECK(sums.max_abs_error == 2.0);
  CHECK(error_sums({}, {}).value().count == 0);
  CHECK(error_sums(FloatView(e), {}).error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("Error sums show which side is not finite", "[numeric]") {
  const std::vector<float> good = {1.0F, 2.0F};
  const std::vector<float> largest = {std::numeric_limits<float>::max(),
                                      std::numeric_limits<float>::lowest()};
  const ErrorSums fine = error_sums(FloatView(largest), FloatView(good)).value();
  CHECK(std::isfinite(fine.error_squares));
  for (const float bad : {kInfinity, -kInfinity, kNan}) {
    const std::vector<float> broken = {1.0F, bad};
    const ErrorSums actual = error_sums(FloatView(good), FloatView(broken)).value();
    CHECK(std::isfinite(actual.expected_squares));
    CHECK_FALSE(std::isfinite(actual.actual_squares));
    CHECK_FALSE(std::isfinite(actual.max_abs_error));
    ErrorSums merged = fine;
    merged.merge(actual);
    CHECK_FALSE(std::isfinite(merged.max_abs_error));
    const ErrorSums expected = error_sums(FloatView(broken), FloatView(good)).value();
    CHECK_FALSE(std::isfinite(expected.expected_squares));
    CHECK(std::isfinite(expected.actual_squares));
  }
}

TEST_CASE("A histogram counts every value once", "[numeric]") {
  std::vector<std::uint64_t> bins(4, 0);
  const std::vector<float> x = {-1.0F, 0.0F, 0.999F, 1.0F, 2.5F, 3.999F, 4.0F, 4.001F, kNan, kInfinity};
  const Result<HistogramRemainder> rest = add_to_histogram(FloatView(x), 0.0F, 4.0F, bins);
  REQUIRE(rest.ok());
  CHECK(bins == std::vector<std::uint64_t>{2, 1, 1, 2});  // 4.0 belongs to the last bin
  CHECK(rest.value().below == 1);
  CHECK(rest.value().above == 1);
  CHECK(rest.value().not_finite == 2);
  REQUIRE(add_to_histogram(FloatView(x), 0.0F, 4.0F, bins).ok());
  CHECK(bins == std::vector<std::uint64_t>{4, 2, 2, 4});
}

TEST_CASE("Histograms of bad ranges and of no bins are errors", "[numeric]") {
  std::vector<std::uint64_t> bins(8, 0);
  std::vector<std::uint64_t> too_many(65537, 0);
  const std::vector<float> x = {1.0F};
  const auto code = [&](float low, float high, std::span<std::uint64_t> into) {
    const Result<HistogramRemainder> result = add_to_histogram(FloatView(x), low, high, into);
    REQUIRE_FALSE(result.ok());
    return result.error().code;
  };
  CHECK(code(1.0F, 1.0F, bins) == ErrorCode::kInvalidPolicy);
  CHECK(code(0.0F, kInfinity, bins) == ErrorCode::kInvalidPolicy);
  CHECK(code(kNan, 1.0F, bins) == ErrorCode::kInvalidPolicy);
  CHECK(code(0.0F, 1.0F, {}) == ErrorCode::kInvalidPolicy);
  CHECK(code(0.0F, 1.0F, too_many) == ErrorCode::kInvalidPolicy);
  const float max = std::numeric_limits<float>::max();
  REQUIRE(add_to_histogram(FloatView(x), -max, max, bins).ok());
  CHECK(bins[4] == 1);
}

}  // namespace
}  // namespace halftone
