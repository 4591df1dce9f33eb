#include <algorithm>
#include <cstring>
#include <functional>

#include "halftone/rewrite.h"
#include "halftone/version.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;

Encodings encodings_of(const Model& model, Plan& plan, float low = -1.0F, float high = 3.0F) {
  Encodings encodings;
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    const Result<Encoding> encoding = activation_encoding(site, {low, high});
    REQUIRE(encoding.ok());
    encodings.set(site.tensor, encoding.value());
  }
  const Result<void> completed = complete_encodings(model, plan, encodings);
  INFO((completed.ok() ? "" : completed.error().message));
  REQUIRE(completed.ok());
  return encodings;
}

QuantizedModel quantized(const std::shared_ptr<const Model>& model, const PlanOptions& options = {},
                         const Provenance& provenance = {"minmax", 8, false}) {
  Plan plan = plan_of(*model, options);
  const Encodings encodings = encodings_of(*model, plan);
  Result<QuantizedModel> result = insert_qdq(model, plan, encodings, provenance);
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  return std::move(result).value();
}

Names node_names(const Graph& graph) {
  Names names;
  for (const GraphNode& node : graph.nodes()) names.push_back(node.name);
  return names;
}

const GraphNode& node_of(const Graph& graph, std::string_view label) {
  const NodeId id = graph.find_node(label);
  INFO(label);
  REQUIRE(id != kNone);
  return graph.node(id);
}

Names names_of(const Graph& graph, const std::vector<TensorId>& ids) {
  Names names;
  for (const TensorId id : ids) names.push_back(id == kNone ? "" : graph.tensor(id).name);
  return names;
}

ConstantTensor constant_of(const Model& model, std::string_view name) {
  const TensorId id = model.graph().find_tensor(name);
  INFO(name);
  REQUIRE(id != kNone);
  const Result<ConstantTensor> constant = model.constant(id);
  REQUIRE(constant.ok());
  return constant.value();
}

bool says(const QuantizedModel& result, std::string_view part) {
  return std::any_of(result.changes.begin(), result.changes.end(),
                     [&](const Change& change) { return change.what.find(part) != std::string::npos; });
}

std::string metadata(const Model& model, std::string_view key) {
  for (const auto& [name, value] : model.info().metadata) {
    if (name == key) return value;
  }
  return "(none)";
}

}  // namespace

TEST_CASE("Pairs stand where the contract puts them, under its names", "[plan]") {
  const QuantizedModel result = quantized(two_convs().open());
  const Graph& graph = result.model->graph();
  CHECK(node_names(graph) == Names{"x_QuantizeLinear", "x_DequantizeLinear", "w1_DequantizeLinear",
                                   "b1_DequantizeLinear", "w2_DequantizeLinear", "b2_DequantizeLinear",
                                   "first", "relu", "t2_QuantizeLinear", "t2_DequantizeLinear", "second"});
  const auto inputs = [&](std::string_view node) { return names_of(graph, node_of(graph, node).inputs); };
  const auto outputs = [&](std::string_view node) { return names_of(graph, node_of(graph, node).outputs); };
  CHECK(inputs("x_QuantizeLinear") == Names{"x", "x_scale", "x_zero_point"});
  CHECK(outputs("x_QuantizeLinear") == Names{"x_QuantizeLinear_Output"});
  CHECK(inputs("x_DequantizeLinear") == Names{"x_QuantizeLinear_Output", "x_scale", "x_zero_point"});
  CHECK(outputs("x_DequantizeLinear") == Names{"x_DequantizeLinear_Output"});
  CHECK(inputs("w1_DequantizeLinear") == Names{"w1_quantized", "w1_scale", "w1_zero_point"});
  CHECK(inputs("b1_DequantizeLinear") == Names{"b1_quantized", "b1_quantized_scale"});
  CHECK(inputs("first") ==
        Names{"x_DequantizeLinear_Output", "w1_DequantizeLinear_Output", "b1_DequantizeLinear_Output"});
  CHECK(outputs("first") == Names{"t1"});
  CHECK(inputs("relu") == Names{"t1"});
  CHECK(inputs("second") ==
        Names{"t2_DequantizeLinear_Output", "w2_DequantizeLinear_Output", "b2_DequantizeLinear_Output"});
  CHECK(graph.int_attribute(graph.find_node("w1_DequantizeLinear"), "axis", -9) == 0);
  CHECK(graph.int_attribute(graph.find_node("b1_DequantizeLinear"), "axis", -9) == 0);
  CHECK(graph.attribute(graph.find_node("x_QuantizeLinear"), "axis") == nullptr);
  CHECK(names_of(graph, {graph.outputs().begin(), graph.outputs().end()}) == Names{"y"});
  CHECK(names_of(graph, {graph.inputs().begin(), graph.inputs().end()}) == Names{"x"});
  CHECK(graph.find_tensor("w1") == kNone);
  CHECK(graph.find_tensor("b2") == kNone);
  CHECK(graph.opset() == 17);
}

