// Target aimet through make_plan: one test for each rule of AIMET's placement.
#include <catch2/catch_all.hpp>

#include "halftone/encoding.h"
#include "halftone/exchange.h"
#include "halftone/rewrite.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;

PlanOptions aimet_options(std::string_view config = "") {
  PlanOptions options;
  options.target = Target::kAimet;
  if (config.empty()) return options;
  Result<AimetConfig> read = aimet_config_from_json(config);
  INFO((read.ok() ? "" : read.error().message));
  REQUIRE(read.ok());
  options.config = std::move(read).value();
  return options;
}

Plan aimet_plan(const ModelBuilder& builder, std::string_view config = "") {
  return plan_of(*builder.open(), aimet_options(config));
}

Error refusal(const PlanOptions& options) {
  const Result<Plan> plan = make_plan(*two_convs().open(), options);
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.error().code == ErrorCode::kInvalidPolicy);
  CHECK_FALSE(plan.error().next.empty());
  return plan.error();
}

// x [1,4] -> `op` -> y
ModelBuilder unary(std::string_view op, const std::vector<AttributeSetting>& attributes = {}) {
  ModelBuilder builder;
  builder.input("x", {1, 4}).node(op, {"x"}, {"y"}, "node", attributes).untyped_output("y");
  return builder;
}

}  // namespace

TEST_CASE("Parameters come first, then inputs, then what nodes read and make", "[plan][aimet]") {
  const Plan plan = aimet_plan(two_convs());
  CHECK(tensors_of(plan) == Names{"w1", "b1", "w2", "b2", "x", "t1", "t2", "y"});
  CHECK(quantized_tensors_of(plan) == Names{"w1", "w2", "x", "t2", "y"});
  CHECK(plan.options.activations == NumberFormat::kUint8);
  CHECK(plan.options.weights == NumberFormat::kInt8);
  CHECK(plan.options.activations_symmetric == false);
  CHECK(plan.opset_needed == 13);
}

TEST_CASE("Parameters are symmetric per channel, activations asymmetric, biases off", "[plan][aimet]") {
  const Plan plan = aimet_plan(two_convs());
  const Site& weight = site_of(plan, "w1");
  CHECK(weight.role == Role::kWeight);
  CHECK(weight.rule == "weight_per_channel");
  CHECK(weight.format == NumberFormat::kInt8);
  CHECK(weight.symmetric);
  CHECK(weight.axis == 0);
  CHECK(weight.aimet == AimetGrid{});
  CHECK(weight.why == "Parameter weight of Conv \"first\": int8 symmetric, one scale per channel (axis 0).");

  const Site& bias = site_of(plan, "b1");
  CHECK(bias.role == Role::kWeight);
  CHECK(bias.rule == "parameter_off");
  CHECK(bias.why.find("is_quantized \"True\" for bias") != std::string::npos);

  const Site& input = site_of(plan, "x");
  CHECK(input.rule == "model_input");
  CHECK(input.role == Role::kActivation);
  CHECK(input.format == NumberFormat::kUint8);
  CHECK_FALSE(input.symmetric);
  const Site& output = site_of(plan, "y");
  CHECK(output.rule == "node_output");
  CHECK(output.serves_output);
  CHECK(output.consumers.empty());
  CHECK(input_of(plan, "first", 0).quantized);
  CHECK(input_of(plan, "first", 2).rule == "parameter_off");
}

TEST_CASE("Inside a supergroup outputs are off, unless the chain branches", "[plan][aimet]") {
  const Plan plan = aimet_plan(two_convs());
  CHECK(site_of(plan, "t1").rule == "supergroup");
  CHECK(site_of(plan, "t1").why.find("Conv \"first\" and Relu \"relu\" run as one") != std::string::npos);
  CHECK(input_of(plan, "relu", 0).rule == "supergroup");

  ModelBuilder branching = two_convs();
  branching.output("t1", {1, 6, 6, 6});
  CHECK(site_of(aimet_plan(branching), "t1").rule == "node_output");
  ModelBuilder read_twice = two_convs();
  read_twice.node("Neg", {"t1"}, {"z"}, "neg").untyped_output("z");
  CHECK(site_of(aimet_plan(read_twice), "t1").rule == "node_output");
}

