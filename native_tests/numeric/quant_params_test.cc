// Scales and zero points, against onnxruntime's own answers and by hand. Equality everywhere.
#include <catch2/catch_all.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "halftone/quant_params.h"

namespace halftone {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

QuantParams params(NumberFormat format, Symmetry symmetry, float min, float max) {
  const Result<QuantParams> result = params_from_range(format, symmetry, {min, max});
  REQUIRE(result.ok());
  return result.value();
}

TEST_CASE("Scales and zero points equal onnxruntime's for the ranges of real samples", "[numeric][golden]") {
  std::ifstream file(std::string(HALFTONE_GOLDEN_DIR) + "/ranges_onnxruntime.json");
  REQUIRE(file.good());
  const nlohmann::json cases = nlohmann::json::parse(file);
  for (const nlohmann::json& c : cases) {
    INFO(c.dump());
    const NumberFormat format = number_format_from_name(c["format"].get<std::string>()).value();
    const Symmetry symmetry = c["symmetric"].get<bool>() ? Symmetry::kSymmetric : Symmetry::kAsymmetric;
    const QuantParams got = params(format, symmetry, c["min"].get<float>(), c["max"].get<float>());
    CHECK(got.scale == c["scale"].get<float>());
    CHECK(got.zero_point == c["zero_point"].get<std::int32_t>());
  }
  CHECK(cases.size() == 23);
}

TEST_CASE("The zero point uses the scale before it is rounded to float32", "[numeric]") {
  // 255 / 2 is 127.5 exactly in double; with the rounded scale it would fall below and give 127.
  const QuantParams got = params(NumberFormat::kUint8, Symmetry::kAsymmetric, -1.0F, 1.0F);
  CHECK(got.zero_point == 128);
  CHECK(got.scale == static_cast<float>(2.0 / 255.0));
}

TEST_CASE("A range always includes 0", "[numeric]") {
  const QuantParams above = params(NumberFormat::kUint8, Symmetry::kAsymmetric, 2.0F, 5.1F);
  CHECK(above.zero_point == 0);
  CHECK(above.scale == static_cast<float>(static_cast<double>(5.1F) / 255.0));
  const QuantParams below = params(NumberFormat::kInt8, Symmetry::kAsymmetric, -5.1F, -2.0F);
  CHECK(below.zero_point == 127);
}

TEST_CASE("Symmetric ranges use the narrow codes, the 4-bit formats all of them", "[numeric]") {
  CHECK(params(NumberFormat::kInt8, Symmetry::kSymmetric, -1.0F, 0.5F).scale ==
        static_cast<float>(2.0 / 254.0));
  CHECK(params(NumberFormat::kInt8, Symmetry::kSymmetric, -1.0F, 0.5F).zero_point == 0);
  CHECK(params(NumberFormat::kUint8, Symmetry::kSymmetric, -0.5F, 1.0F).zero_point == 127);
  CHECK(params(NumberFormat::kUint16, Symmetry::kSymmetric, -0.5F, 1.0F).zero_point == 32767);
  CHECK(params(NumberFormat::kUint16, Symmetry::kSymmetric, -0.5F, 1.0F).scale ==
        static_cast<float>(2.0 / 65534.0));
  CHECK(params(NumberFormat::kInt4, Symmetry::kSymmetric, -1.0F, 1.0F).scale ==
        static_cast<float>(2.0 / 15.0));
  CHECK(params(NumberFormat::kInt4, Symmetry::kSymmetric, -1.0F, 1.0F).zero_point ==
        0);  // round(-0.5), half to even
  CHECK(params(NumberFormat::kUint4, Symmetry::kSymmetric, -1.0F, 1.0F).zero_point == 8);  // round(7.5)
  const CodeRange codes = spread_codes(NumberFormat::kInt8, Symmetry::kSymmetric);
  CHECK(codes.lowest == -127);
  CHECK(codes.highest == 127);
}

TEST_CASE("A range too small for a normal scale gives scale 1 and zero point 0", "[numeric]") {
  const float tiny = std::numeric_limits<float>::min();
  for (const Symmetry symmetry : {Symmetry::kAsymmetric, Symmetry::kSymmetric}) {
    for (const float max : {0.0F, std::numeric_limits<float>::denorm_min(), tiny, tiny * 100.0F}) {
      const QuantParams got = params(NumberFormat::kUint8, symmetry, 0.0F, max);
      CHECK(got.scale == 1.0F);
      CHECK(got.zero_point == 0);
    }
  }
  CHECK(params(NumberFormat::kUint8, Symmetry::kAsymmetric, 0.0F, tiny * 256.0F).scale < 1.0F);
}

TEST_CASE("The largest ranges have finite scales", "[numeric]") {
  const float max = std::numeric_limits<float>::max();
  for (const NumberFormat format : {NumberFormat::kInt8, NumberFormat::kInt4, NumberFormat::kUint16}) {
    const QuantParams got = params(format, Symmetry::kAsymmetric, -max, max);
    CHECK(std::isfinite(got.scale));
    CHECK(got.scale > 0.0F);
  }
}

TEST_CASE("Ranges that are none are errors", "[numeric]") {
  const auto code = [](NumberFormat format, float min, float max) {
    const Result<QuantParams> result = params_from_range(format, Symmetry::kAsymmetric, {min, max});
    REQUIRE_FALSE(result.ok());
    return result.error().code;
  };
  CHECK(code(NumberFormat::kInt8, kNan, 1.0F) == ErrorCode::kNonFinite);
  CHECK(code(NumberFormat::kInt8, 0.0F, kInfinity) == ErrorCode::kNonFinite);
  CHECK(code(NumberFormat::kInt8, 1.0F, -1.0F) == ErrorCode::kInvalidPolicy);
  CHECK(code(NumberFormat::kInt32, 0.0F, 1.0F) == ErrorCode::kUnsupportedType);
  CHECK(code(NumberFormat::kFloat32, kNan, 1.0F) ==
        ErrorCode::kUnsupportedType);  // the type is checked first
}

TEST_CASE("Channel scales of a weight", "[numeric]") {
  const std::vector<float> magnitudes = {1.27F, 0.0F, 3.0F};
  const Result<std::vector<float>> scales = symmetric_channel_scales(NumberFormat::kInt8, magnitudes);
  REQUIRE(scales.ok());
  CHECK(scales.value() == std::vector<float>{static_cast<float>(2.0 * static_cast<double>(1.27F) / 254.0),
                                             1.0F, static_cast<float>(6.0 / 254.0)});
  CHECK(symmetric_channel_scales(NumberFormat::kInt8, {}).value().empty());
  const std::vector<float> bad = {1.0F, kInfinity};
  const Result<std::vector<float>> refused = symmetric_channel_scales(NumberFormat::kInt8, bad);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kNonFinite);
  CHECK(refused.error().where == "channel 1");
}

