#include "halftone/tensor_report.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

namespace halftone {
namespace {

Encoding int8_tensor(float scale) {
  Encoding encoding;
  encoding.format = NumberFormat::kInt8;
  encoding.scale = {scale};
  encoding.zero_point = {0};
  return encoding;
}

TensorReporter made(MinMax range, std::size_t bins, std::optional<Encoding> encoding) {
  Result<TensorReporter> reporter = TensorReporter::create(range, bins, std::move(encoding));
  REQUIRE(reporter.ok());
  return std::move(reporter).value();
}

TEST_CASE("a tensor report counts values into equal bins over all samples", "[calibrate]") {
  TensorReporter reporter = made({0.0F, 4.0F}, 4, std::nullopt);
  const std::vector<float> first = {0.0F, 0.5F, 1.0F, 4.0F};
  const std::vector<float> second = {3.5F, 2.0F};
  REQUIRE(reporter.add(std::span<const float>(first), std::vector<std::int64_t>{4}).ok());
  REQUIRE(reporter.add(std::span<const float>(second), std::vector<std::int64_t>{2}).ok());
  const TensorReport report = reporter.report();
  CHECK(report.count == 6);
  CHECK(report.histogram == std::vector<std::uint64_t>{2, 1, 1, 2});
  CHECK_FALSE(report.clipped.has_value());
  CHECK_FALSE(report.sqnr.has_value());
}

TEST_CASE("a tensor report counts what the encoding clips and the noise it adds", "[calibrate]") {
  // Scale 1: codes reach -128 to 127, and half a step beyond is rounding. 127.6 and -129 are clipped.
  TensorReporter reporter = made({-129.0F, 127.6F}, 8, int8_tensor(1.0F));
  const std::vector<float> values = {127.4F, 127.6F, -128.5F, -129.0F};
  REQUIRE(reporter.add(std::span<const float>(values), std::vector<std::int64_t>{4}).ok());
  const TensorReport report = reporter.report();
  CHECK(report.clipped == 0.5);
  double noise = 0;
  double signal = 0;
  const std::vector<float> codes = {127.0F, 127.0F, -128.0F, -128.0F};
  for (std::size_t i = 0; i < values.size(); ++i) {
    signal += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    const double error = static_cast<double>(values[i]) - static_cast<double>(codes[i]);
    noise += error * error;
  }
  REQUIRE(report.sqnr.has_value());
  CHECK(*report.sqnr == Catch::Approx(10 * std::log10(signal / noise)).epsilon(1e-12));
}

TEST_CASE("a tensor report uses each channel's own scale", "[calibrate]") {
  Encoding encoding = int8_tensor(1.0F);
  encoding.axis = 1;
  encoding.scale = {1.0F, 0.01F};
  encoding.zero_point = {0, 0};
  TensorReporter reporter = made({0.0F, 100.0F}, 2, encoding);
  const std::vector<float> values = {100.0F, 100.0F, 3.0F,
                                     1.0F};  // [2, 2]: the second column reaches 1.27 only
  REQUIRE(reporter.add(std::span<const float>(values), std::vector<std::int64_t>{2, 2}).ok());
  CHECK(reporter.report().clipped == 0.25);
}

TEST_CASE("a tensor report knows how far float8 reaches", "[calibrate][float8]") {
  Encoding encoding = int8_tensor(0.5F);
  encoding.format = NumberFormat::kFloat8E4M3Fn;
  TensorReporter reporter = made({-300.0F, 300.0F}, 4, encoding);
  // 448 and half of the last step, 16, at a scale of 0.5: 232.
  const std::vector<float> values = {224.0F, 232.0F, 232.5F, -231.0F, -232.5F, 0.0F, 1.0F, 17.0F};
  REQUIRE(reporter.add(std::span<const float>(values), std::vector<std::int64_t>{8}).ok());
  CHECK(reporter.report().clipped == 0.25);
  // Exact: 224, 0 and 1. 17 is at the midpoint of 16 and 18 (codes 0x60 and 0x61).
  const double noise = 8.0 * 8.0 + 8.5 * 8.5 + 7.0 * 7.0 + 8.5 * 8.5 + 1.0;
  double signal = 0;
  for (const float value : values) signal += static_cast<double>(value) * static_cast<double>(value);
  REQUIRE(reporter.report().sqnr.has_value());
  CHECK(*reporter.report().sqnr == Catch::Approx(10 * std::log10(signal / noise)).epsilon(1e-12));
}

TEST_CASE("a tensor report of equal values has them all in its first bin", "[calibrate]") {
  TensorReporter reporter = made({2.0F, 2.0F}, 3, std::nullopt);
  const std::vector<float> values = {2.0F, 2.0F};
  REQUIRE(reporter.add(std::span<const float>(values), std::vector<std::int64_t>{2}).ok());
  CHECK(reporter.report().histogram == std::vector<std::uint64_t>{2, 0, 0});
}

TEST_CASE("a tensor report refuses what it can't show", "[calibrate]") {
  CHECK(TensorReporter::create({0.0F, 1.0F}, 0, std::nullopt).error().code == ErrorCode::kInvalidPolicy);
  CHECK(TensorReporter::create({0.0F, 1.0F}, 65537, std::nullopt).error().code == ErrorCode::kInvalidPolicy);
  CHECK(TensorReporter::create(MinMax{}, 8, std::nullopt).error().code == ErrorCode::kNonFinite);
  Encoding encoding = int8_tensor(1.0F);
  encoding.axis = 3;
  TensorReporter reporter = made({0.0F, 1.0F}, 8, encoding);
  const std::vector<float> values = {1.0F};
  CHECK(reporter.add(std::span<const float>(values), std::vector<std::int64_t>{1}).error().code ==
        ErrorCode::kShapeMismatch);
}

}  // namespace
}  // namespace halftone
