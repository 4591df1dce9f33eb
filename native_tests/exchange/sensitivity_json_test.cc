// Results files: ours, to the byte, and AIMET's.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "halftone/exchange.h"
#include "halftone/version.h"

namespace halftone {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) out.push_back(key);
  return out;
}

SensitivityResults full_results() {
  SensitivityResults results;
  results.ranking = {{"b", std::nan(""), "w, x", 3, std::nullopt, std::nullopt},
                     {"a", 1.0 / 3.0, "", 1, Interval{0.25, 0.5}, 3}};
  results.model_sha256 = "m";
  results.plan_sha256 = "p";
  results.encodings_sha256 = "e";
  results.samples_sha256 = "s";
  results.target = "onnxruntime";
  results.method = "minmax";
  results.metric = "topk-psnr";
  results.k = 10;
  results.scored = {"logits"};
  results.samples = 8;
  results.by = "layer";
  results.sweep = "disable";
  results.only = "weights";
  results.groups = 5;
  results.shard = Shard{2, 2};
  results.unsaturated = {"inner"};
  results.partial = true;
  results.skipped = {{"d", "bias"}};
  results.warnings = {{"code", "message", "where"}};
  return results;
}

std::string refusal(const std::string& text) {
  const Result<SensitivityResults> read = sensitivity_from_json(text);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().code == ErrorCode::kInvalidPolicy);
  CHECK_FALSE(read.error().next.empty());
  return read.error().message;
}

TEST_CASE("A results file has its keys in the order of the contract", "[exchange][sensitivity]") {
  const std::string text = sensitivity_to_json(full_results());
  const Json json = Json::parse(text);
  CHECK(keys(json) == std::vector<std::string>{"ranking", "halftone"});
  CHECK(keys(json["halftone"]) ==
        std::vector<std::string>{
            "version", "model_sha256", "plan_sha256", "encodings_sha256", "samples_sha256", "target",
            "method",  "metric",       "k",           "higher_is_worse",  "scored",         "samples",
            "by",      "sweep",        "only",        "interval",         "samples_used",   "order",
            "groups",  "shard",        "unsaturated", "partial",          "skipped",        "warnings"});
  CHECK(json["ranking"][0] == Json{{"rank", 1}, {"name", "b"}, {"score", nullptr}, {"detail", "w, x"}});
  CHECK(json["ranking"][1] == Json{{"rank", 2}, {"name", "a"}, {"score", 1.0 / 3.0}});
  CHECK(json["halftone"]["interval"] == Json::array({nullptr, Json::array({0.25, 0.5})}));
  CHECK(json["halftone"]["samples_used"] == Json::array({8, 3}));
  CHECK(json["halftone"]["order"] == Json::array({3, 1}));
  CHECK(json["halftone"]["version"] == kVersion);
  const Result<SensitivityResults> back = sensitivity_from_json(text);
  REQUIRE(back.ok());
  CHECK(sensitivity_to_json(back.value()) == text);
}

TEST_CASE("What isn't set has no key", "[exchange][sensitivity]") {
  SensitivityResults results;
  results.ranking = {{"a", 1, "", 7, std::nullopt, 4}};
  results.samples = 4;
  results.metric = "psnr";
  const std::string text = sensitivity_to_json(results);
  CHECK(keys(Json::parse(text)["halftone"]) ==
        std::vector<std::string>{"version", "model_sha256", "target", "method", "metric", "higher_is_worse",
                                 "scored", "samples", "by", "interval", "skipped", "warnings"});
  const Result<SensitivityResults> back = sensitivity_from_json(text);
  REQUIRE(back.ok());
  CHECK(sensitivity_to_json(back.value()) == text);
  CHECK_FALSE(back.value().k.has_value());
}

TEST_CASE("AIMET's own file is read as Python writes it", "[exchange][sensitivity]") {
  const Result<SensitivityResults> read = sensitivity_from_json(R"({
  "ranking": [
    {"rank": 1, "name": "NaN, \"Infinity", "score": NaN},
    {"rank": 2, "name": "low", "score": -Infinity, "detail": "w"},
    {"rank": 3, "name": "high", "score": Infinity},
    {"rank": 4, "name": "low", "score": 2.5e1, "extra": [Infinity, -1]}
  ], "made_by": {"name": "someone"}
})");
  REQUIRE(read.ok());
  const std::vector<ScoredSite>& rows = read.value().ranking;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "NaN, \"Infinity");
  CHECK(std::isnan(rows[0].score));
  // Of two rows with one name the last score counts, at the first place.
  CHECK(rows[1].name == "low");
  CHECK(rows[1].score == 25);
  CHECK(rows[1].order == 1);
  CHECK(std::isnan(rows[2].score));
  CHECK(read.value().metric.empty());
  // What we write of it AIMET can read, and we read again the same.
  const std::string ours = sensitivity_to_json(read.value());
  CHECK(sensitivity_to_json(sensitivity_from_json(ours).value()) == ours);
}

TEST_CASE("Files that hold no results are refused in a sentence", "[exchange][sensitivity]") {
  CHECK(refusal("{}") == "The file holds no ranking, so it is no result of a sweep.");
  CHECK(refusal(R"({"ranking": 3})") == "In the sensitivity file, $.ranking is not a list.");
  CHECK(refusal(R"({"ranking": [{"name": "a"}]})") ==
        "In the sensitivity file, $.ranking[0].score is missing.");
  CHECK(refusal(R"({"ranking": [{"name": "a", "score": NaN12}]})") ==
        "The sensitivity file is not valid JSON.");
  CHECK(refusal(R"({"ranking": [{"name": "a", "score": "3"}]})").find("not a number") != std::string::npos);
  const auto block = [](const std::string& entry) {
    return R"({"ranking": [{"name": "a", "score": 1}], "halftone": {)" + entry + "}}";
  };
  CHECK(refusal(block(R"("interval": [null, null])")).find("$.halftone.interval has not one entry") !=
        std::string::npos);
  CHECK(refusal(block(R"("interval": [[1]])")).find("pair of numbers") != std::string::npos);
  CHECK(refusal(block(R"("order": [])")).find("$.halftone.order has not one entry") != std::string::npos);
  CHECK(refusal(block(R"("samples_used": [1.5])")).find("samples_used") != std::string::npos);
  CHECK(refusal(block(R"("shard": {"index": 0, "count": 2})")).find("$.halftone.shard.index") !=
        std::string::npos);
  CHECK(refusal(block(R"("k": 0)")).find("$.halftone.k") != std::string::npos);
  // A file of version 0.1.0, from before intervals.
  CHECK(sensitivity_from_json(block(R"("interval": [], "metric": "psnr")")).ok());
}

}  // namespace
}  // namespace halftone