Result<QuantParams> float8_params(float min, float max, Float8Scale convention) {
  return params_from_range(NumberFormat::kFloat8E4M3Fn, Symmetry::kSymmetric, {min, max}, convention);
}

TEST_CASE("Scales of the other small floats make the largest magnitude their largest value",
          "[numeric][float8]") {
  const auto scale = [](NumberFormat format, Float8Scale convention) {
    return params_from_range(format, Symmetry::kSymmetric, {-9.0F, 3.0F}, convention).value().scale;
  };
  for (const Float8Scale convention : {Float8Scale::kWholeRange, Float8Scale::kModelOpt}) {
    CHECK(scale(NumberFormat::kFloat8E4M3Fnuz, convention) == 9.0F / 240.0F);
    CHECK(scale(NumberFormat::kFloat8E5M2, convention) == 9.0F / 57344.0F);
    CHECK(scale(NumberFormat::kFloat8E5M2Fnuz, convention) == 9.0F / 57344.0F);
    CHECK(scale(NumberFormat::kFloat4E2M1, convention) == 1.5F);
  }
  CHECK(params(NumberFormat::kUint2, Symmetry::kAsymmetric, -1.0F, 2.0F).scale == 1.0F);
  CHECK(params(NumberFormat::kUint2, Symmetry::kAsymmetric, -1.0F, 2.0F).zero_point == 1);
}

