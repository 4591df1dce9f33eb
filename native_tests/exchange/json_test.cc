#include <bit>
#include <catch2/catch_all.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

#include "exchange/json_text.h"
#include "halftone/exchange.h"
#include "halftone/version.h"

namespace halftone {
namespace {

const FileFacts kFile{"m.onnx", "abc123"};

TEST_CASE("A float32 is written as the shortest text that reads back to it", "[exchange]") {
  const auto text_of = [](float value) { return json_text(float_json(value)); };
  CHECK(text_of(0.1F) == "0.1\n");
  CHECK(text_of(1.0F / 3.0F) == "0.33333334\n");
  CHECK(text_of(16777216.0F) == "16777216\n");
  CHECK(float_json(std::numeric_limits<float>::quiet_NaN()).is_null());
  CHECK(float_json(-std::numeric_limits<float>::infinity()).is_null());
  const auto seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    const std::string text = text_of(value);
    INFO(text);
    // Nine digits always suffice for a float32; sign, point, "e-45" and the line end come on top.
    CHECK(text.size() <= 9 + 6 + 1);
    CHECK(std::bit_cast<std::uint32_t>(std::strtof(text.c_str(), nullptr)) ==
          std::bit_cast<std::uint32_t>(value));
  }
}

Plan small_plan() {
  Plan plan;
  plan.options.exclude = {"op:Gemm"};
  Site weight;
  weight.tensor = "w\"<b>\n";
  weight.role = Role::kWeight;
  weight.quantized = true;
  weight.format = NumberFormat::kInt8;
  weight.granularity = Granularity::kChannel;
  weight.axis = 0;
  weight.symmetric = true;
  weight.rule = "weight_per_channel";
  weight.why = "Second input of Conv.";
  weight.consumers = {{"conv", 1}, {"@y", 1}};
  Site bias;
  bias.tensor = "b";
  bias.role = Role::kBias;
  bias.format = NumberFormat::kInt32;
  bias.bias_of = BiasOf{"x", "w"};
  plan.sites = {weight, bias};
  plan.inputs = {InputDecision{"conv", "Conv", 1, "w", true, "weight_per_channel", "why", std::nullopt}};
  plan.warnings = {Warning{"pattern_unused", "message", "op:Gemm"}};
  return plan;
}

TEST_CASE("A plan survives its file", "[exchange]") {
  const std::string text = plan_to_json(small_plan(), kFile);
  const Result<Plan> back = plan_from_json(text);
  REQUIRE(back.ok());
  CHECK(plan_to_json(back.value(), kFile) == text);
  CHECK(back.value().opset_needed ==
        13);  // per-channel scales; not in the file, since it follows from the sites
  const Site& weight = back.value().sites.at(0);
  CHECK(weight.tensor == "w\"<b>\n");
  CHECK(weight.consumers.at(1).node == "@y");
  CHECK(back.value().sites.at(1).bias_of->activation == "x");
  const Json json = Json::parse(text);
  CHECK(json["halftone"] == kVersion);
  CHECK(json["sites"][1]["axis"].is_null());
  CHECK(json["match"].is_null());
}

TEST_CASE("A plan file's faults are named by path", "[exchange]") {
  const auto fault_of = [](const std::string& text) {
    const Result<Plan> plan = plan_from_json(text);
    REQUIRE_FALSE(plan.ok());
    CHECK(plan.error().code == ErrorCode::kInvalidPolicy);
    CHECK_FALSE(plan.error().next.empty());
    return plan.error().where;
  };
  CHECK(fault_of("{").empty());
  CHECK(fault_of("[]") == "$");
  CHECK(fault_of("{}") == "$.target");
  CHECK(fault_of(R"({"target": "onnxruntime", "sites": 3})") == "$.sites");
  CHECK(fault_of(R"({"target": "onnxruntime", "sites": [{"tensor": 1}]})") == "$.sites[0].tensor");
  CHECK(fault_of(R"({"target": "nowhere", "sites": []})").empty() == false);
  CHECK_FALSE(plan_from_json(std::string(100000, '[')).ok());
  CHECK_FALSE(plan_from_json("").ok());
  Json json = Json::parse(plan_to_json(small_plan(), kFile));
  json["sites"][0]["axis"] = 1e300;
  CHECK(fault_of(json.dump()) == "$.sites[0].axis");
  json["sites"][0]["axis"] = std::numeric_limits<std::uint64_t>::max();
  CHECK(fault_of(json.dump()) == "$.sites[0].axis");
}

TEST_CASE("A plan file whose options contradict its target is refused", "[exchange]") {
  const auto refused = [](const std::string& target, const char* option, const Json& value) {
    Json json = Json::parse(plan_to_json(small_plan(), kFile));
    json["target"] = target;
    if (target == "tensorrt") json["options"] = Json::object();
    (std::string_view(option) == "match" ? json : json["options"])[option] = value;
    const Result<Plan> plan = plan_from_json(json.dump());
    REQUIRE_FALSE(plan.ok());
    CHECK(plan.error().code == ErrorCode::kInvalidPolicy);
    CHECK(plan.error().where == option);
    CHECK_FALSE(plan.error().next.empty());
  };
  refused("tensorrt", "match", "nobody");
  refused("tensorrt", "activations", "int4");
  refused("tensorrt", "activations_symmetric", false);
  refused("onnxruntime", "match", "modelopt");
  refused("onnxruntime", "direct_io", true);
  refused("onnxruntime", "concat_groups", false);
}

TEST_CASE("Encodings survive their file bit for bit, in order", "[exchange]") {
  Encodings encodings;
  encodings.set("z", Encoding{NumberFormat::kUint8, -1, {0.1F}, {128}, {-1.5F}, {2.5F}});
  encodings.set("a", Encoding{NumberFormat::kInt8, 1, {1.0F / 3.0F, 1e-30F}, {0, 0}, {-1, -2}, {1, 2}});
  encodings.set("bias", Encoding{NumberFormat::kInt32, 0, {3e-40F, 1e-5F}, {0, 0}, {}, {}});
  encodings.set("f8",
                Encoding{NumberFormat::kFloat8E4M3Fn, 0, {0.034720067F, 1.0F}, {0, 0}, {-1.25F, 0}, {1, 0}});
  const std::string text = encodings_to_json(encodings, kFile, "minmax", 8);
  const Result<Encodings> back = encodings_from_json(text);
  REQUIRE(back.ok());
  CHECK(encodings_to_json(back.value(), kFile, "minmax", 8) == text);
  CHECK(back.value().all()[0].first == "z");
  CHECK(back.value().find("a")->scale == encodings.find("a")->scale);
  CHECK(back.value().find("bias")->scale == encodings.find("bias")->scale);
  CHECK(back.value().find("f8")->format == NumberFormat::kFloat8E4M3Fn);
  CHECK(back.value().find("f8")->scale == encodings.find("f8")->scale);
  CHECK(text.find("\"float8e4m3fn\"") != std::string::npos);
  CHECK(back.value().find("missing") == nullptr);
}

TEST_CASE("Encodings that no quantizer could use are refused", "[exchange]") {
  const auto refused = [](const std::string& encoding, const std::string& where) {
    const Result<Encodings> read = encodings_from_json(R"({"encodings": {"t": )" + encoding + "}}");
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().where == where);
  };
  const std::string base = "$.encodings[\"t\"]";
  refused(R"({"format": "int9", "scale": [1], "zero_point": [0]})", base + ".format");
  refused(R"({"format": "int8", "scale": [], "zero_point": []})", base + ".scale");
  refused(R"({"format": "int8", "scale": [0], "zero_point": [0]})", base + ".scale");
  refused(R"({"format": "int8", "scale": [null], "zero_point": [0]})", base + ".scale");
  refused(R"({"format": "int8", "scale": [1e-40], "zero_point": [0]})", base + ".scale");
  refused(R"({"format": "int32", "scale": [1e-60], "zero_point": [0]})", base + ".scale");
  refused(R"({"format": "int8", "scale": [1, 2], "zero_point": [0, 0]})", base + ".axis");
  refused(R"({"format": "int8", "scale": [1], "zero_point": [128]})", base + ".zero_point");
  refused(R"({"format": "int8", "scale": [1], "zero_point": []})", base + ".zero_point");
  refused(R"({"format": "int8", "scale": [1], "zero_point": [0], "min": [1, 2]})", base + ".min");
}