TEST_CASE("Depthwise and three-dimensional convolutions are in no supergroup", "[plan][aimet]") {
  const auto conv_relu = [](const Dims& input, const Dims& weight, std::int64_t group) {
    ModelBuilder builder;
    builder.input("x", input)
        .random_floats("w", weight, 1)
        .node("Conv", {"x", "w"}, {"t"}, "conv", {{"group", group}})
        .node("Relu", {"t"}, {"y"}, "relu")
        .untyped_output("y");
    return site_of(aimet_plan(builder), "t").rule;
  };
  CHECK(conv_relu({1, 4, 5, 5}, {4, 4, 3, 3}, 1) == "supergroup");
  CHECK(conv_relu({1, 4, 5, 5}, {4, 2, 3, 3}, 2) == "supergroup");
  CHECK(conv_relu({1, 1, 5, 5}, {4, 1, 3, 3}, 1) == "supergroup");
  CHECK(conv_relu({1, 4, 5, 5}, {4, 1, 3, 3}, 4) == "node_output");
  CHECK(conv_relu({1, 4, 5, 5, 5}, {4, 4, 3, 3, 3}, 1) == "node_output");
}

TEST_CASE("Add and Relu, Gemm and Relu, Conv and Clip are supergroups; MatMul and Relu are none",
          "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {2, 4})
      .random_floats("w", {4, 4}, 1)
      .random_floats("v", {4, 4}, 2)
      .node("Gemm", {"x", "w"}, {"g"}, "gemm")
      .node("Relu", {"g"}, {"r"}, "relu1")
      .node("Add", {"r", "x"}, {"a"}, "add")
      .node("Relu", {"a"}, {"s"}, "relu2")
      .node("MatMul", {"s", "v"}, {"m"}, "matmul")
      .node("Relu", {"m"}, {"y"}, "relu3")
      .untyped_output("y");
  const Plan plan = aimet_plan(builder);
  CHECK(site_of(plan, "g").rule == "supergroup");
  CHECK(site_of(plan, "a").rule == "supergroup");
  CHECK(site_of(plan, "m").rule == "node_output");
  CHECK(quantized_tensors_of(plan) == Names{"w", "v", "x", "r", "s", "m", "y"});
}

TEST_CASE("A longer supergroup goes before a shorter one, and nodes are used once", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {1, 4})
      .node("Neg", {"x"}, {"a"}, "n1")
      .node("Abs", {"a"}, {"b"}, "n2")
      .node("Relu", {"b"}, {"y"}, "n3")
      .untyped_output("y");
  constexpr std::string_view kConfig = R"({"defaults": {"ops": {"is_output_quantized": "True"}},
    "supergroups": [{"op_list": ["Abs", "Relu"]}, {"op_list": ["Neg", "Abs", "Relu"]}]})";
  CHECK(quantized_tensors_of(aimet_plan(builder, kConfig)) == Names{"y"});
  constexpr std::string_view kOverlap = R"({"defaults": {"ops": {"is_output_quantized": "True"}},
    "supergroups": [{"op_list": ["Neg", "Abs"]}, {"op_list": ["Abs", "Relu"]}]})";
  CHECK(quantized_tensors_of(aimet_plan(builder, kOverlap)) == Names{"b", "y"});
}

TEST_CASE("An Add of a vector behind a MatMul is its bias", "[plan][aimet]") {
  const auto matmul_add = [](const Dims& bias) {
    ModelBuilder builder;
    builder.input("x", {2, 4})
        .random_floats("w", {4, 3}, 1)
        .random_floats("b", bias, 2)
        .node("MatMul", {"x", "w"}, {"m"}, "matmul")
        .node("Add", {"b", "m"}, {"y"}, "add")
        .untyped_output("y");
    return aimet_plan(builder);
  };
  const Plan plan = matmul_add({3});
  CHECK(tensors_of(plan) == Names{"w", "b", "x", "m", "y"});
  CHECK(site_of(plan, "m").rule == "matmul_add");
  CHECK(site_of(plan, "b").rule == "parameter_off");
  CHECK(site_of(plan, "w").axis == 1);
  const Plan matrix = matmul_add({1, 3});
  CHECK(site_of(matrix, "m").rule == "node_output");
  CHECK(site_of(matrix, "b").rule == "static_activation");
}

