// AIMET's configuration files.
#include <catch2/catch_all.hpp>
#include <string>

#include "halftone/exchange.h"
#include "support/model_builder.h"

namespace halftone::test {
namespace {

AimetConfig read(std::string_view json) {
  Result<AimetConfig> config = aimet_config_from_json(json);
  INFO((config.ok() ? "" : config.error().message));
  REQUIRE(config.ok());
  return std::move(config).value();
}

Error refusal(std::string_view json) {
  const Result<AimetConfig> config = aimet_config_from_json(json);
  REQUIRE_FALSE(config.ok());
  CHECK(config.error().code == ErrorCode::kInvalidPolicy);
  CHECK_FALSE(config.error().next.empty());
  return config.error();
}

bool same(const AimetSettings& a, const AimetSettings& b) {
  return a.input_quantized == b.input_quantized && a.output_quantized == b.output_quantized &&
         a.quantized == b.quantized && a.symmetric == b.symmetric && a.per_channel == b.per_channel &&
         a.range.has_value() == b.range.has_value();
}

bool same(const AimetSections& a, const AimetSections& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.first == other.first && same(one.second, other.second);
  });
}

}  // namespace

TEST_CASE("The default configuration is what its file says", "[exchange][aimet]") {
  const std::vector<std::uint8_t> bytes = golden_file("aimet_default_config.json");
  const AimetConfig config = read({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const AimetConfig& built = default_aimet_config();
  CHECK(config.warnings.empty());
  CHECK(same(config.ops, built.ops));
  CHECK(same(config.parameters, built.parameters));
  CHECK(config.strict_symmetric == built.strict_symmetric);
  CHECK(config.unsigned_symmetric == built.unsigned_symmetric);
  CHECK(config.per_channel == built.per_channel);
  CHECK(same(config.parameters_by_role, built.parameters_by_role));
  CHECK(same(config.op_types, built.op_types));
  CHECK(config.supergroups == built.supergroups);
  CHECK(config.matmul_add == built.matmul_add);
  CHECK(same(config.model_input, built.model_input));
  CHECK(same(config.model_output, built.model_output));
}

TEST_CASE("Every section of a configuration is read", "[exchange][aimet]") {
  const AimetConfig config = read(R"({
    "defaults": {"ops": {"is_output_quantized": true}, "params": {"is_quantized": "False"},
                 "strict_symmetric": "True", "unsigned_symmetric": "True", "per_channel_quantization": "True"},
    "params": {"weight": {"is_quantized": "True", "is_symmetric": "False"}},
    "op_type": {"Softmax": {"is_output_quantized": "True", "encoding_constraints": {"min": 0, "max": 1}},
                "Gemm": {"is_input_quantized": "True", "params": {"bias": {"is_quantized": "True"}}}},
    "supergroups": [{"op_list": ["Conv", "BatchNormalization", "Relu"]}],
    "supergroup_pass_list": ["MatmulAdd"],
    "model_output": {"is_output_quantized": "False"}})");
  CHECK(config.warnings.empty());
  CHECK(config.ops.output_quantized == true);
  CHECK_FALSE(config.ops.symmetric.has_value());
  CHECK(config.parameters.quantized == false);
  CHECK(config.strict_symmetric);
  CHECK(config.unsigned_symmetric);
  CHECK(config.per_channel);
  CHECK(config.parameters_by_role.at("weight").symmetric == false);
  CHECK(config.parameters_by_role.at("Gemm/bias").quantized == true);
  CHECK(config.op_types.at("Gemm").input_quantized == true);
  REQUIRE(config.op_types.at("Softmax").range.has_value());
  CHECK(config.op_types.at("Softmax").range->max == 1.0F);
  CHECK(config.supergroups == std::vector<std::vector<std::string>>{{"Conv", "BatchNormalization", "Relu"}});
  CHECK(config.matmul_add);
  CHECK(config.model_output.output_quantized == false);
}

TEST_CASE("Keys that are unknown or not followed are named", "[exchange][aimet]") {
  const AimetConfig config = read(R"({
    "defaults": {"hw_version": "V73", "supported_kernels": [], "ops": {"is_quantized": "True"}},
    "op_type": {"Relu": {"encoding_constraints": {"min": 0}, "colour": "blue"}},
    "supergroup_pass_list": ["LayernormFusion"], "comment": 1})");
  REQUIRE(config.warnings.size() == 7);
  const auto says = [&](std::size_t i, std::string_view code, std::string_view where) {
    CHECK(config.warnings[i].code == code);
    CHECK(config.warnings[i].where == where);
    CHECK(config.warnings[i].message.find(where) != std::string::npos);
  };
  says(0, "config_not_followed", "$.defaults.hw_version");
  says(1, "config_not_followed", "$.defaults.supported_kernels");
  // Known elsewhere, without a meaning here.
  says(2, "config_key_unknown", "$.defaults.ops.is_quantized");
  says(3, "config_not_followed", "$.op_type.Relu.encoding_constraints");
  says(4, "config_key_unknown", "$.op_type.Relu.colour");
  says(5, "config_not_followed", "$.supergroup_pass_list");
  CHECK(config.warnings[5].message.find("LayernormFusion") != std::string::npos);
  says(6, "config_key_unknown", "$.comment");
}

TEST_CASE("A bad configuration is refused in one sentence with its path", "[exchange][aimet]") {
  CHECK(refusal(R"({"defaults": {"ops": {"is_output_quantized": "yes"}}})").message ==
        "In the AIMET configuration, $.defaults.ops.is_output_quantized is not \"True\" or \"False\".");
  CHECK(refusal(R"({"defaults": 3})").where == "$.defaults");
  CHECK(refusal(R"({"op_type": {"Conv": []}})").where == "$.op_type.Conv");
  CHECK(refusal(R"({"supergroups": {}})").where == "$.supergroups");
  CHECK(refusal(R"({"supergroups": [["Conv", "Relu"]]})").where == "$.supergroups[0]");
  CHECK(refusal(R"({"supergroups": [{"op_list": ["Conv"]}]})").message.find("2 to 16") != std::string::npos);
  CHECK(refusal(R"({"supergroups": [{"op_list": ["Conv", 1]}]})").where == "$.supergroups[0].op_list");
  CHECK(refusal(R"({"op_type": {"Tanh": {"encoding_constraints": {"min": 1, "max": -1}}}})")
            .message.find("above") != std::string::npos);
  CHECK(refusal(R"({"op_type": {"Tanh": {"encoding_constraints": {"min": "0", "max": 1}}}})")
            .message.find("finite") != std::string::npos);
  CHECK(refusal("[]").code == ErrorCode::kInvalidPolicy);
  CHECK(refusal(R"({"defaults": )").code == ErrorCode::kInvalidPolicy);
  std::string many = R"({"supergroups": [)";
  for (int i = 0; i < 257; ++i) many += std::string(i > 0 ? "," : "") + R"({"op_list":["Conv","Relu"]})";
  CHECK(refusal(many + "]}").message.find("256") != std::string::npos);
}

}  // namespace halftone::test
