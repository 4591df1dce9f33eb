// Models in float8e4m3fn: what is written, simulated and refused. The plan is an int8 one with its formats
// changed, so that nothing here depends on a target.
#include <bit>
#include <cmath>
#include <cstring>

#include "halftone/rewrite.h"
#include "halftone/writer.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

constexpr NumberFormat kFormat = NumberFormat::kFloat8E4M3Fn;

struct Case {
  std::shared_ptr<const Model> model;
  Plan plan;
  Encodings encodings;
};

// Weights and activations in float8, biases float.
Plan float8_plan(const Model& model) {
  Plan plan = plan_of(model);
  for (Site& site : plan.sites) {
    if (site.role == Role::kBias) site.quantized = false;
    if (!site.quantized) continue;
    site.format = kFormat;
    site.symmetric = true;
  }
  for (InputDecision& input : plan.inputs) {
    const Site* site = plan.find(input.tensor);
    if (site != nullptr) input.quantized = input.quantized && site->quantized;
  }
  return plan;
}

Case float8_case(const std::shared_ptr<const Model>& model, std::optional<std::string> match = {}) {
  Case result{model, float8_plan(*model), {}};
  result.plan.match = std::move(match);
  for (const Site& site : result.plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    const Result<Encoding> encoding = activation_encoding(site, {-1.5F, 3.0F}, float8_scale_of(result.plan));
    REQUIRE(encoding.ok());
    result.encodings.set(site.tensor, encoding.value());
  }
  const Result<void> completed = complete_encodings(*model, result.plan, result.encodings);
  INFO((completed.ok() ? "" : completed.error().message));
  REQUIRE(completed.ok());
  return result;
}

ConstantTensor constant_of(const Model& model, std::string_view name) {
  const TensorId id = model.graph().find_tensor(name);
  INFO(name);
  REQUIRE(id != kNone);
  const Result<ConstantTensor> constant = model.constant(id);
  REQUIRE(constant.ok());
  return constant.value();
}

std::vector<float> floats_of(const Model& model, std::string_view name) {
  const ConstantTensor constant = constant_of(model, name);
  REQUIRE(constant.type == DataType::kFloat);
  std::vector<float> values(constant.float_count());
  std::memcpy(values.data(), constant.bytes.data(), constant.bytes.size());
  return values;
}

// A code's value, from the definition of the format.
float value_of(std::uint8_t code) {
  const int exponent = (code >> 3) & 15;
  const int mantissa = code & 7;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                        : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return code >= 0x80 ? -magnitude : magnitude;
}

void check_float8_tensor(const Model& model, std::string_view name, const Dims& dims) {
  INFO(name);
  const ConstantTensor constant = constant_of(model, name);
  CHECK(constant.type == DataType::kFloat8E4M3FN);
  CHECK(constant.dims == dims);
}

bool all_zero(const ConstantTensor& constant) {
  for (const std::uint8_t byte : constant.bytes) {
    if (byte != 0) return false;
  }
  return !constant.bytes.empty();
}

}  // namespace

TEST_CASE("A float8 model has float8 codes and zero points, and opset 19", "[plan][float8]") {
  const Case from = float8_case(two_convs().open());
  const Result<QuantizedModel> result =
      insert_qdq(from.model, from.plan, from.encodings, {"minmax", 1, false});
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  const Result<WrittenModel> file = write_model(result.value().model, {});
  REQUIRE(file.ok());
  const Result<std::shared_ptr<const Model>> opened = open_model(file.value().model.flatten());
  REQUIRE(opened.ok());
  const Model& model = *opened.value();
  for (const Warning& warning : model.warnings()) {
    INFO(warning.code << ": " << warning.message);
    CHECK(warning.code == "(none)");  // the ONNX checker's verdict is one of them
  }
  CHECK(model.graph().opset() == 19);
  CHECK(model.info().ir_version >= 9);
  check_float8_tensor(model, "w1_quantized", {6, 4, 3, 3});
  check_float8_tensor(model, "w1_zero_point", {6});
  check_float8_tensor(model, "x_zero_point", {});
  CHECK(constant_of(model, "x_zero_point").bytes.size() == 1);
  CHECK(all_zero(constant_of(model, "x_zero_point")));
  CHECK(all_zero(constant_of(model, "w1_zero_point")));
  CHECK(floats_of(model, "x_scale") == std::vector<float>{3.0F / 448.0F});
  const TensorId codes = model.graph().find_tensor("x_QuantizeLinear_Output");
  REQUIRE(codes != kNone);
  CHECK(model.graph().tensor(codes).type == DataType::kFloat8E4M3FN);
  CHECK(model.graph().find_tensor("w1") == kNone);
  CHECK(floats_of(model, "b1") == floats_of(*from.model, "b1"));
}