TEST_CASE("A constant that is no parameter is a static activation", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {1, 4})
      .floats("c", {1, 4}, {-1, 0, 1, 3})
      .node("Mul", {"x", "c"}, {"y"}, "mul")
      .untyped_output("y");
  const std::shared_ptr<const Model> model = builder.open();
  Plan plan = plan_of(*model, aimet_options());
  const Site& site = site_of(plan, "c");
  CHECK(site.role == Role::kActivation);
  CHECK(site.rule == "static_activation");
  CHECK(site.format == NumberFormat::kUint8);
  CHECK_FALSE(site.symmetric);
  CHECK(tensors_of(plan) == Names{"x", "c", "y"});

  // Its range is that of its values, and no sample is asked for it.
  Encodings encodings;
  for (const char* tensor : {"x", "y"})
    encodings.set(tensor, activation_encoding(site_of(plan, tensor), {-1, 3}).value());
  REQUIRE(complete_encodings(*model, plan, encodings).ok());
  REQUIRE(encodings.find("c") != nullptr);
  CHECK(encodings.find("c")->scale.front() == 0.015686275F);
  CHECK(encodings.find("c")->zero_point.front() == 64);
  CHECK(check_plan(*model, plan).ok());
}

TEST_CASE("Operators that only move values never have an output quantizer", "[plan][aimet]") {
  for (const char* op : {"Flatten", "Identity", "Transpose"}) {
    INFO(op);
    ModelBuilder builder;
    builder.input("x", {1, 4})
        .node(op, {"x"}, {"t"}, "mover")
        .node("Neg", {"t"}, {"y"}, "neg")
        .untyped_output("y");
    const Plan plan = aimet_plan(builder);
    CHECK(tensors_of(plan) == Names{"x", "y"});
    CHECK(input_of(plan, "neg", 0).rule == "no_quantizer");
    CHECK(input_of(plan, "neg", 0).why.find("only moves values") != std::string::npos);
    // Not even when a configuration asks for it.
    const std::string config =
        R"({"op_type": {")" + std::string(op) + R"(": {"is_output_quantized": "True"}}})";
    CHECK(plan_of(*builder.open(), aimet_options(config)).find("t") == nullptr);
  }
}

TEST_CASE("Operators that keep the grid are off unless the configuration names them", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {1, 1, 4, 4})
      .node("MaxPool", {"x"}, {"y"}, "pool", {{"kernel_shape", std::vector<std::int64_t>{2, 2}}})
      .untyped_output("y");
  const Site off = site_of(aimet_plan(builder), "y");
  CHECK(off.rule == "grid_preserving");
  CHECK(off.why.find("an entry for MaxPool") != std::string::npos);
  constexpr std::string_view kNamed =
      R"({"defaults": {"ops": {"is_output_quantized": "True"}}, "op_type": {"MaxPool": {}}})";
  CHECK(site_of(aimet_plan(builder, kNamed), "y").rule == "node_output");
  // Concat only joins, but keeps its own quantizer.
  ModelBuilder concat;
  concat.input("x", {1, 4})
      .node("Concat", {"x", "x"}, {"y"}, "concat", {{"axis", std::int64_t{1}}})
      .untyped_output("y");
  CHECK(site_of(aimet_plan(concat), "y").quantized);
}

TEST_CASE("The configuration's entry for Cast switches it off", "[plan][aimet]") {
  const Site& site = site_of(aimet_plan(unary("Cast", {{"to", std::int64_t{1}}})), "y");
  CHECK(site.rule == "operator_off");
  CHECK(site.why.find("is_output_quantized \"True\" for Cast") != std::string::npos);
}

TEST_CASE("Only the first input of Resize is data", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {1, 1, 4, 4})
      .floats("scales", {4}, {1, 1, 2, 2})
      .node("Resize", {"x", "", "scales"}, {"y"}, "resize")
      .untyped_output("y");
  const Plan plan = aimet_plan(builder);
  CHECK(tensors_of(plan) == Names{"x", "y"});
  CHECK(input_of(plan, "resize", 1).rule == "omitted");
  CHECK(input_of(plan, "resize", 2).rule == "resize_setting");
}

TEST_CASE("Only float32 tensors have quantizers", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {1, 4})
      .input("i", {1, 4}, DataType::kInt64)
      .node("Cast", {"i"}, {"f"}, "cast", {{"to", std::int64_t{1}}})
      .node("Add", {"x", "f"}, {"y"}, "add")
      .untyped_output("y");
  const Plan plan = aimet_plan(builder);
  CHECK(tensors_of(plan) == Names{"x", "f", "y"});
  CHECK(input_of(plan, "cast", 0).rule == "not_float");
}

