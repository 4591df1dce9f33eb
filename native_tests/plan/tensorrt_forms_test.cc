// The models that plans for tensorrt become: groups of one scale, outputs behind a pair, weights in float,
// codes at the model's edge.
#include <algorithm>

#include "halftone/rewrite.h"
#include "halftone/writer.h"
#include "plan/plan_cases.h"
#include "plan/tensorrt/example_graphs.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;
using Ranges = std::vector<std::pair<std::string, MinMax>>;

Plan tensorrt_plan(const Model& model, PlanOptions options = {}) {
  options.target = Target::kTensorRT;
  return plan_of(model, options);
}

// Every activation gets [-1, 1], but for those listed.
Encodings encodings_of(const Model& model, Plan& plan, const Ranges& ranges = {}) {
  Encodings encodings;
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    MinMax range{-1.0F, 1.0F};
    for (const auto& [tensor, own] : ranges) {
      if (tensor == site.tensor) range = own;
    }
    encodings.set(site.tensor, activation_encoding(site, range, float8_scale_of(plan)).value());
  }
  REQUIRE(complete_encodings(model, plan, encodings).ok());
  return encodings;
}

std::shared_ptr<const Model> quantized(const std::shared_ptr<const Model>& model,
                                       const PlanOptions& options = {}) {
  Plan plan = tensorrt_plan(*model, options);
  const Encodings encodings = encodings_of(*model, plan);
  const Result<QuantizedModel> result = insert_qdq(model, plan, encodings, {"minmax", 1, false});
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  // What was made can be written and opened again, by the library's own checks too.
  const Result<WrittenModel> written = write_model(result.value().model, {});
  REQUIRE(written.ok());
  std::vector<std::uint8_t> bytes;
  for (const auto piece : written.value().model.pieces())
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  const Result<std::shared_ptr<const Model>> again = open_model(bytes);
  INFO((again.ok() ? "" : again.error().message));
  REQUIRE(again.ok());
  return again.value();
}

// "conv2: r1_DequantizeLinear_Output w2_DequantizeLinear_Output > c2"
std::string wiring(const Model& model, std::string_view label) {
  const Graph& graph = model.graph();
  const NodeId id = graph.find_node(label);
  INFO(label);
  REQUIRE(id != kNone);
  std::string text;
  for (const TensorId input : graph.node(id).inputs) text += graph.tensor(input).name + " ";
  text += ">";
  for (const TensorId output : graph.node(id).outputs) text += " " + graph.tensor(output).name;
  return text;
}

DataType type_of(const Model& model, std::string_view tensor) {
  const TensorId id = model.graph().find_tensor(tensor);
  REQUIRE(id != kNone);
  return model.graph().tensor(id).type;
}

PolicyCase joined_branches() {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .weight("wide", {32, 64, 1, 1})
      .nodes("c1 = Conv(x, w1) #conv1; c2 = Conv(c1, w2) #conv2")
      .node("cc = Concat(c1, c2) #concat", {{"axis", std::int64_t{1}}})
      .nodes("y = Conv(cc, wide) #last")
      .output("y");
  return graph;
}

// conv1's result is an output of the model, read by conv2 too, and raw by the Add that is fused with it.
PolicyCase feature_output() {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .nodes(
          "c1 = Conv(x, w1) #conv1; s = Sigmoid(c1) #sig; c2 = Conv(c1, w2) #conv2;"
          "y = Conv(c2, w3) #conv3")
      .output("c1")
      .output("s")
      .output("y");
  return graph;
}

}  // namespace

