// Target tensorrt through make_plan: options, sites, reasons. The policy's own functions are tested in
// plan/tensorrt, its answers against ModelOpt's in golden_tensorrt_test.cc.
#include "halftone/encoding.h"
#include "halftone/exchange.h"
#include "plan/plan_cases.h"
#include "plan/tensorrt/example_graphs.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;

PlanOptions tensorrt_options() {
  PlanOptions options;
  options.target = Target::kTensorRT;
  return options;
}

// "add: 0 fused_branch, 1 +partition_edge": a plus where the input reads a pair.
std::string rules_of(const Plan& plan, std::string_view node) {
  std::string text;
  for (const InputDecision& input : plan.inputs) {
    if (input.node != node) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(input.input) + (input.quantized ? " +" : " ") +
            input.rule;
  }
  return text;
}

Error refusal(const PlanOptions& options) {
  const Result<Plan> plan = make_plan(*residual_block().open(), options);
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.error().code == ErrorCode::kInvalidPolicy);
  CHECK_FALSE(plan.error().next.empty());
  return plan.error();
}

}  // namespace

TEST_CASE("Target tensorrt quantizes to symmetric int8, constants per channel, biases not at all",
          "[plan][tensorrt]") {
  const Plan plan = plan_of(*two_convs().open(), tensorrt_options());
  // Four and six channels: below TensorRT's threshold.
  CHECK(quantized_tensors_of(plan).empty());
  CHECK(rules_of(plan, "first") == "0 small_convolution, 1 small_convolution, 2 small_convolution");
  CHECK(has_warning(plan, "nothing_to_quantize"));

  const Plan block = plan_of(*residual_block().open(), tensorrt_options());
  CHECK(quantized_tensors_of(block) == Names{"x", "w1", "r1", "w2", "r2", "w3"});
  CHECK(block.options.activations == NumberFormat::kInt8);
  CHECK(block.options.weights == NumberFormat::kInt8);
  CHECK(block.options.activations_symmetric == true);
  CHECK(block.opset_needed == 13);
  const Site& weight = site_of(block, "w2");
  CHECK(weight.role == Role::kWeight);
  CHECK(weight.format == NumberFormat::kInt8);
  CHECK(weight.symmetric);
  CHECK(weight.granularity == Granularity::kChannel);
  CHECK(weight.axis == 0);
  const Site& skip = site_of(block, "r1");
  CHECK(skip.format == NumberFormat::kInt8);
  CHECK(skip.symmetric);
  CHECK(skip.granularity == Granularity::kTensor);
  REQUIRE(skip.consumers.size() == 2);
  CHECK(skip.consumers[0].node == "conv2");
  CHECK(skip.consumers[1].node == "add");
  CHECK(skip.consumers[1].input == 1);
  CHECK_FALSE(skip.scale_group.has_value());
  CHECK_FALSE(skip.serves_output);
}

TEST_CASE("Every input has its rule, its partition, and what would have to differ", "[plan][tensorrt]") {
  const Plan plan = plan_of(*residual_block().open(), tensorrt_options());
  CHECK(rules_of(plan, "conv1") == "0 +partition_head, 1 +weight_per_channel");
  CHECK(rules_of(plan, "relu1") == "0 inside_partition");
  CHECK(rules_of(plan, "add") == "0 fused_branch, 1 +partition_edge");
  CHECK(rules_of(plan, "relu3") == "0 operator_not_quantizable");
  CHECK(input_of(plan, "relu1", 0).partition == "cask:conv1");
  CHECK(input_of(plan, "add", 0).partition == "cask:conv3");
  CHECK_FALSE(input_of(plan, "relu3", 0).partition.has_value());
  CHECK(input_of(plan, "add", 0).why.find("would have to") != std::string::npos);
  CHECK(input_of(plan, "relu1", 0).why.find("would have to") != std::string::npos);
  CHECK(site_of(plan, "c3").rule == "fused_branch");
  CHECK(site_of(plan, "r1").why.find("\"conv2\" and 1 more") != std::string::npos);
}

TEST_CASE("Options that contradict themselves or the target are refused with a way out", "[plan][tensorrt]") {
  PlanOptions options = tensorrt_options();
  options.weights = NumberFormat::kUint8;
  CHECK(refusal(options).where == "activations");  // unset, it follows the weights
  options.activations = NumberFormat::kInt8;
  CHECK(refusal(options).where == "weights");
  options.weights = NumberFormat::kFloat8E4M3Fn;
  CHECK(refusal(options).message.find("same format") != std::string::npos);
  options = tensorrt_options();
  options.activations_symmetric = false;
  CHECK(refusal(options).where == "activations_symmetric");
  options = tensorrt_options();
  options.match = "onnxruntime";
  CHECK(refusal(options).message == "Target tensorrt can't match \"onnxruntime\".");
  options.match = "modelopt";
  options.raw_excluded = true;
  CHECK(refusal(options).where == "raw_excluded");
  options.raw_excluded = false;
  options.per_channel = false;
  CHECK(refusal(options).where == "per_channel");
  options = tensorrt_options();
  options.activations = NumberFormat::kFloat8E4M3Fn;
  options.dla = true;
  CHECK(refusal(options).where == "dla");

  PlanOptions other;  // target onnxruntime
  other.match = "modelopt";
  CHECK(refusal(other).where == "match");
  other.match.reset();
  other.direct_io = true;
  CHECK(refusal(other).where == "direct_io");
}