TEST_CASE("Norms: weights on, bias and running statistics off, LayerNormalization asymmetric",
          "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {1, 3, 4, 4});
  for (const char* name : {"s", "b", "m", "v"}) builder.random_floats(name, {3}, 1);
  builder.random_floats("ls", {4}, 2)
      .random_floats("lb", {4}, 3)
      .node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"t"}, "norm")
      .node("LayerNormalization", {"t", "ls", "lb"}, {"y"}, "layer_norm")
      .untyped_output("y");
  const std::shared_ptr<const Model> model = builder.open();
  const Plan plan = plan_of(*model, aimet_options());
  CHECK(quantized_tensors_of(plan) == Names{"s", "ls", "x", "t", "y"});
  CHECK(site_of(plan, "m").rule == "parameter_off");
  CHECK(site_of(plan, "v").rule == "parameter_off");
  CHECK(site_of(plan, "s").symmetric);
  CHECK(site_of(plan, "s").rule == "weight_per_tensor");
  CHECK_FALSE(site_of(plan, "ls").symmetric);
  PlanOptions wide = aimet_options();
  wide.weights = NumberFormat::kInt16;
  CHECK(site_of(plan_of(*model, wide), "ls").symmetric);
}

TEST_CASE("Channel axes follow the operator", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {1, 4, 5, 5})
      .random_floats("wt", {4, 2, 3, 3}, 1)
      .random_floats("slope", {2, 1, 1}, 2)
      .random_floats("vector", {7}, 3)
      .input("g", {2, 4})
      .random_floats("wg", {3, 4}, 4)
      .random_floats("wh", {3, 5}, 5)
      .random_floats("wm", {2, 5, 6}, 6)
      .node("ConvTranspose", {"x", "wt"}, {"t"}, "transposed")
      .node("PRelu", {"t", "slope"}, {"p"}, "prelu")
      .node("PRelu", {"p", "vector"}, {"q"}, "prelu1")
      .node("Gemm", {"g", "wg"}, {"h"}, "gemm", {{"transB", std::int64_t{1}}})
      .node("Gemm", {"h", "wh"}, {"k"}, "gemm2")
      .node("MatMul", {"k", "wm"}, {"m"}, "matmul")
      .untyped_output("q")
      .untyped_output("m");
  const Plan plan = aimet_plan(builder);
  CHECK(site_of(plan, "wt").axis == 1);
  CHECK(site_of(plan, "slope").axis == -1);
  CHECK(site_of(plan, "vector").axis == 0);
  CHECK(site_of(plan, "wg").axis == 0);
  CHECK(site_of(plan, "wh").axis == 1);
  CHECK(site_of(plan, "wm").axis == 2);
  CHECK(has_warning(plan, "batched_matmul_scales", "1 MatMul weight"));
  PlanOptions whole = aimet_options();
  whole.per_channel = false;
  CHECK(site_of(plan_of(*builder.open(), whole), "wt").rule == "weight_per_tensor");
}

TEST_CASE("A MatMul's weight is a parameter through a Transpose too", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {2, 4})
      .random_floats("w", {3, 4}, 1)
      .node("Transpose", {"w"}, {"wt"}, "transpose")
      .node("MatMul", {"x", "wt"}, {"y"}, "matmul")
      .untyped_output("y");
  const Plan plan = aimet_plan(builder);
  CHECK(tensors_of(plan) == Names{"w", "x", "y"});
  CHECK(site_of(plan, "w").role == Role::kWeight);
  CHECK(site_of(plan, "w").axis == 0);
  CHECK(input_of(plan, "transpose", 0).quantized);
  CHECK(input_of(plan, "matmul", 1).rule == "constant_result");
}

TEST_CASE("A computed second operand has a weight's symmetry", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("a", {2, 4})
      .input("b", {4, 3})
      .node("MatMul", {"a", "b"}, {"y"}, "matmul")
      .untyped_output("y");
  const Plan plan = aimet_plan(builder);
  CHECK_FALSE(site_of(plan, "a").symmetric);
  CHECK(site_of(plan, "b").symmetric);
  CHECK(site_of(plan, "b").format == NumberFormat::kUint8);
  CHECK(site_of(plan, "b").why.find("second operand of MatMul \"matmul\"") != std::string::npos);
}