TEST_CASE("Constants hold the codes that the formula gives", "[plan]") {
  const std::vector<float> weights = {0.0F, 1.0F, -0.5F, 0.25F, -3.0F, 3.0F};
  ModelBuilder builder;
  builder.input("x", {1, 2}).floats("w", {2, 3}, weights).floats("b", {3}, {0.5F, -1.0F, 0.0F});
  builder.node("Gemm", {"x", "w", "b"}, {"y"}, "gemm").output("y", {1, 3});
  const std::shared_ptr<const Model> model = builder.open();
  Plan plan = plan_of(*model);
  const Encodings encodings = encodings_of(*model, plan, 0.0F, 255.0F);
  const Result<QuantizedModel> result = insert_qdq(model, plan, encodings, {"minmax", 1, false});
  REQUIRE(result.ok());
  // Columns: (0, 0.25), (1, -3), (-0.5, 3); int8 symmetric over -127..127.
  const ConstantTensor codes = constant_of(*result.value().model, "w_quantized");
  CHECK(codes.type == DataType::kInt8);
  CHECK(codes.dims == Dims{2, 3});
  const std::vector<std::int8_t> expected = {0, 42, -21, 127, -127, 127};
  REQUIRE(codes.bytes.size() == expected.size());
  CHECK(std::memcmp(codes.bytes.data(), expected.data(), expected.size()) == 0);
  const ConstantTensor bias = constant_of(*result.value().model, "b_quantized");
  CHECK(bias.type == DataType::kInt32);
  CHECK(bias.dims == Dims{3});
  std::vector<std::int32_t> bias_codes(3);
  REQUIRE(bias.bytes.size() == 12);
  std::memcpy(bias_codes.data(), bias.bytes.data(), 12);
  // Scale of x is 1; of the columns 0.25/127, 3/127, 3/127.
  CHECK(bias_codes == std::vector<std::int32_t>{254, -42, 0});
  const ConstantTensor zero_point = constant_of(*result.value().model, "x_zero_point");
  CHECK(zero_point.type == DataType::kUint8);
  CHECK(zero_point.dims.empty());
  REQUIRE(zero_point.bytes.size() == 1);
  CHECK(zero_point.bytes[0] == 0);
}

TEST_CASE("4-bit weights are packed, low half first, and raise the opset", "[plan]") {
  ModelBuilder builder;
  builder.opset(13).input("x", {1, 1}).floats("w", {1, 3}, {7.5F, -7.5F, 1.0F});
  builder.node("MatMul", {"x", "w"}, {"y"}, "mm").output("y", {1, 3});
  PlanOptions options;
  options.weights = NumberFormat::kInt4;
  options.per_channel = false;
  const QuantizedModel result = quantized(builder.open(), options);
  CHECK(result.model->graph().opset() == 21);
  CHECK(says(result, "Raised the opset from 13 to 21"));
  const ConstantTensor codes = constant_of(*result.model, "w_quantized");
  CHECK(codes.type == DataType::kInt4);
  REQUIRE(codes.bytes.size() == 2);
  // Scale 15/15 = 1: codes 7 (7.5 saturates), -8, 1.
  CHECK(codes.bytes[0] == 0x87);
  CHECK(codes.bytes[1] == 0x01);
  CHECK(result.model->info().ir_version >= 10);
}