TEST_CASE("A float8 scale makes the largest magnitude 448", "[numeric][float8]") {
  CHECK(float8_params(-1.0F, 448.0F, Float8Scale::kWholeRange).value().scale == 1.0F);
  CHECK(float8_params(-9.0F, 3.0F, Float8Scale::kWholeRange).value().scale == 9.0F / 448.0F);
  CHECK(float8_params(0.5F, 1.25F, Float8Scale::kWholeRange).value().scale == 1.25F / 448.0F);
  CHECK(float8_params(-9.0F, 3.0F, Float8Scale::kWholeRange).value().zero_point == 0);
  const float max = std::numeric_limits<float>::max();
  CHECK(float8_params(-max, max, Float8Scale::kWholeRange).value().scale == max / 448.0F);
  CHECK(float8_params(0.0F, 0.0F, Float8Scale::kWholeRange).value().scale == 1.0F);
  const float tiny = std::numeric_limits<float>::min();
  CHECK(float8_params(0.0F, tiny * 447.0F, Float8Scale::kWholeRange).value().scale == 1.0F);
  CHECK(float8_params(0.0F, tiny * 448.0F, Float8Scale::kWholeRange).value().scale == tiny);
}

TEST_CASE("ModelOpt's float8 scale comes from an int8 scale by way of two roundings", "[numeric][float8]") {
  // The numbers are that peer's own answers.
  CHECK(float8_params(-1.25F, 1.0F, Float8Scale::kModelOpt).value().scale == 0.034720067F);
  CHECK(float8_params(0.0F, 448.0F, Float8Scale::kModelOpt).value().scale == 12.4436731F);
  CHECK(float8_params(0.0F, 0.0F, Float8Scale::kModelOpt).value().scale == 448.0F / 127.0F);
  const float max = std::numeric_limits<float>::max();
  const Result<QuantParams> refused = float8_params(-max, max, Float8Scale::kModelOpt);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kTooLarge);
  const std::vector<float> magnitudes = {1.25F, 0.0F};
  const Result<std::vector<float>> scales =
      symmetric_channel_scales(NumberFormat::kFloat8E4M3Fn, magnitudes, Float8Scale::kModelOpt);
  CHECK(scales.value() == std::vector<float>{0.034720067F, 448.0F / 127.0F});
}

// Every tensor of the five graphs that ModelOpt quantized both ways: the int8 scale is the first step.
TEST_CASE("ModelOpt's float8 scales equal its answers", "[numeric][float8][golden]") {
  std::size_t compared = 0;
  for (const char* graph : {"g03_res_downsample", "g05_bottleneck_identity", "g15_hardswish_op",
                            "g29_gemm_transb1", "g35_attn_mul_mask"}) {
    const std::string folder = std::string(HALFTONE_GOLDEN_DIR) + "/modelopt/" + graph;
    std::ifstream int8_file(folder + "/int8_max.json");
    std::ifstream float8_file(folder + "/fp8_max.json");
    REQUIRE(int8_file.good());
    REQUIRE(float8_file.good());
    const nlohmann::json int8 = nlohmann::json::parse(int8_file)["scales"];
    const nlohmann::json float8 = nlohmann::json::parse(float8_file)["scales"];
    for (const auto& [tensor, wanted] : float8.items()) {
      INFO(graph << " " << tensor);
      const std::vector<float> from = int8[tensor].is_array() ? int8[tensor].get<std::vector<float>>()
                                                              : std::vector{int8[tensor].get<float>()};
      const std::vector<float> to =
          wanted.is_array() ? wanted.get<std::vector<float>>() : std::vector{wanted.get<float>()};
      REQUIRE(from.size() == to.size());
      for (std::size_t i = 0; i < to.size(); ++i) {
        // A magnitude whose int8 scale is just this one.
        const auto magnitude = static_cast<float>(static_cast<double>(from[i]) * 127.0);
        if (params(NumberFormat::kInt8, Symmetry::kSymmetric, -magnitude, magnitude).scale != from[i])
          continue;
        CHECK(float8_params(-magnitude, magnitude, Float8Scale::kModelOpt).value().scale == to[i]);
        ++compared;
      }
    }
  }
  CHECK(compared > 300);  // of 539; for the others no float32 magnitude was found that way
}

