#include <algorithm>
#include <catch2/catch_all.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "halftone/observer.h"

namespace halftone {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("An observer that saw nothing has an empty range", "[calibrate][observer]") {
  MinMaxObserver observer;
  observer.observe({});
  CHECK(observer.range().empty());
  CHECK(observer.values() == 0);
  MinMaxObserver other;
  other.observe(std::vector<float>{2.0F, -3.0F});
  observer.merge(other);
  CHECK(observer.range().min == -3.0F);
  CHECK(observer.range().max == 2.0F);
}

TEST_CASE("NaN and infinities are counted, located and kept out of the range", "[calibrate][observer]") {
  MinMaxObserver observer;
  observer.observe(std::vector<float>{1, 2});
  observer.observe(std::vector<float>{0.5F, std::numeric_limits<float>::quiet_NaN(), kInfinity, 4});
  CHECK(observer.non_finite() == 2);
  CHECK(observer.first_non_finite() == 1);
  CHECK(observer.range().min == 0.5F);
  CHECK(observer.range().max == 4.0F);
  CHECK(observer.values() == 6);
}

TEST_CASE("Any split and merge order gives the same range to the last bit", "[calibrate][observer]") {
  const auto seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> samples(17);
  float low = kInfinity;
  float high = -kInfinity;
  for (std::vector<float>& sample : samples) {
    sample.resize(random() % 300 + 1);
    for (float& value : sample) {
      value = normal(random);
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  for (int round = 0; round < 8; ++round) {
    std::shuffle(samples.begin(), samples.end(), random);
    std::vector<MinMaxObserver> workers(random() % 4 + 1);
    for (const std::vector<float>& sample : samples) workers[random() % workers.size()].observe(sample);
    std::shuffle(workers.begin(), workers.end(), random);
    MinMaxObserver all;
    for (const MinMaxObserver& worker : workers) all.merge(worker);
    CHECK(all.range().min == low);
    CHECK(all.range().max == high);
  }
}

}  // namespace
}  // namespace halftone