TEST_CASE("Recurrent weights are parameters, and states share one scale", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {3, 1, 2})
      .input("h", {1, 1, 4})
      .random_floats("w", {1, 4, 2}, 1)
      .random_floats("r", {1, 4, 4}, 2)
      .node("RNN", {"x", "w", "r", "", "", "h"}, {"all", "last"}, "rnn", {{"hidden_size", std::int64_t{4}}})
      .untyped_output("all")
      .untyped_output("last");
  const Plan plan = aimet_plan(builder);
  CHECK(tensors_of(plan) == Names{"w", "r", "x", "h", "all", "last"});
  CHECK(site_of(plan, "w").rule == "weight_per_tensor");
  CHECK(site_of(plan, "h").scale_group == "state:h");
  CHECK(site_of(plan, "last").scale_group == "state:h");
  CHECK_FALSE(site_of(plan, "all").scale_group.has_value());
}

TEST_CASE("Sections of a configuration apply in rising priority", "[plan][aimet]") {
  // Nothing is on by itself.
  CHECK(quantized_tensors_of(aimet_plan(two_convs(), "{}")).empty());
  CHECK(quantized_tensors_of(aimet_plan(two_convs(), R"({"params": {"bias": {"is_quantized": "True"}}})")) ==
        Names{"b1", "b2"});
  CHECK(quantized_tensors_of(aimet_plan(two_convs(), R"({"defaults": {"params": {"is_quantized": "True"}},
                             "op_type": {"Conv": {"params": {"weight": {"is_quantized": "False"}}}}})")) ==
        Names{"b1", "b2"});
  CHECK(quantized_tensors_of(aimet_plan(
            two_convs(), R"({"op_type": {"Relu": {"is_input_quantized": "True"}}})")) == Names{"t1"});
  CHECK(quantized_tensors_of(aimet_plan(two_convs(), R"({"op_type": {"Relu": {"is_input_quantized": "True"}},
                             "supergroups": [{"op_list": ["Conv", "Relu"]}],
                             "model_output": {"is_output_quantized": "True"}})")) == Names{"y"});
  const Plan plan = aimet_plan(two_convs(), R"({"defaults": {"ops": {"is_output_quantized": "True"},
      "params": {"is_quantized": "True"}, "strict_symmetric": "True", "per_channel_quantization": "True"},
      "op_type": {"Relu": {"is_symmetric": "True"}, "Conv": {"encoding_constraints": {"min": -1, "max": 1}}},
      "model_output": {"is_output_quantized": "False"}})");
  CHECK(site_of(plan, "t2").symmetric);
  CHECK(site_of(plan, "t1").symmetric);  // a range around 0
  REQUIRE(site_of(plan, "t1").fixed_range.has_value());
  CHECK(site_of(plan, "t1").fixed_range->max == 1.0F);
  CHECK(site_of(plan, "y").rule == "model_output");
  CHECK_FALSE(site_of(plan, "w1").symmetric);
  CHECK(site_of(plan, "b1").axis == 0);
  CHECK(site_of(plan, "w1").aimet->strict_symmetric);
}

TEST_CASE("Patterns speak about the quantizers of a node", "[plan][aimet]") {
  PlanOptions options = aimet_options();
  options.exclude = {"first"};
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan plan = plan_of(*model, options);
  // The graph input is that of its first reader.
  CHECK(quantized_tensors_of(plan) == Names{"w2", "t2", "y"});
  CHECK(site_of(plan, "x").rule == "excluded");
  CHECK(site_of(plan, "t1").rule == "supergroup");
  options.exclude = {"t2"};
  CHECK(quantized_tensors_of(plan_of(*model, options)) == Names{"w1", "w2", "x", "y"});
  options.exclude.clear();
  options.include = {"op:Relu"};
  plan = plan_of(*model, options);
  CHECK(quantized_tensors_of(plan) == Names{"t2"});
  CHECK(site_of(plan, "w1").rule == "not_included");
}