TEST_CASE("float8 ranges have no zero point", "[numeric][float8]") {
  const Result<QuantParams> refused =
      params_from_range(NumberFormat::kFloat8E4M3Fn, Symmetry::kAsymmetric, {0.0F, 1.0F});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kInvalidPolicy);
}

TEST_CASE("Bias codes are rounded in double, half to even", "[numeric]") {
  const std::vector<float> bias = {0.25F, 0.75F, -0.25F, 16777217.0F, 0.0F, 1.0F};
  const std::vector<float> weight = {1.0F};
  const Result<QuantizedBias> got = quantize_bias(bias, 0.5F, weight);
  REQUIRE(got.ok());
  CHECK(got.value().scales == std::vector<float>{0.5F});
  CHECK(got.value().codes == std::vector<std::int32_t>{0, 2, 0, 33554432, 0, 2});
  const std::vector<float> weights = {0.1F, 0.2F};
  const std::vector<float> two = {1.0F, -1.0F};
  const Result<QuantizedBias> per_channel = quantize_bias(two, 0.3F, weights);
  REQUIRE(per_channel.ok());
  CHECK(per_channel.value().scales == std::vector<float>{0.3F * 0.1F, 0.3F * 0.2F});
  CHECK(per_channel.value().codes == std::vector<std::int32_t>{33, -17});
}

TEST_CASE("A bias that int32 can't hold is refused, the last one that fits is not", "[numeric]") {
  const std::vector<float> unit = {1.0F};
  const auto codes = [&](float bias, float scale) {
    return quantize_bias(std::vector<float>{bias}, scale, unit);
  };
  REQUIRE_FALSE(codes(2147483648.0F, 1.0F).ok());
  CHECK(codes(2147483648.0F, 1.0F).error().code == ErrorCode::kTooLarge);
  CHECK(codes(-2147483648.0F, 1.0F).error().code == ErrorCode::kTooLarge);
  CHECK(codes(2147483520.0F, 1.0F).value().codes[0] == 2147483520);
  // 1 - 2^-24 is the float32 next to 1: the quotient is exactly 2^31.
  CHECK(codes(2147483520.0F, 0.99999994F).error().code == ErrorCode::kTooLarge);
}

// onnxruntime.quantization stores such scales for channels of the text recognizer that died in training.
TEST_CASE("A bias at a denormal scale keeps its codes", "[numeric]") {
  const std::vector<float> weights = {3e-38F, 1.0F};
  const std::vector<float> bias = {-3e-40F, 0.02F};
  const Result<QuantizedBias> got = quantize_bias(bias, 0.01F, weights);
  REQUIRE(got.ok());
  CHECK(got.value().scales == std::vector<float>{0.01F * 3e-38F, 0.01F});
  CHECK(std::fpclassify(got.value().scales[0]) == FP_SUBNORMAL);
  CHECK(got.value().codes == std::vector<std::int32_t>{-1, 2});
}

TEST_CASE("Bias errors name the channel", "[numeric]") {
  const std::vector<float> bias = {1.0F, kNan};
  const std::vector<float> one = {1.0F};
  const Result<QuantizedBias> non_finite = quantize_bias(bias, 1.0F, one);
  REQUIRE_FALSE(non_finite.ok());
  CHECK(non_finite.error().code == ErrorCode::kNonFinite);
  CHECK(non_finite.error().where == "channel 1");
  const std::vector<float> three = {1.0F, 1.0F, 1.0F};
  CHECK(quantize_bias(bias, 1.0F, three).error().code == ErrorCode::kShapeMismatch);
  const std::vector<float> tiny = {1e-30F};
  CHECK(quantize_bias(std::vector<float>{0.0F}, 1e-30F, tiny).error().code == ErrorCode::kTooLarge);
  const std::vector<float> negative = {-1.0F};
  CHECK(quantize_bias(std::vector<float>{0.0F}, 1.0F, negative).error().code == ErrorCode::kInvalidPolicy);
  CHECK(quantize_bias({}, 1.0F, one).value().codes.empty());
}

}  // namespace
}  // namespace halftone