TEST_CASE("Excluded nodes share their neighbours' pairs unless asked otherwise", "[plan][tensorrt]") {
  PlanOptions options = tensorrt_options();
  options.exclude = {"add"};
  CHECK(rules_of(plan_of(*residual_block().open(), options), "add") == "0 excluded, 1 +shared_pair");
  options.raw_excluded = true;
  const Plan raw = plan_of(*residual_block().open(), options);
  CHECK(rules_of(raw, "add") == "0 excluded, 1 excluded");
  CHECK(rules_of(raw, "conv2") == "0 +partition_head, 1 +weight_per_channel");
  CHECK(site_of(raw, "r1").consumers.size() == 1);

  // A convolution is protected in any case.
  options = tensorrt_options();
  options.exclude = {"conv3"};
  const Plan plan = plan_of(*residual_block().open(), options);
  CHECK(rules_of(plan, "conv3") == "0 excluded, 1 excluded");
  CHECK(site_of(plan, "w3").quantized == false);
  CHECK(site_of(plan, "w3").why.find("\"conv3\"") != std::string::npos);

  // A tensor's name takes it out wherever it is read, and leaves its readers' other inputs.
  options.exclude = {"r1"};
  const Plan tensor = plan_of(*residual_block().open(), options);
  CHECK(quantized_tensors_of(tensor) == Names{"x", "w1", "w2", "r2", "w3"});
  CHECK(rules_of(tensor, "conv2") == "0 excluded, 1 +weight_per_channel");
}

TEST_CASE("Include patterns are a list of nodes in place of the policy", "[plan][tensorrt]") {
  PlanOptions options = tensorrt_options();
  options.include = {"add", "glob:relu*"};
  const Plan plan = plan_of(*residual_block().open(), options);
  // Both inputs of the Add, as no residual rule holds; a Relu is none of the operators that a name includes.
  CHECK(rules_of(plan, "add") == "0 +listed, 1 +listed");
  CHECK(rules_of(plan, "relu3") == "0 not_included");
  CHECK(rules_of(plan, "conv2") == "0 +shared_pair, 1 not_included");
  options.include = {"op:Relu"};
  CHECK(quantized_tensors_of(plan_of(*residual_block().open(), options)) == Names{"c1", "c2", "a"});
  options.include = {"op:Add"};
  options.exclude = {"c3"};
  CHECK(quantized_tensors_of(plan_of(*residual_block().open(), options)) == Names{"r1"});
  options.exclude = {};
  options.raw_excluded = true;
  CHECK(rules_of(plan_of(*residual_block().open(), options), "conv2") == "0 not_included, 1 not_included");
}

TEST_CASE("For the deep learning accelerator every operator is quantized", "[plan][tensorrt]") {
  PlanOptions options = tensorrt_options();
  options.dla = true;
  const Plan plan = plan_of(*residual_block().open(), options);
  CHECK(rules_of(plan, "relu1") == "0 +listed");
  CHECK(rules_of(plan, "add") == "0 +listed, 1 +listed");
}

TEST_CASE("float8 takes Conv, Gemm, MatMul and Add, and needs opset 19", "[plan][tensorrt]") {
  PlanOptions options = tensorrt_options();
  options.activations = NumberFormat::kFloat8E4M3Fn;
  const Plan plan = plan_of(*residual_block().open(), options);
  CHECK(plan.options.weights == NumberFormat::kFloat8E4M3Fn);
  CHECK(site_of(plan, "w1").format == NumberFormat::kFloat8E4M3Fn);
  CHECK(site_of(plan, "x").format == NumberFormat::kFloat8E4M3Fn);
  CHECK(plan.opset_needed == 19);
  CHECK(rules_of(plan_of(*squeeze_excitation().open(), options), "mul") ==
        "0 operator_not_quantizable, 1 operator_not_quantizable");
  CHECK(rules_of(plan_of(*squeeze_excitation().open(), tensorrt_options()), "mul") ==
        "0 +pointwise_head, 1 +pointwise_head");
}