TEST_CASE("The opset is raised only as far as the formats need", "[plan]") {
  const auto opset_after = [](std::int64_t opset, const PlanOptions& options) {
    ModelBuilder builder = two_convs();
    builder.opset(opset);
    const QuantizedModel result = quantized(builder.open(), options);
    CHECK(says(result, "Raised the opset") == (result.model->graph().opset() != opset));
    return result.model->graph().opset();
  };
  PlanOptions options;
  CHECK(opset_after(11, options) == 13);
  CHECK(opset_after(15, options) == 15);
  options.per_channel = false;
  CHECK(opset_after(9, options) == 10);
  CHECK(opset_after(11, options) == 11);
  options.activations = NumberFormat::kUint16;
  CHECK(opset_after(17, options) == 21);
}

TEST_CASE("The model says where it came from", "[plan]") {
  const QuantizedModel result = quantized(two_convs().open());
  CHECK(metadata(*result.model, "halftone.tool") == "halftone");
  CHECK(metadata(*result.model, "halftone.version") == kVersion);
  CHECK(metadata(*result.model, "halftone.commit") == version_commit());
  CHECK(metadata(*result.model, "halftone.target") == "onnxruntime");
  CHECK(metadata(*result.model, "halftone.method") == "minmax");
  CHECK(metadata(*result.model, "halftone.samples") == "8");
  CHECK(metadata(*result.model, "halftone.random_data") == "(none)");
  const QuantizedModel random = quantized(two_convs().open(), {}, {"minmax", 3, true});
  CHECK(metadata(*random.model, "halftone.random_data") == "true");
}

TEST_CASE("Readers that stay float keep the float tensor", "[plan]") {
  ModelBuilder builder;
  builder.input("ids", {3}, DataType::kInt64).input("x", {2, 4}).random_floats("table", {4, 4}, 1);
  builder.node("Gather", {"table", "ids"}, {"rows"}, "gather").node("MatMul", {"x", "table"}, {"y"}, "mm");
  builder.node("MatMul", {"y", "table"}, {"z"}, "mm2").node("Relu", {"y"}, {"r"}, "relu");
  builder.output("rows", {3, 4}).output("y", {2, 4}).output("z", {2, 4}).output("r", {2, 4});
  const QuantizedModel result = quantized(builder.open());
  const Graph& graph = result.model->graph();
  const auto inputs = [&](std::string_view node) { return names_of(graph, node_of(graph, node).inputs); };
  CHECK(inputs("gather") == Names{"table", "ids"});
  CHECK(inputs("mm") == Names{"x_DequantizeLinear_Output", "table_DequantizeLinear_Output"});
  CHECK(inputs("mm2") == Names{"y_DequantizeLinear_Output", "table_DequantizeLinear_Output"});
  CHECK(inputs("relu") == Names{"y"});
  CHECK(names_of(graph, node_of(graph, "mm").outputs) == Names{"y"});
  CHECK(graph.tensor(graph.find_tensor("y")).graph_output);
  CHECK(constant_of(*result.model, "table").type == DataType::kFloat);
  CHECK(says(result, "the float values stay for their other readers"));
  CHECK(says(result, "Stays a float output of the model"));
}

TEST_CASE("One tensor as both operands has one pair", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {4, 4}).node("MatMul", {"x", "x"}, {"y"}, "twice").output("y", {4, 4});
  const QuantizedModel result = quantized(builder.open());
  CHECK(node_names(result.model->graph()) == Names{"x_QuantizeLinear", "x_DequantizeLinear", "twice"});
  CHECK(names_of(result.model->graph(), node_of(result.model->graph(), "twice").inputs) ==
        Names{"x_DequantizeLinear_Output", "x_DequantizeLinear_Output"});
}

TEST_CASE("Taken names get a number", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {2, 4})
      .random_floats("w", {4, 4}, 1)
      .random_floats("w_quantized", {4, 4}, 2)
      .floats("x_scale", {4}, {1, 2, 3, 4});
  builder.node("MatMul", {"x", "w"}, {"t"}, "x_QuantizeLinear")
      .node("Add", {"t", "w_quantized"}, {"u"}, "add");
  builder.node("Mul", {"u", "x_scale"}, {"y"}, "mul").output("y", {4, 4});
  const QuantizedModel result = quantized(builder.open());
  const Graph& graph = result.model->graph();
  CHECK(names_of(graph, node_of(graph, "x_QuantizeLinear_1").inputs) ==
        Names{"x", "x_scale_1", "x_zero_point"});
  CHECK(names_of(graph, node_of(graph, "w_DequantizeLinear").inputs) ==
        Names{"w_quantized_1", "w_scale", "w_zero_point"});
  CHECK(names_of(graph, node_of(graph, "add").inputs) == Names{"t", "w_quantized"});
  CHECK(names_of(graph, node_of(graph, "mul").inputs) == Names{"u", "x_scale"});
}