TEST_CASE("Target aimet refuses options of other targets, and they its own", "[plan][aimet]") {
  PlanOptions options = aimet_options();
  options.direct_io = true;
  CHECK(refusal(options).message == "The option direct_io has no meaning for target aimet.");
  options = aimet_options();
  options.match = "modelopt";
  CHECK(refusal(options).message == "Target aimet can't match \"modelopt\".");
  options = aimet_options();
  options.weights = NumberFormat::kFloat8E4M3Fn;
  CHECK(refusal(options).where == "weights");
  options = aimet_options();
  options.activations = NumberFormat::kInt4;
  CHECK(refusal(options).where == "activations");
  for (const Target target : {Target::kOnnxRuntime, Target::kTensorRT}) {
    options = aimet_options("{}");
    options.target = target;
    CHECK(refusal(options).message.starts_with("The option config has no meaning"));
    CHECK(refusal(options).next == "Leave it out, or choose target aimet.");
  }
}

TEST_CASE("A quantizer stays with its tensor when an old opset has to be raised", "[plan][aimet]") {
  // The conversion to 13, which scales per channel need, puts three nodes in place of this Softmax.
  ModelBuilder builder;
  builder.opset(11)
      .input("x", {2, 3, 4})
      .random_floats("w", {4, 4}, 1)
      .node("MatMul", {"x", "w"}, {"m"}, "matmul")
      .node("Softmax", {"m"}, {"y"}, "softmax", {{"axis", std::int64_t{1}}})
      .output("y", {2, 3, 4});
  const std::shared_ptr<const Model> model = builder.open();
  Plan plan = plan_of(*model, aimet_options());
  CHECK(quantized_tensors_of(plan) == Names{"w", "x", "m", "y"});
  Encodings encodings;
  for (const char* tensor : {"x", "m", "y"})
    encodings.set(tensor, activation_encoding(site_of(plan, tensor), {-1, 3}).value());
  REQUIRE(complete_encodings(*model, plan, encodings).ok());
  const Result<QuantizedModel> quantized = insert_qdq(model, plan, encodings, {});
  INFO((quantized.ok() ? "" : quantized.error().message));
  REQUIRE(quantized.ok());
  const Graph& graph = quantized.value().model->graph();
  CHECK(graph.opset() == 13);
  const TensorId product = graph.find_tensor("m");
  REQUIRE(product != kNone);
  REQUIRE(graph.tensor(product).consumers.size() == 1);
  CHECK(graph.node(graph.tensor(product).consumers.front().node).op_type == "QuantizeLinear");
  CHECK(graph.find_node("softmax") != kNone);
}

TEST_CASE("An edited plan can't take a reader away from a quantizer", "[plan][aimet]") {
  ModelBuilder builder;
  builder.input("x", {1, 4})
      .node("Neg", {"x"}, {"y"}, "neg")
      .node("Abs", {"x"}, {"z"}, "abs")
      .untyped_output("y")
      .untyped_output("z");
  const std::shared_ptr<const Model> model = builder.open();
  Plan plan = plan_of(*model, aimet_options());
  CHECK(check_plan(*model, plan).ok());
  plan.sites.front().consumers.pop_back();
  const Result<void> checked = check_plan(*model, plan);
  REQUIRE_FALSE(checked.ok());
  CHECK(checked.error().message.find("1 of its tensor's 2 readers") != std::string::npos);
}

TEST_CASE("A plan for target aimet survives its file", "[plan][aimet]") {
  PlanOptions options = aimet_options(
      R"({"defaults": {"ops": {"is_output_quantized": "True"}, "unsigned_symmetric": "True"}, "extra": 1})");
  options.match = "aimet";
  const std::shared_ptr<const Model> model = two_convs().open();
  const Plan plan = plan_of(*model, options);
  CHECK(has_warning(plan, "config_key_unknown", "$.extra"));
  CHECK(site_of(plan, "y").aimet == AimetGrid{false, true, true});
  const std::string text = plan_to_json(plan, {});
  const Result<Plan> read = plan_from_json(text);
  INFO((read.ok() ? "" : read.error().message));
  REQUIRE(read.ok());
  CHECK(plan_to_json(read.value(), {}) == text);
  CHECK(read.value().find("y")->aimet == AimetGrid{false, true, true});
  REQUIRE(read.value().options.config.has_value());
  CHECK(read.value().options.config->unsigned_symmetric);
  CHECK(check_plan(*model, read.value()).ok());

  std::string broken = text;
  broken.replace(broken.find("\"is_output_quantized\": \"True\""), 29, "\"is_output_quantized\": \"Yes!\"");
  const Result<Plan> refused = plan_from_json(broken);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("$.defaults.ops.is_output_quantized") != std::string::npos);
}

}  // namespace halftone::test