TEST_CASE("float8 weight codes are the nearest, and reach 448 in every channel", "[plan][float8]") {
  const Case from = float8_case(two_convs().open());
  const Result<QuantizedModel> result =
      insert_qdq(from.model, from.plan, from.encodings, {"minmax", 1, false});
  REQUIRE(result.ok());
  const std::vector<float> weights = floats_of(*from.model, "w1");
  const std::vector<float> scales = floats_of(*result.value().model, "w1_scale");
  const ConstantTensor codes = constant_of(*result.value().model, "w1_quantized");
  REQUIRE(scales.size() == 6);
  REQUIRE(codes.bytes.size() == weights.size());
  std::vector<bool> reached(6, false);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float quotient = weights[i] / scales[i / 36];
    const float got = std::fabs(quotient - value_of(codes.bytes[i]));
    for (unsigned code = 0; code < 256; ++code) {
      if ((code & 0x7FU) == 0x7FU) continue;
      REQUIRE(got <= std::fabs(quotient - value_of(static_cast<std::uint8_t>(code))));
    }
    if ((codes.bytes[i] & 0x7FU) == 0x7EU) reached[i / 36] = true;
  }
  CHECK(reached == std::vector<bool>(6, true));
}

TEST_CASE("A simulated float8 weight is its code's value times the scale", "[plan][float8]") {
  const Case from = float8_case(two_convs().open());
  const Result<QuantizedModel> shipped =
      insert_qdq(from.model, from.plan, from.encodings, {"minmax", 1, false});
  REQUIRE(shipped.ok());
  const Result<std::shared_ptr<const Model>> simulated =
      simulated_model(from.model, from.plan, from.encodings);
  REQUIRE(simulated.ok());
  const std::vector<float> values = floats_of(*simulated.value(), "w2_simulated");
  const ConstantTensor codes = constant_of(*shipped.value().model, "w2_quantized");
  const std::vector<float> scales = floats_of(*shipped.value().model, "w2_scale");
  REQUIRE(values.size() == codes.bytes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(i);
    CHECK(std::bit_cast<std::uint32_t>(values[i]) ==
          std::bit_cast<std::uint32_t>(value_of(codes.bytes[i]) * scales[i / 6]));
  }
  CHECK(simulated.value()->graph().opset() == 19);

  const Result<std::shared_ptr<const Model>> weight_alone =
      single_site_variant(from.model, site_of(from.plan, "w2"), *from.encodings.find("w2"));
  REQUIRE(weight_alone.ok());
  CHECK(floats_of(*weight_alone.value(), "w2_simulated") == values);
  CHECK(weight_alone.value()->graph().opset() == 17);  // plain floats need no newer one
  const Result<std::shared_ptr<const Model>> activation_alone =
      single_site_variant(from.model, site_of(from.plan, "t2"), *from.encodings.find("t2"));
  REQUIRE(activation_alone.ok());
  CHECK(activation_alone.value()->graph().opset() == 19);
  CHECK(constant_of(*activation_alone.value(), "t2_zero_point").type == DataType::kFloat8E4M3FN);
}

TEST_CASE("A plan that matches ModelOpt has that peer's float8 scales", "[plan][float8]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  const Case ours = float8_case(model);
  const Case peers = float8_case(model, "modelopt");
  const auto as_peer = [](float magnitude) {
    return static_cast<float>(2.0 * static_cast<double>(magnitude) / 254.0) * 448.0F / 127.0F;
  };
  CHECK(ours.encodings.find("x")->scale == std::vector<float>{3.0F / 448.0F});
  CHECK(peers.encodings.find("x")->scale == std::vector<float>{as_peer(3.0F)});
  const Encoding& weight = *peers.encodings.find("w1");
  REQUIRE(weight.scale.size() == 6);
  for (std::size_t channel = 0; channel < 6; ++channel) {
    const float magnitude = std::max(-weight.min[channel], weight.max[channel]);
    CHECK(weight.scale[channel] == as_peer(magnitude));
    CHECK(ours.encodings.find("w1")->scale[channel] == magnitude / 448.0F);
  }
}

TEST_CASE("A float8 encoding with a zero point is refused", "[plan][float8]") {
  Case from = float8_case(two_convs().open());
  Encoding wrong = *from.encodings.find("x");
  wrong.zero_point = {1};
  from.encodings.set("x", wrong);
  const Result<QuantizedModel> result =
      insert_qdq(from.model, from.plan, from.encodings, {"minmax", 1, false});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == ErrorCode::kInvalidPolicy);
  CHECK(result.error().message.find("float8e4m3fn") != std::string::npos);
}

TEST_CASE("Target onnxruntime offers the integer formats only", "[plan][float8]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  PlanOptions options;
  options.weights = kFormat;
  Result<Plan> refused = make_plan(*model, options);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kInvalidPolicy);
  CHECK(refused.error().where == "weights");
  options = {};
  options.activations = kFormat;
  refused = make_plan(*model, options);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().where == "activations");
}

}  // namespace halftone::test