TEST_CASE("Tensors that a Concat joins share the scale of the largest", "[plan][tensorrt]") {
  const std::shared_ptr<const Model> model = joined_branches().open();
  Plan plan = tensorrt_plan(*model);
  REQUIRE(site_of(plan, "c1").scale_group == "concat:c1");
  CHECK(site_of(plan, "cc").scale_group == "concat:c1");
  CHECK(plan.find("c2") == nullptr);  // feeds only the Concat, where no quantizer can sit
  CHECK_FALSE(site_of(plan, "x").scale_group.has_value());
  CHECK(check_plan(*model, plan).ok());

  Encodings encodings = encodings_of(*model, plan, {{"c1", {-0.5F, 0.25F}}, {"cc", {-20.0F, 3.0F}}});
  CHECK(encodings.find("c1")->scale.front() == static_cast<float>(40.0 / 254.0));
  CHECK(encodings.find("cc")->scale == encodings.find("c1")->scale);
  CHECK(encodings.find("c1")->min.front() == -0.5F);
  const std::vector<BranchGrowth> growth = scale_growth(plan, encodings);
  REQUIRE(growth.size() == 2);
  CHECK(growth[0].tensor == "c1");
  CHECK(growth[0].group == "concat:c1");
  CHECK(growth[0].shared_scale / growth[0].own_scale > 39.999F);
  CHECK(growth[0].shared_scale / growth[0].own_scale < 40.001F);
  CHECK(growth[1].shared_scale == growth[1].own_scale);

  // Doing it again changes nothing, and a member with a scale of its own is refused.
  const std::vector<float> before = encodings.find("c1")->scale;
  REQUIRE(complete_encodings(*model, plan, encodings).ok());
  CHECK(encodings.find("c1")->scale == before);
  Encoding odd = *encodings.find("c1");
  odd.scale = {0.5F};
  encodings.set("c1", odd);
  CHECK(insert_qdq(model, plan, encodings, {}).error().code == ErrorCode::kInvalidPolicy);
  odd.min.clear();
  odd.max.clear();
  encodings.set("c1", odd);
  CHECK(complete_encodings(*model, plan, encodings).error().code == ErrorCode::kInvalidPolicy);

  PlanOptions apart;
  apart.concat_groups = false;
  CHECK_FALSE(site_of(tensorrt_plan(*model, apart), "c1").scale_group.has_value());
  plan.sites[1].scale_group = "concat:c1";  // w1
  CHECK_FALSE(check_plan(*model, plan).ok());
}

TEST_CASE("An output of the model that is quantized comes out of its pair", "[plan][tensorrt]") {
  const std::shared_ptr<const Model> model = feature_output().open();
  const Plan plan = tensorrt_plan(*model);
  CHECK(site_of(plan, "c1").serves_output);
  const std::shared_ptr<const Model> made = quantized(model);
  CHECK(wiring(*made, "conv1") ==
        "x_DequantizeLinear_Output w1_DequantizeLinear_Output > c1_QuantizeLinear_Input");
  CHECK(wiring(*made, "c1_QuantizeLinear") ==
        "c1_QuantizeLinear_Input c1_scale c1_zero_point > c1_QuantizeLinear_Output");
  CHECK(wiring(*made, "c1_DequantizeLinear") == "c1_QuantizeLinear_Output c1_scale c1_zero_point > c1");
  CHECK(wiring(*made, "conv2") == "c1 w2_DequantizeLinear_Output > c2");
  CHECK(type_of(*made, "c1") == DataType::kFloat);

  Plan wrong = plan;
  for (Site& site : wrong.sites) site.serves_output = site.tensor == "c2";
  CHECK(check_plan(*model, wrong).error().message.find("serve an output") != std::string::npos);
}

TEST_CASE("Only the marked inputs read the pair; the others keep the raw tensor", "[plan][tensorrt]") {
  const std::shared_ptr<const Model> made = quantized(residual_block().open());
  CHECK(wiring(*made, "add") == "c3 r1_DequantizeLinear_Output > a");
  CHECK(wiring(*made, "conv3") == "r2_DequantizeLinear_Output w3_DequantizeLinear_Output > c3");
  CHECK(wiring(*made, "w3_DequantizeLinear") ==
        "w3_quantized w3_scale w3_zero_point > w3_DequantizeLinear_Output");
  CHECK(made->graph().find_tensor("w3") == kNone);
}