TEST_CASE("Sensitivity results keep AIMET's shape and survive their file", "[exchange]") {
  SensitivityResults results;
  results.ranking = {
      {"a", 12.25, ""}, {"b", std::numeric_limits<double>::quiet_NaN(), "weight"}, {"c", 1.0 / 3.0, ""}};
  results.metric = "psnr";
  results.by = "quantizer";
  results.samples = 8;
  results.scored = {"logits"};
  results.skipped = {{"d", "bias"}};
  const std::string text = sensitivity_to_json(results);
  const Json json = Json::parse(text);
  CHECK(json["ranking"][0]["rank"] == 1);
  CHECK(json["ranking"][0].contains("detail") == false);
  CHECK(json["ranking"][1]["score"].is_null());
  CHECK(json["ranking"][2]["score"].get<double>() == 1.0 / 3.0);
  const Result<SensitivityResults> back = sensitivity_from_json(text);
  REQUIRE(back.ok());
  CHECK(sensitivity_to_json(back.value()) == text);
  // A file that AIMET itself wrote has no block of ours.
  const Result<SensitivityResults> foreign =
      sensitivity_from_json(R"({"ranking": [{"rank": 1, "name": "q", "score": 3}], "other": 1})");
  REQUIRE(foreign.ok());
  CHECK(foreign.value().ranking.at(0).score == 3.0);
}

TEST_CASE("Names that are not UTF-8 don't stop a file from being written", "[exchange]") {
  Plan plan = small_plan();
  plan.sites[0].tensor = "bad\xFF name";
  CHECK(Json::parse(plan_to_json(plan, kFile))["sites"][0]["tensor"] == "bad\xEF\xBF\xBD name");
}

}  // namespace
}  // namespace halftone
