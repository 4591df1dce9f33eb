// Metrics other than plain PSNR (psnr_test.cc has that one's vectors): values worked out by hand or taken
// from AIMET's, what counts as the worst, and what is refused.
#include "halftone/metric.h"

#include <catch2/catch_all.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "halftone/statistics.h"

namespace halftone {
namespace {

using Values = std::vector<float>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

double score(const Metric& metric, const Values& expected, const Values& actual, std::int64_t last_dim) {
  const Result<MetricTerms> terms = metric_terms(metric, expected, actual, last_dim);
  REQUIRE(terms.ok());
  const std::vector<MetricTerms> list{terms.value()};
  const Result<double> made = metric_score(metric.kind, list);
  REQUIRE(made.ok());
  return made.value();
}

double score(MetricKind kind, const Values& expected, const Values& actual, std::int64_t last_dim) {
  return score(Metric{kind, 10}, expected, actual, last_dim);
}

ErrorCode refusal(const Metric& metric, const Values& expected, const Values& actual, std::int64_t last_dim) {
  const Result<MetricTerms> terms = metric_terms(metric, expected, actual, last_dim);
  REQUIRE_FALSE(terms.ok());
  return terms.error().code;
}

TEST_CASE("Top-k PSNR equals AIMET's on its vectors", "[sensitivity][metric]") {
  const Values expected{1, 5, 3, 2, 0, -1, 4, 6};
  const Values actual{1.2F, 4.5F, 3.1F, 2, 0, -1, 4.2F, 5};
  const std::vector<std::pair<std::int64_t, double>> vectors = {
      {1, 17.604225}, {2, 20.444193}, {3, 22.205105}, {4, 24.661813}, {10, 24.661813}};
  for (const auto& [k, db] : vectors) {
    INFO("k " << k);
    CHECK(std::abs(score({MetricKind::kTopkPsnr, k}, expected, actual, 4) - db) < 1e-3);
  }
  // From the row's length on it is PSNR, to the last bit.
  CHECK(score({MetricKind::kTopkPsnr, 4}, expected, actual, 4) ==
        score(MetricKind::kPsnr, expected, actual, 4));
}

TEST_CASE("Top-k PSNR takes the first of equal values and looks at nothing else", "[sensitivity][metric]") {
  // Two of three equal values: the last one's error doesn't count.
  CHECK(score({MetricKind::kTopkPsnr, 2}, {7, 1, 7, 7}, {7, 1, 7, 9}, 4) == 100);
  CHECK(score({MetricKind::kTopkPsnr, 2}, {7, 1, 7, 7}, {7, 1, 9, 7}, 4) < 100);
  // A mask of the float model and NaN of the other outside of the taken ones.
  CHECK(score({MetricKind::kTopkPsnr, 2}, {1, 2, -kInfinity}, {1, 2, kNaN}, 3) == 100);
  CHECK(refusal({MetricKind::kTopkPsnr, 3}, {1, -kInfinity, -kInfinity, 4}, {1, 2, 0, 4}, 4) ==
        ErrorCode::kNonFinite);
  CHECK(refusal({MetricKind::kTopkPsnr, 1}, {1, kNaN}, {1, 2}, 2) == ErrorCode::kNonFinite);
  CHECK(score({MetricKind::kTopkPsnr, 1}, {1, 2}, {1, kNaN}, 2) == -100);
}

TEST_CASE("SQNR, cosine and MSE are over all values", "[sensitivity][metric]") {
  const Values expected{3, 4};
  const Values actual{4, 4};
  CHECK(score(MetricKind::kSqnr, expected, actual, 2) == Catch::Approx(10 * std::log10(25.0)).epsilon(1e-12));
  CHECK(score(MetricKind::kCosine, expected, actual, 2) ==
        Catch::Approx(28 / (5 * std::sqrt(32.0))).epsilon(1e-12));
  CHECK(score(MetricKind::kMse, expected, actual, 2) == 0.5);
  CHECK(score(MetricKind::kSqnr, expected, expected, 2) == 100);
  CHECK(score(MetricKind::kSqnr, {0, 0}, {0, 0}, 2) == 100);
  CHECK(score(MetricKind::kSqnr, {0, 0}, {0, 1}, 2) == -100);
  CHECK(score(MetricKind::kSqnr, {1e-20F}, {1}, 1) == -100);
  CHECK(score(MetricKind::kCosine, {1, 2}, {-2, -4}, 2) == Catch::Approx(-1).epsilon(1e-15));
  CHECK(score(MetricKind::kCosine, {0, 0}, {0, 0}, 2) == 1);
  CHECK(score(MetricKind::kCosine, {0, 0}, {1, 0}, 2) == 0);
}

TEST_CASE("KL is of the softmax of rows, in nats, and 0 for equal rows", "[sensitivity][metric]") {
  // p = (1/4, 3/4), q = (1/2, 1/2): p0 ln(p0/q0) + p1 ln(p1/q1).
  const double one_row = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
  const auto log3 = static_cast<float>(std::log(3.0));
  CHECK(score(MetricKind::kKl, {0, log3}, {5, 5}, 2) == Catch::Approx(one_row).epsilon(1e-6));
  // The mean over rows; the second one's softmax is the same in spite of a shift.
  CHECK(score(MetricKind::kKl, {0, log3, 1, 2}, {5, 5, 3, 4}, 2) == Catch::Approx(one_row / 2).epsilon(1e-6));
  CHECK(score(MetricKind::kKl, {1000, -1000, 3}, {1000, -1000, 3}, 3) == 0);
  // exp() of these would overflow: p = (1, 0), -log q0 = 2000.
  CHECK(score(MetricKind::kKl, {1000, -1000}, {-1000, 1000}, 2) == 2000);
}

TEST_CASE("Top-1 agreement is the share of rows, and the first of equal values wins",
          "[sensitivity][metric]") {
  const Values expected{1, 2, 2, 0, 5, 1, 3, 3, 3};
  const Values actual{0, 4, 4, 0, 1, 2, 9, 1, 1};
  CHECK(score(MetricKind::kTop1, expected, actual, 3) == Catch::Approx(2.0 / 3).epsilon(1e-15));
  CHECK(score(MetricKind::kTop1, {1, 2}, {kNaN, 2}, 2) == 0);
}

TEST_CASE("Outputs that aren't finite are the worst there is", "[sensitivity][metric]") {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    const Values actual{1, bad};
    CHECK(score(MetricKind::kPsnr, {1, 2}, actual, 2) == -100);
    CHECK(score(MetricKind::kSqnr, {1, 2}, actual, 2) == -100);
    CHECK(score(MetricKind::kCosine, {1, 2}, actual, 2) == -1);
    CHECK(std::isnan(score(MetricKind::kMse, {1, 2}, actual, 2)));
    CHECK(std::isnan(score(MetricKind::kKl, {1, 2}, actual, 2)));
    CHECK(score(MetricKind::kTop1, {1, 2}, actual, 2) == 0);
  }
  // One broken sample of two is enough.
  const MetricTerms good = metric_terms({MetricKind::kSqnr}, Values{1, 2}, Values{1, 2}, 2).value();
  const MetricTerms broken = metric_terms({MetricKind::kSqnr}, Values{1, 2}, Values{1, kNaN}, 2).value();
  CHECK(metric_score(MetricKind::kSqnr, std::vector<MetricTerms>{good, broken}).value() == -100);
}

TEST_CASE("A float model's output has to be finite, and shapes have to fit", "[sensitivity][metric]") {
  for (const MetricKind kind : {MetricKind::kPsnr, MetricKind::kTopkPsnr, MetricKind::kSqnr,
                                MetricKind::kCosine, MetricKind::kMse, MetricKind::kKl, MetricKind::kTop1}) {
    INFO(metric_name(kind));
    CHECK(refusal({kind}, {1, kInfinity}, {1, 2}, 2) == ErrorCode::kNonFinite);
    CHECK(refusal({kind}, {1, 2}, {1, 2, 3}, 2) == ErrorCode::kShapeMismatch);
    CHECK(metric_score(kind, {}).error().code == ErrorCode::kInvalidState);
    const Result<MetricTerms> empty = metric_terms({kind}, Values{}, Values{}, 0);
    REQUIRE(empty.ok());
    CHECK(metric_score(kind, std::vector<MetricTerms>{empty.value()}).error().code ==
          ErrorCode::kInvalidState);
  }
  CHECK(refusal({MetricKind::kKl}, {1, 2, 3}, {1, 2, 3}, 2) == ErrorCode::kShapeMismatch);
  CHECK(refusal({MetricKind::kKl}, {1, 2}, {1, 2}, 0) == ErrorCode::kShapeMismatch);
  CHECK(refusal({MetricKind::kKl}, {1, 2}, {1, 2}, 1) == ErrorCode::kInvalidPolicy);
  CHECK(refusal({MetricKind::kTop1}, {1, 2}, {1, 2}, 1) == ErrorCode::kInvalidPolicy);
}

TEST_CASE("Names, titles and directions of the metrics", "[sensitivity][metric]") {
  const auto direction = [](std::string_view name) {
    const Result<Metric> metric = metric_from_name(name);
    REQUIRE(metric.ok());
    CHECK(metric_name(metric.value().kind) == name);
    return higher_is_worse(metric.value().kind);
  };
  for (const char* name : {"psnr", "topk-psnr", "sqnr", "cosine", "top1"}) CHECK_FALSE(direction(name));
  for (const char* name : {"mse", "kl"}) CHECK(direction(name));
  CHECK(metric_title(metric_from_name("topk-psnr", 5).value()) == "Top5LogitPSNR");
  CHECK(metric_from_name("topk-psnr", 0).error().code == ErrorCode::kInvalidPolicy);
  CHECK(metric_from_name("ssim").error().next.find("cosine") != std::string::npos);
  CHECK(metric_unit(MetricKind::kSqnr) == "dB");
  CHECK(metric_unit(MetricKind::kKl).empty());
}

TEST_CASE("Of several tensors the worst one is the score", "[sensitivity][metric]") {
  const auto terms = [](float error, MetricKind kind) {
    return metric_terms({kind}, Values{1, 2}, Values{1, 2 + error}, 2).value();
  };
  // Two samples of two tensors.
  const std::vector<MetricTerms> errors{terms(0, MetricKind::kMse), terms(2, MetricKind::kMse),
                                        terms(1, MetricKind::kMse), terms(0, MetricKind::kMse)};
  CHECK(metric_score(MetricKind::kMse, errors, 2).value() == 1.0);  // 4 / 4 against 1 / 4
  const std::vector<MetricTerms> decibels{terms(0, MetricKind::kSqnr), terms(2, MetricKind::kSqnr)};
  CHECK(metric_score(MetricKind::kSqnr, decibels, 2).value() == Catch::Approx(10 * std::log10(5.0 / 4)));
  CHECK(std::isnan(worst_score(std::vector<double>{1, std::nan(""), 2}, false)));
  CHECK(worst_score(std::vector<double>{3, 1, 2}, true) == 3);
  // A tensor of which nothing was compared isn't passed over.
  const std::vector<MetricTerms> lacking{terms(0, MetricKind::kMse), MetricTerms{}};
  CHECK(metric_score(MetricKind::kMse, lacking, 2).error().code == ErrorCode::kInvalidState);
}

TEST_CASE("PSNR's terms give the sums of the kernels, bit by bit", "[sensitivity][metric]") {
  const auto seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  double squares = 0;
  double count = 0;
  float low = kInfinity;
  float high = -kInfinity;
  std::vector<MetricTerms> samples;
  for (std::size_t sample = 0; sample < 7; ++sample) {
    Values expected(100 + 13 * sample);
    Values actual(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = normal(random);
      actual[i] = expected[i] + 0.01F * normal(random);
      low = std::min(low, expected[i]);
      high = std::max(high, expected[i]);
    }
    squares +=
        error_sums(FloatView(std::span<const float>(expected)), FloatView(std::span<const float>(actual)))
            .value()
            .error_squares;
    count += static_cast<double>(expected.size());
    samples.push_back(metric_terms({MetricKind::kPsnr}, expected, actual, 1).value());
  }
  const double peak = std::max({static_cast<double>(high) - static_cast<double>(low),
                                std::abs(static_cast<double>(high)), std::abs(static_cast<double>(low))});
  CHECK(metric_score(MetricKind::kPsnr, samples).value() ==
        20.0 * std::log10(peak / std::sqrt(squares / count)));
}

TEST_CASE("The SQNR of AIMET's mixed precision is that of its vector", "[sensitivity][metric]") {
  const Result<double> db = amp_sqnr(Values{1, 2, 3}, Values{1.1F, 1.9F, 3});
  REQUIRE(db.ok());
  CHECK(std::abs(db.value() - 28.386320) < 1e-5);
  CHECK(amp_sqnr(Values{}, Values{}).error().code == ErrorCode::kInvalidState);
  CHECK(amp_sqnr(Values{1}, Values{}).error().code == ErrorCode::kShapeMismatch);
}

}  // namespace
}  // namespace halftone