TEST_CASE("Weights can stay float behind a pair", "[plan][tensorrt]") {
  PlanOptions options;
  options.float_weights = true;
  const std::shared_ptr<const Model> made = quantized(residual_block().open(), options);
  CHECK(wiring(*made, "w3_QuantizeLinear") == "w3 w3_scale w3_zero_point > w3_QuantizeLinear_Output");
  CHECK(wiring(*made, "w3_DequantizeLinear") ==
        "w3_QuantizeLinear_Output w3_scale w3_zero_point > w3_DequantizeLinear_Output");
  CHECK(type_of(*made, "w3") == DataType::kFloat);
  CHECK(made->graph().int_attribute(made->graph().find_node("w3_QuantizeLinear"), "axis", -9) == 0);

  // Constant nodes too: the node stays, since the pair reads it.
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .constant_node("k", {32, 32, 1, 1})
      .nodes("c = Conv(x, k) #conv")
      .output("c");
  CHECK(wiring(*quantized(graph.open(), options), "k_QuantizeLinear") ==
        "k k_scale k_zero_point > k_QuantizeLinear_Output");
}

TEST_CASE("Codes can cross the model's edge", "[plan][tensorrt]") {
  PlanOptions options;
  options.direct_io = true;
  const std::shared_ptr<const Model> made = quantized(feature_output().open(), options);
  CHECK(type_of(*made, "x") == DataType::kInt8);
  CHECK(wiring(*made, "x_DequantizeLinear") == "x x_scale x_zero_point > x_DequantizeLinear_Output");
  CHECK(made->graph().find_node("x_QuantizeLinear") == kNone);
  CHECK(type_of(*made, "c1") == DataType::kInt8);
  CHECK(wiring(*made, "c1_QuantizeLinear") == "c1_QuantizeLinear_Input c1_scale c1_zero_point > c1");
  CHECK(wiring(*made, "c1_DequantizeLinear") == "c1 c1_scale c1_zero_point > c1_DequantizeLinear_Output");
  CHECK(wiring(*made, "conv2") == "c1_DequantizeLinear_Output w2_DequantizeLinear_Output > c2");
  CHECK(type_of(*made, "y") == DataType::kFloat);

  options.activations = NumberFormat::kFloat8E4M3Fn;
  const std::shared_ptr<const Model> float8 = quantized(feature_output().open(), options);
  CHECK(type_of(*float8, "x") == DataType::kFloat8E4M3FN);
  CHECK(type_of(*float8, "w1_quantized") == DataType::kFloat8E4M3FN);
  CHECK(float8->graph().opset() == 19);

  // An input that somebody reads raw stays float.
  PolicyCase shared;
  shared.input("x", {2, 32, 8, 8})
      .nodes("c = Conv(x, w1) #conv; d = Conv(x, w2) #out; e = Conv(c, w3) #last")
      .output("d")
      .output("e");
  options.exclude = {"out"};
  CHECK(type_of(*quantized(shared.open(), options), "x") == DataType::kFloat8E4M3FN);
}

TEST_CASE("A simulation serves outputs as the deployed model does, in float", "[plan][tensorrt]") {
  const std::shared_ptr<const Model> model = feature_output().open();
  PlanOptions options;
  options.direct_io = true;
  Plan plan = tensorrt_plan(*model, options);
  const Encodings encodings = encodings_of(*model, plan);
  const Result<std::shared_ptr<const Model>> simulated = simulated_model(model, plan, encodings);
  REQUIRE(simulated.ok());
  CHECK(wiring(*simulated.value(), "c1_DequantizeLinear") ==
        "c1_QuantizeLinear_Output c1_scale c1_zero_point > c1");
  CHECK(type_of(*simulated.value(), "x") == DataType::kFloat);
}

}  // namespace halftone::test
