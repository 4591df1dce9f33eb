#include <catch2/catch_all.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "halftone/metric.h"

namespace halftone {
namespace {

using Values = std::vector<float>;

constexpr std::array kKinds = {MetricKind::kPsnr,   MetricKind::kTopkPsnr, MetricKind::kSqnr,
                               MetricKind::kCosine, MetricKind::kMse,      MetricKind::kKl,
                               MetricKind::kTop1};

TEST_CASE("Student's t equals the tables", "[sensitivity][interval]") {
  const std::vector<std::pair<std::size_t, double>> table = {
      {1, 12.70620474},  {2, 4.302652730},   {3, 3.182446305},   {7, 2.364624252},
      {30, 2.042272456}, {100, 1.983971519}, {500, 1.964719837}, {1000, 1.962339081}};
  for (const auto& [degrees, t] : table) {
    INFO(degrees << " degrees of freedom");
    CHECK(student_t(0.95, degrees) == Catch::Approx(t).epsilon(1e-6));
  }
  CHECK(student_t(0.5, 1) == Catch::Approx(1).epsilon(1e-9));
  CHECK(student_t(0.99, 4) == Catch::Approx(4.604094871).epsilon(1e-6));
  // Where the sum hands over to the expansion nothing jumps.
  CHECK(student_t(0.999, 201) < student_t(0.999, 200));
  CHECK(student_t(0.999, 201) == Catch::Approx(student_t(0.999, 200)).epsilon(1e-4));
}

// Merging the others anew for each sample: quadratic, and without what the fast path does.
std::optional<Interval> slow_interval(MetricKind kind, const std::vector<MetricTerms>& terms,
                                      std::size_t tensors) {
  const std::size_t samples = terms.size() / tensors;
  std::vector<double> left_out;
  for (std::size_t without = 0; without < samples; ++without) {
    std::vector<MetricTerms> others;
    for (std::size_t at = 0; at < terms.size(); ++at)
      if (at / tensors != without) others.push_back(terms[at]);
    left_out.push_back(metric_score(kind, others, tensors).value());
  }
  return jackknife_interval(metric_score(kind, terms, tensors).value(), left_out);
}

// Beyond which no score is, and no end of an interval.
Interval limits_of(MetricKind kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kind == MetricKind::kTop1) return {0, 1};
  if (kind == MetricKind::kCosine) return {-1, 1};
  return higher_is_worse(kind) ? Interval{0, kInfinity} : Interval{-100, 100};
}

TEST_CASE("The interval equals that of leaving each sample out anew", "[sensitivity][interval]") {
  const auto seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (const MetricKind kind : kKinds) {
    for (const std::size_t tensors : {1U, 2U, 3U}) {
      const std::size_t samples = 2 + random() % 12;
      INFO(metric_name(kind) << ", " << samples << " samples of " << tensors << " tensors");
      std::vector<MetricTerms> terms;
      for (std::size_t i = 0; i < samples * tensors; ++i) {
        Values expected(40);
        Values actual(40);
        for (std::size_t at = 0; at < expected.size(); ++at) {
          expected[at] = normal(random);
          actual[at] = expected[at] + 0.2F * normal(random);
        }
        terms.push_back(metric_terms({kind, 3}, expected, actual, 10).value());
      }
      const std::optional<Interval> fast = metric_interval(kind, terms, tensors);
      const std::optional<Interval> slow = slow_interval(kind, terms, tensors);
      REQUIRE(fast.has_value());
      REQUIRE(slow.has_value());
      // Sums are added in another order: a few ulps in each score, and their differences magnify that.
      const Interval limits = limits_of(kind);
      CHECK(fast->high == Catch::Approx(std::min(slow->high, limits.high)).epsilon(1e-9).margin(1e-9));
      CHECK(fast->low == Catch::Approx(std::max(slow->low, limits.low)).epsilon(1e-9).margin(1e-9));
    }
  }
}

TEST_CASE("For a mean the jackknife is the textbook interval of a mean", "[sensitivity][interval]") {
  // Mean squared errors of single values: 1, 4, 9, 16, mean 7.5, standard error sqrt(129 / 3 / 4).
  std::vector<MetricTerms> terms;
  for (const float error : {1.0F, 2.0F, 3.0F, 4.0F})
    terms.push_back(metric_terms({MetricKind::kMse}, Values{0}, Values{error}, 1).value());
  const std::optional<Interval> interval = metric_interval(MetricKind::kMse, terms);
  REQUIRE(interval.has_value());
  const double half = 3.182446305 * std::sqrt(129.0 / 12);
  CHECK(interval->high == Catch::Approx(7.5 + half).epsilon(1e-8));
  CHECK(interval->low == 0);  // 7.5 - half is below the metric's range
  const std::optional<Interval> narrow = metric_interval(MetricKind::kMse, terms, 1, 0.5);
  REQUIRE(narrow.has_value());
  CHECK(narrow->low == Catch::Approx(7.5 - student_t(0.5, 3) * std::sqrt(129.0 / 12)).epsilon(1e-8));
}

TEST_CASE("There is no interval for one sample, nothing, or what isn't a number", "[sensitivity][interval]") {
  const MetricTerms one = metric_terms({MetricKind::kMse}, Values{1}, Values{2}, 1).value();
  const MetricTerms broken = metric_terms({MetricKind::kMse}, Values{1}, Values{NAN}, 1).value();
  CHECK_FALSE(metric_interval(MetricKind::kMse, {}).has_value());
  CHECK_FALSE(metric_interval(MetricKind::kMse, std::vector{one}).has_value());
  CHECK_FALSE(metric_interval(MetricKind::kMse, std::vector{one, broken}).has_value());
  // Leaving the only sample with values out leaves nothing.
  CHECK_FALSE(metric_interval(MetricKind::kMse, std::vector{one, MetricTerms{}}).has_value());
  CHECK(metric_interval(MetricKind::kMse, std::vector{one, one}) == Interval{1, 1});
}

TEST_CASE("A metric of one's own has a score and an interval", "[sensitivity][interval]") {
  UserMetric metric{"largest error", true, {}, {}};
  metric.sample = [](std::span<const ScoredOutput> expected, std::span<const ScoredOutput> actual) {
    double worst = 0;
    for (std::size_t tensor = 0; tensor < expected.size(); ++tensor)
      for (std::size_t i = 0; i < expected[tensor].values.size(); ++i)
        worst = std::max(
            worst, std::abs(static_cast<double>(expected[tensor].values[i] - actual[tensor].values[i])));
    return worst;
  };
  const Values float_values{1, 2};
  const std::vector<std::int64_t> dims{2};
  std::vector<double> values;
  for (const float error : {1.0F, 2.0F, 6.0F}) {
    const Values other{1, 2 + error};
    const std::vector<ScoredOutput> expected{{"y", float_values, dims}};
    const std::vector<ScoredOutput> actual{{"y", other, dims}};
    values.push_back(metric.sample(expected, actual));
  }
  CHECK(user_score(metric, values).value() == 3);
  const std::optional<Interval> mean = user_interval(metric, values);
  REQUIRE(mean.has_value());
  // Standard error of 1, 2, 6: sqrt(14 / 2 / 3).
  CHECK(mean->high - 3 == Catch::Approx(student_t(0.95, 2) * std::sqrt(14.0 / 6)).epsilon(1e-9));
  metric.combine = [](std::span<const double> all) {
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  };
  const std::optional<Interval> combined = user_interval(metric, values);
  REQUIRE(combined.has_value());
  CHECK(combined->low == Catch::Approx(mean->low).epsilon(1e-12));
  CHECK(combined->high == Catch::Approx(mean->high).epsilon(1e-12));
  CHECK(user_score(metric, {}).error().code == ErrorCode::kInvalidState);
  CHECK_FALSE(user_interval(metric, std::vector{1.0}).has_value());
}

}  // namespace
}  // namespace halftone
