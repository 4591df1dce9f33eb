// Completing, merging and comparing the results of sweeps.
#include "halftone/sensitivity_results.h"

#include <algorithm>
#include <catch2/catch_all.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "halftone/exchange.h"

namespace halftone {
namespace {

SensitivityResults results_of(std::vector<ScoredSite> rows) {
  SensitivityResults results;
  results.ranking = std::move(rows);
  results.model_sha256 = "aa";
  results.plan_sha256 = "bb";
  results.encodings_sha256 = "cc";
  results.samples_sha256 = "dd";
  results.target = "onnxruntime";
  results.method = "minmax";
  results.metric = "psnr";
  results.scored = {"probabilities"};
  results.samples = 4;
  results.by = "quantizer";
  results.sweep = "enable";
  return results;
}

bool warns_of_clipping(const SensitivityResults& results) {
  return std::any_of(results.warnings.begin(), results.warnings.end(),
                     [](const Warning& warning) { return warning.code == "scores_clipped"; });
}

TEST_CASE("The flipped share of a ranking is AIMET's", "[sensitivity][ranking]") {
  struct Case {
    std::size_t count;
    double percent;
    std::size_t flipped;
  };
  for (const Case& each : {Case{10, 10, 1}, Case{7, 10, 1}, Case{1, 10, 1}, Case{3, 33.4, 2}, Case{20, 5, 1},
                           Case{5, 50.2, 3}, Case{30, 10, 3}, Case{29, 10, 3}, Case{0, 10, 0}, Case{10, 0, 0},
                           Case{10, 150, 10}, Case{10, INFINITY, 10}}) {
    INFO(each.count << " rows, " << each.percent << " %");
    CHECK(flip_count(each.count, each.percent).value() == each.flipped);
  }
  CHECK(flip_count(10, -1).error().code == ErrorCode::kInvalidPolicy);
  CHECK(flip_count(10, std::nan("")).error().code == ErrorCode::kInvalidPolicy);
}

TEST_CASE("Ties rank by the order of the sweep, wherever they come in", "[sensitivity][ranking]") {
  std::vector<ScoredSite> rows = {{"d", 10, "", 3}, {"c", 30, "", 2}, {"b", 10, "", 1}, {"a", 30, "", 0}};
  rank(rows, false);
  std::string names;
  for (const ScoredSite& row : rows) names += row.name;
  CHECK(names == "bdac");
}

TEST_CASE("Results warn once if more than a third of the scores is at the limit", "[sensitivity][results]") {
  SensitivityResults results = results_of({{"a", 100, "", 0}, {"b", 40, "", 1}, {"c", 30, "", 2}});
  results.unsaturated = {"logits", "boxes"};
  complete_results(results);
  CHECK_FALSE(warns_of_clipping(results));
  results.ranking[0].score = -100;
  complete_results(results);
  complete_results(results);
  REQUIRE(results.warnings.size() == 1);
  CHECK(
      results.warnings[0].message ==
      "2 of 3 scores are at the limit of 100 dB and tell nothing. Score logits, boxes instead, which do not "
      "saturate.");
  CHECK(results.warnings[0].where == "probabilities");
  results.unsaturated = {"logits"};
  complete_results(results);
  CHECK(results.warnings[0].message.ends_with("Score logits instead, which does not saturate."));
  results.unsaturated = {};
  complete_results(results);
  CHECK(results.warnings[0].message.ends_with("Score a tensor nearer to the quantizers."));
  // 100 is no limit of other metrics.
  results.metric = "mse";
  complete_results(results);
  CHECK(results.warnings.empty());
}

std::vector<ScoredSite> random_rows(std::mt19937& random, std::size_t count) {
  std::vector<ScoredSite> rows;
  for (std::size_t i = 0; i < count; ++i) {
    ScoredSite row{"t" + std::to_string(i), static_cast<double>(random() % 5) * 25, "",
                   static_cast<std::int64_t>(i)};
    if (random() % 8 == 0) row.score = std::nan("");
    if (random() % 2 == 0) row.interval = Interval{row.score - 1, row.score + 1};
    if (random() % 4 == 0) row.samples = 2;
    if (random() % 4 == 0) row.detail = "a, b";
    rows.push_back(row);
  }
  return rows;
}

std::vector<SensitivityResults> shards_of(const SensitivityResults& whole, std::int64_t count) {
  std::vector<SensitivityResults> shards;
  for (std::int64_t index = 1; index <= count; ++index) {
    SensitivityResults shard = whole;
    shard.shard = Shard{index, count};
    shard.groups = static_cast<std::int64_t>(whole.ranking.size());
    std::erase_if(shard.ranking, [&](const ScoredSite& row) { return row.order % count != index - 1; });
    complete_results(shard);
    shards.push_back(shard);
  }
  return shards;
}

TEST_CASE("Shards of a random sweep, through their files, merge to what one run writes",
          "[sensitivity][results]") {
  const auto seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  bool warned = false;
  for (int round = 0; round < 60; ++round) {
    SensitivityResults whole = results_of(random_rows(random, random() % 20));
    // One that warns is always among them.
    if (round == 0) whole = results_of({{"a", 100, "", 0}, {"b", 100, "", 1}, {"c", 30, "", 2}});
    whole.higher_is_worse = random() % 2 == 0;
    whole.unsaturated = {"logits"};
    whole.skipped = {{"bias", "A bias is never scored alone."}};
    whole.warnings = {{"few_samples", "Only four samples.", ""}};
    std::vector<SensitivityResults> shards;
    for (const SensitivityResults& shard : shards_of(whole, 1 + static_cast<std::int64_t>(random() % 4))) {
      const std::string file = sensitivity_to_json(shard);
      CHECK(file.find("scores_clipped") == std::string::npos);
      const Result<SensitivityResults> read = sensitivity_from_json(file);
      REQUIRE(read.ok());
      CHECK(sensitivity_to_json(read.value()) == file);
      shards.push_back(read.value());
    }
    std::shuffle(shards.begin(), shards.end(), random);
    complete_results(whole);
    warned = warned || warns_of_clipping(whole);
    const Result<SensitivityResults> merged = merge_results(shards);
    REQUIRE(merged.ok());
    CHECK(sensitivity_to_json(merged.value()) == sensitivity_to_json(whole));
  }
  CHECK(warned);
}

TEST_CASE("Merging refuses what isn't one sweep, and says what and where", "[sensitivity][results]") {
  const SensitivityResults whole =
      results_of({{"a", 1, "", 0}, {"b", 2, "", 1}, {"c", 3, "", 2}, {"d", 4, "", 3}, {"e", 5, "", 4}});
  const std::vector<SensitivityResults> good = shards_of(whole, 3);
  REQUIRE(merge_results(good).ok());
  const auto refused = [&](const std::function<void(std::vector<SensitivityResults>&)>& spoil) {
    std::vector<SensitivityResults> shards = good;
    spoil(shards);
    const Result<SensitivityResults> merged = merge_results(shards);
    REQUIRE_FALSE(merged.ok());
    CHECK(merged.error().code == ErrorCode::kInvalidPolicy);
    CHECK_FALSE(merged.error().next.empty());
    return merged.error().message;
  };
  CHECK(refused([](auto& s) { s.clear(); }) == "There is nothing to merge.");
  CHECK(refused([](auto& s) { s[1].model_sha256 = "x"; }) == "File 2 is of another model than file 1.");
  CHECK(refused([](auto& s) { s[2].plan_sha256 = "x"; }) == "File 3 is of another plan than file 1.");
  CHECK(refused([](auto& s) { s[1].encodings_sha256 = "x"; }).find("encodings") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].samples_sha256 = "x"; }).find("set of samples") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].metric = "mse"; }).find("metric") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].k = 5; }).find("another k") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].by = "layer"; }).find("grouping") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].sweep = "disable"; }).find("sweep") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].only = "weights"; }).find("quantizers") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].target = "tensorrt"; }).find("target") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].scored = {"other"}; }).find("scored") != std::string::npos);
  CHECK(refused([](auto& s) { s[1].groups = 6; }) == "File 2 divides the sweep otherwise than file 1.");
  CHECK(refused([](auto& s) { s[1].shard->count = 4; }) == "File 2 divides the sweep otherwise than file 1.");
  CHECK(refused([](auto& s) { s.pop_back(); }) == "Shard 3 of 3 is missing.");
  CHECK(refused([](auto& s) { s[1] = s[0]; }) == "File 2 is shard 1, which is there already.");
  CHECK(refused([](auto& s) { s.push_back(s[0]); }) == "File 4 is shard 1, which is there already.");
  CHECK(refused([](auto& s) { s[1].shard->index = 4; }) == "File 2 is shard 4 of 3.");
  CHECK(refused([](auto& s) { s[1].partial = true; }) == "File 2 is of a sweep that was stopped.");
  CHECK(refused([](auto& s) { s[0].shard.reset(); }) == "File 1 holds no shard of a sweep.");
  CHECK(refused([](auto& s) { s[0].ranking.pop_back(); }) == "File 1 has 1 of 2 rows.");
  CHECK(refused([](auto& s) { s[0].ranking[0].order = 1; }) ==
        "File 1 has a row that isn't of its shard: a.");
  CHECK(refused([](auto& s) { s[0].ranking[1].order = 0; }) == "File 1 has two rows with one order: d.");
  CHECK(refused([](auto& s) { s[1].ranking[0].name = "a"; }) ==
        "File 2 has a row that an earlier file has, too: a.");
}