TEST_CASE("Constants are weights however they are stored, unless ModelOpt is to be matched",
          "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 8, 8})
      .constant_node("k", {32, 32, 1, 1})
      .nodes("c = Conv(x, k) #conv")
      .output("c");
  PlanOptions options = tensorrt_options();
  const Plan plan = plan_of(*graph.open(), options);
  CHECK(site_of(plan, "k").granularity == Granularity::kChannel);
  CHECK(site_of(plan, "k").axis == 0);
  options.match = "modelopt";
  const Plan matching = plan_of(*graph.open(), options);
  CHECK(matching.match == "modelopt");
  CHECK(site_of(matching, "k").role == Role::kWeight);
  CHECK(site_of(matching, "k").granularity == Granularity::kTensor);
  CHECK(site_of(matching, "k").why.find("takes a constant that is no initializer for an activation") !=
        std::string::npos);
}

TEST_CASE("A batched MatMul's constant has its scales per column, and that is said", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32, 64}).weight("wb", {2, 64, 48}).nodes("y = MatMul(x, wb) #mm").output("y");
  PlanOptions options = tensorrt_options();
  const Plan plan = plan_of(*graph.open(), options);
  CHECK(site_of(plan, "wb").axis == 2);
  CHECK(has_warning(plan, "matmul_axis", "1 MatMul constant has"));
  options.match = "modelopt";
  const Plan matching = plan_of(*graph.open(), options);
  CHECK(site_of(matching, "wb").axis == 1);
  CHECK_FALSE(has_warning(matching, "matmul_axis"));
  options = tensorrt_options();
  options.per_channel = false;
  CHECK(site_of(plan_of(*graph.open(), options), "wb").axis == -1);
}

TEST_CASE("A constant that is read along different axes has one scale", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {2, 32}).weight("tied", {32, 32});
  graph.node("a = Gemm(x, tied) #plain").node("b = Gemm(a, tied) #turned", {{"transB", std::int64_t{1}}});
  graph.output("b");
  const Plan plan = plan_of(*graph.open(), tensorrt_options());
  CHECK(site_of(plan, "tied").granularity == Granularity::kTensor);
  CHECK(site_of(plan, "tied").consumers.size() == 2);
  CHECK(has_warning(plan, "weight_axes_differ"));
}

TEST_CASE("What a Softmax makes has the range [0, 1]", "[plan][tensorrt]") {
  const Plan plan = plan_of(*attention(Scaling::kMul, Mask::kVariable, true).open(), tensorrt_options());
  std::size_t fixed = 0;
  for (const Site& site : plan.sites) {
    if (!site.fixed_range) continue;
    ++fixed;
    CHECK(site.fixed_range->min == 0.0F);
    CHECK(site.fixed_range->max == 1.0F);
    CHECK(activation_encoding(site, {-5.0F, 9.0F}).value().scale.front() == 1.0F / 127.0F);
    CHECK(activation_encoding(site, {}).ok());
  }
  CHECK(fixed == 1);
}

TEST_CASE("Shapes that only a sample tells are asked for, and settle the speed rules", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {-1, 64}).weight("wm", {64, 32}).nodes("y = MatMul(x, wm) #mm").output("y");
  const std::shared_ptr<const Model> model = graph.open();
  PlanOptions options = tensorrt_options();
  CHECK(shapes_to_measure(*model, options) == Names{"y"});
  const Plan guessed = plan_of(*model, options);
  CHECK(rules_of(guessed, "mm") == "0 gemv, 1 gemv");
  CHECK(has_warning(guessed, "shapes_not_known", "1 shape"));
  options.sample_shapes = {{"y", {8, 32}}};
  CHECK(shapes_to_measure(*model, options).empty());
  const Plan measured = plan_of(*model, options);
  CHECK(rules_of(measured, "mm") == "0 +partition_head, 1 +weight_per_channel");
  CHECK_FALSE(has_warning(measured, "shapes_not_known"));
  options.target = Target::kOnnxRuntime;
  CHECK(shapes_to_measure(*model, options).empty());
}

TEST_CASE("A plan for tensorrt survives its file", "[plan][tensorrt][exchange]") {
  PlanOptions options = tensorrt_options();
  options.match = "modelopt";
  options.float_weights = true;
  options.concat_groups = false;
  options.sample_shapes = {{"c1", {2, 32, 8, 8}}};
  Plan plan = plan_of(*attention(Scaling::kMul, Mask::kVariable, true).open(), options);
  plan.sites.front().scale_group = "edited";
  plan.sites.front().serves_output = true;
  const std::string text = plan_to_json(plan, {"m.onnx", "00"});
  const Result<Plan> back = plan_from_json(text);
  REQUIRE(back.ok());
  CHECK(plan_to_json(back.value(), {"m.onnx", "00"}) == text);
  CHECK(back.value().options.match == "modelopt");
  CHECK(back.value().options.sample_shapes == options.sample_shapes);
  CHECK(text.find("\"fixed_range\": [") != std::string::npos);
}

}  // namespace halftone::test