TEST_CASE("Constants behind nodes are stored as codes under the name that is read", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {1, 2})
      .constant_node("c", {3, 2}, {1, 2, 3, 4, 5, 6})
      .node("Transpose", {"c"}, {"w"}, "turn");
  builder.node("MatMul", {"x", "w"}, {"y"}, "mm").output("y", {1, 3});
  const QuantizedModel result = quantized(builder.open());
  const ConstantTensor codes = constant_of(*result.model, "w_quantized");
  CHECK(codes.dims == Dims{2, 3});
  // Columns (1,2), (3,4), (5,6) over 127: the larger of each is 127.
  REQUIRE(codes.bytes.size() == 6);
  CHECK(codes.bytes[0] == 64);  // 63.5 to even
  CHECK(codes.bytes[1] == 95);
  CHECK(codes.bytes[2] == 106);
  CHECK(codes.bytes[3] == 127);
  CHECK(codes.bytes[5] == 127);
  CHECK(result.model->graph().find_node("turn") == kNone);
  CHECK(result.model->graph().find_tensor("c") == kNone);
}

TEST_CASE("A Gemm's alpha and beta stay as they are", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {2, 4}).random_floats("w", {4, 3}, 1).random_floats("b", {3}, 2);
  builder.node("Gemm", {"x", "w", "b"}, {"y"}, "gemm", {{"beta", 0.5F}}).output("y", {2, 3});
  const QuantizedModel result = quantized(builder.open());
  const Graph& graph = result.model->graph();
  CHECK(graph.float_attribute(graph.find_node("gemm"), "beta", 1.0F) == 0.5F);
  CHECK(names_of(graph, node_of(graph, "gemm").inputs)[2] == "b");
}

TEST_CASE("What doesn't fit is refused before anything is written", "[plan]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan plan = plan_of(*model);
  const Encodings good = encodings_of(*model, plan);
  const auto error_with = [&](const std::string& tensor, const std::function<void(Encoding&)>& change) {
    Encodings changed = good;
    Encoding encoding = *good.find(tensor);
    change(encoding);
    changed.set(tensor, encoding);
    const Result<QuantizedModel> result = insert_qdq(model, plan, changed, {"minmax", 1, false});
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().where == tensor);
    CHECK(result.error().code == ErrorCode::kInvalidPolicy);
    return result.error().message;
  };
  CHECK(error_with("x", [](Encoding& e) {
          e.format = NumberFormat::kInt8;
        }).find("is for int8, but the plan wants uint8") != std::string::npos);
  CHECK(error_with("x", [](Encoding& e) { e.scale = {0.0F}; }).find("not a positive number") !=
        std::string::npos);
  CHECK(error_with("x", [](Encoding& e) { e.zero_point = {256}; }).find("zero point that uint8 can't hold") !=
        std::string::npos);
  CHECK(error_with("w1", [](Encoding& e) {
          e.scale.pop_back();
        }).find("has 5 scales where the tensor needs 6") != std::string::npos);
  CHECK(error_with("w1", [](Encoding& e) { e.axis = 1; }).find("another axis") != std::string::npos);
  CHECK(error_with("b1", [](Encoding& e) { e.scale[2] *= 2.0F; }).find("not the product") !=
        std::string::npos);
  CHECK(error_with("b1", [](Encoding& e) { e.zero_point[1] = 1; }).find("a bias can't have") !=
        std::string::npos);

  Encodings missing;
  for (const auto& [tensor, encoding] : good.all()) {
    if (tensor != "t2") missing.set(tensor, encoding);
  }
  const Result<QuantizedModel> without = insert_qdq(model, plan, missing, {"minmax", 1, false});
  REQUIRE_FALSE(without.ok());
  CHECK(without.error().code == ErrorCode::kInvalidState);

  const Result<QuantizedModel> again = insert_qdq(quantized(model).model, plan, good, {"minmax", 1, false});
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == ErrorCode::kInvalidState);
}

}  // namespace halftone::test