TEST_CASE("A part of a sweep that was stopped keeps the number of groups", "[sensitivity][results]") {
  SensitivityResults part = results_of({{"b", 2, "", 1}});
  part.groups = 5;
  part.partial = true;
  complete_results(part);
  CHECK(part.groups == 5);
  part.partial = false;
  complete_results(part);
  CHECK_FALSE(part.groups.has_value());
}

TEST_CASE("Two results compare row by row", "[sensitivity][results]") {
  SensitivityResults before = results_of({{"a", 10, ""}, {"b", 20, ""}, {"gone", 30, ""}});
  SensitivityResults after = results_of({{"b", 15, ""}, {"new", 16, ""}, {"a", std::nan(""), ""}});
  const Result<ResultsComparison> compared = compare_results(before, after);
  REQUIRE(compared.ok());
  const ResultsComparison& result = compared.value();
  REQUIRE(result.both.size() == 2);
  CHECK(result.both[0].name == "b");
  CHECK(result.both[0].difference() == -5.0);
  CHECK(result.both[0].rank_before == 2);
  CHECK(result.both[0].rank_after == 1);
  CHECK(std::isnan(result.both[1].difference().value()));
  REQUIRE(result.only_before.size() == 1);
  CHECK(result.only_before[0].name == "gone");
  CHECK(result.only_before[0].rank_before == 3);
  CHECK_FALSE(result.only_before[0].in_both());
  REQUIRE(result.only_after.size() == 1);
  CHECK(result.only_after[0].after == 16.0);
  CHECK(result.warnings.empty());
  const std::string json = comparison_to_json(result);
  CHECK(json.find("\"difference\": -5") != std::string::npos);
  CHECK(
      json.find(
          "\"only_before\": [\n    {\n      \"name\": \"gone\",\n      \"score\": 30,\n      \"rank\": 3") !=
      std::string::npos);
}

TEST_CASE("Results of different metrics don't compare; those of other samples warn",
          "[sensitivity][results]") {
  const SensitivityResults before = results_of({{"a", 10, ""}});
  SensitivityResults after = before;
  after.metric = "mse";
  CHECK(compare_results(before, after).error().message ==
        "The results are of different metrics, psnr and mse.");
  after.metric = "psnr";
  after.higher_is_worse = true;
  CHECK(compare_results(before, after).error().code == ErrorCode::kInvalidPolicy);
  after = before;
  after.samples_sha256 = "x";
  after.plan_sha256 = "x";
  const Result<ResultsComparison> compared = compare_results(before, after);
  REQUIRE(compared.ok());
  REQUIRE(compared.value().warnings.size() == 1);
  CHECK(compared.value().warnings[0].where == "set of samples");
  // AIMET's files say nothing of a metric.
  SensitivityResults foreign;
  foreign.ranking = {{"a", 9, ""}};
  REQUIRE(compare_results(foreign, before).ok());
  CHECK(compare_results(foreign, before).value().metric == "psnr");
}

}  // namespace
}  // namespace halftone
