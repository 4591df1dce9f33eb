#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;

const std::vector<AttributeSetting> kNoAttributes;

}  // namespace

TEST_CASE("Two convolutions: every input has its site, in the contract's order", "[plan]") {
  const Plan plan = plan_of(*two_convs().open());
  CHECK(tensors_of(plan) == Names{"x", "w1", "b1", "t2", "w2", "b2"});
  const Site& x = site_of(plan, "x");
  CHECK(x.quantized);
  CHECK(x.role == Role::kActivation);
  CHECK(x.format == NumberFormat::kUint8);
  CHECK(x.granularity == Granularity::kTensor);
  CHECK(x.axis == -1);
  CHECK_FALSE(x.symmetric);
  CHECK(x.rule == "operator_input");
  CHECK(x.why == "Read by Conv \"first\": uint8, one scale for the tensor.");
  REQUIRE(x.consumers.size() == 1);
  CHECK(x.consumers[0].node == "first");
  CHECK(x.consumers[0].input == 0);
  CHECK_FALSE(x.bias_of);
  const Site& w1 = site_of(plan, "w1");
  CHECK(w1.quantized);
  CHECK(w1.role == Role::kWeight);
  CHECK(w1.format == NumberFormat::kInt8);
  CHECK(w1.granularity == Granularity::kChannel);
  CHECK(w1.axis == 0);
  CHECK(w1.symmetric);
  CHECK(w1.rule == "weight_per_channel");
  const Site& b2 = site_of(plan, "b2");
  CHECK(b2.quantized);
  CHECK(b2.role == Role::kBias);
  CHECK(b2.format == NumberFormat::kInt32);
  CHECK(b2.granularity == Granularity::kChannel);
  CHECK(b2.axis == 0);
  REQUIRE(b2.bias_of);
  CHECK(b2.bias_of->activation == "t2");
  CHECK(b2.bias_of->weight == "w2");
  CHECK(plan.opset_needed == 13);
  CHECK(plan.warnings.empty());
  const Result<void> checked = check_plan(*two_convs().open(), plan);
  CHECK(checked.ok());
}

TEST_CASE("Every node input has a decision with a reason", "[plan]") {
  const Plan plan = plan_of(*two_convs().open());
  REQUIRE(plan.inputs.size() == 7);
  for (const InputDecision& decision : plan.inputs) {
    CHECK_FALSE(decision.rule.empty());
    CHECK_FALSE(decision.why.empty());
    CHECK(decision.quantized == (decision.node != "relu"));
  }
  const InputDecision& relu = input_of(plan, "relu", 0);
  CHECK(relu.op == "Relu");
  CHECK(relu.tensor == "t1");
  CHECK(relu.rule == "operator_not_listed");
  CHECK(relu.why ==
        "Relu stays float: this target quantizes the inputs of Conv, ConvTranspose, Gemm and MatMul only.");
  CHECK(input_of(plan, "second", 2).rule == "bias_int32");
}

TEST_CASE("Axes of weights follow the operator", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {2, 4, 8, 8}).input("m", {2, 3, 4}).input("r", {3, 4});
  builder.random_floats("up", {4, 6, 2, 2}, 1)
      .node("ConvTranspose", {"x", "up"}, {"o1"}, "up_one", kNoAttributes);
  builder.random_floats("up_group", {4, 3, 2, 2}, 2)
      .node("ConvTranspose", {"x", "up_group"}, {"o2"}, "up_two", {{"group", std::int64_t{2}}});
  builder.random_floats("g", {4, 5}, 3).node("Gemm", {"r", "g"}, {"o3"}, "gemm");
  builder.random_floats("gt", {5, 4}, 4)
      .node("Gemm", {"r", "gt"}, {"o4"}, "gemm_t", {{"transB", std::int64_t{1}}});
  builder.random_floats("left_g", {7, 3}, 5).node("Gemm", {"left_g", "r"}, {"o5"}, "gemm_left");
  builder.random_floats("m2", {4, 5}, 6).node("MatMul", {"m", "m2"}, {"o6"}, "mm");
  builder.random_floats("m3", {2, 4, 5}, 7).node("MatMul", {"m", "m3"}, {"o7"}, "mm3");
  builder.random_floats("v", {4}, 8).node("MatMul", {"m", "v"}, {"o8"}, "mv");
  builder.random_floats("left", {2, 6, 3}, 9).node("MatMul", {"left", "m"}, {"o9"}, "lm");
  builder.random_floats("left_v", {3}, 10).node("MatMul", {"left_v", "m"}, {"o10"}, "vm");
  for (int output = 1; output <= 10; ++output) builder.untyped_output("o" + std::to_string(output));
  const Plan plan = plan_of(*builder.open());
  const auto axis = [&](std::string_view tensor) {
    const Site& site = site_of(plan, tensor);
    CHECK(site.quantized);
    CHECK(site.role == Role::kWeight);
    CHECK((site.granularity == Granularity::kTensor) == (site.axis < 0));
    return site.axis;
  };
  CHECK(axis("up") == 1);
  CHECK(axis("up_group") == -1);
  CHECK(site_of(plan, "up_group").rule == "weight_per_tensor");
  CHECK(site_of(plan, "up_group").why.find("group is 2; with group 1") != std::string::npos);
  CHECK(axis("g") == 1);
  CHECK(axis("gt") == 0);
  CHECK(axis("left_g") == -1);
  CHECK(axis("m2") == 1);
  CHECK(axis("m3") == -1);  // the runtime's fused MatMul fails with scales along an axis of it
  CHECK(site_of(plan, "m3").why.find("fails with scales per column of more than a matrix") !=
        std::string::npos);
  CHECK(axis("v") == -1);
  CHECK(axis("left") == 1);
  CHECK(axis("left_v") == -1);
  PlanOptions options;
  options.weights = NumberFormat::kInt4;
  CHECK(site_of(plan_of(*builder.open(), options), "m3").axis == 2);
  CHECK_FALSE(has_warning(plan, "int8_at_opset_21"));
  options.activations = NumberFormat::kInt8;
  CHECK(has_warning(plan_of(*builder.open(), options), "int8_at_opset_21"));
}

TEST_CASE("A weight that its readers want on different axes gets one scale", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {3, 4}).random_floats("w", {4, 4}, 1);
  builder.node("Gemm", {"x", "w"}, {"a"}, "plain")
      .node("Gemm", {"x", "w"}, {"b"}, "transposed", {{"transB", std::int64_t{1}}});
  builder.output("a", {3, 4}).output("b", {3, 4});
  const Plan plan = plan_of(*builder.open());
  const Site& w = site_of(plan, "w");
  CHECK(w.quantized);
  CHECK(w.granularity == Granularity::kTensor);
  CHECK(w.axis == -1);
  CHECK(w.consumers.size() == 2);
  CHECK(w.why.find("different axes (1 and 0)") != std::string::npos);

  PlanOptions options;
  options.exclude = {"transposed"};
  const Plan without = plan_of(*builder.open(), options);
  CHECK(site_of(without, "w").axis == 1);
  REQUIRE(site_of(without, "w").consumers.size() == 1);
  CHECK(site_of(without, "w").consumers[0].node == "plain");
}

TEST_CASE("Options choose formats, symmetry and granularity", "[plan]") {
  PlanOptions options;
  options.activations = NumberFormat::kInt16;
  options.activations_symmetric = true;
  options.weights = NumberFormat::kInt4;
  options.per_channel = false;
  const Plan plan = plan_of(*two_convs().open(), options);
  CHECK(site_of(plan, "x").format == NumberFormat::kInt16);
  CHECK(site_of(plan, "x").symmetric);
  CHECK(site_of(plan, "w1").format == NumberFormat::kInt4);
  CHECK(site_of(plan, "w1").granularity == Granularity::kTensor);
  CHECK(site_of(plan, "b1").granularity == Granularity::kTensor);
  CHECK(plan.opset_needed == 21);

  options.activations = NumberFormat::kUint8;
  options.weights = NumberFormat::kInt8;
  CHECK(plan_of(*two_convs().open(), options).opset_needed == 10);

  for (const NumberFormat format :
       {NumberFormat::kInt4, NumberFormat::kUint4, NumberFormat::kInt32, NumberFormat::kFloat32}) {
    options.activations = format;
    const Result<Plan> refused = make_plan(*two_convs().open(), options);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kInvalidPolicy);
    CHECK(refused.error().where == "activations");
  }
  options.activations = NumberFormat::kInt8;
  for (const NumberFormat format :
       {NumberFormat::kInt32, NumberFormat::kInt2, NumberFormat::kUint2, NumberFormat::kFloat4E2M1,
        NumberFormat::kFloat8E4M3Fn, NumberFormat::kFloat8E5M2}) {
    options.weights = format;
    const Result<Plan> refused = make_plan(*two_convs().open(), options);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().where == "weights");
    CHECK(refused.error().message ==
          "Target onnxruntime can't store weights as " + std::string(number_format_info(format).name) + ".");
  }
  options.weights = NumberFormat::kUint8;
  CHECK(has_warning(plan_of(*two_convs().open(), options), "no_fused_kernel"));
}

TEST_CASE("Readers that are no listed operator keep the float tensor", "[plan]") {
  ModelBuilder builder;
  builder.input("ids", {3}, DataType::kInt64).input("x", {2, 4}).random_floats("table", {4, 4}, 1);
  builder.node("Gather", {"table", "ids"}, {"rows"}, "gather").node("MatMul", {"x", "table"}, {"y"}, "mm");
  builder.node("Relu", {"y"}, {"z"}, "relu").node("MatMul", {"y", "table"}, {"u"}, "mm2");
  builder.output("rows", {3, 4}).output("y", {2, 4}).output("z", {2, 4}).output("u", {2, 4});
  const Plan plan = plan_of(*builder.open());
  const Site& table = site_of(plan, "table");
  CHECK(table.quantized);
  REQUIRE(table.consumers.size() == 2);
  CHECK(table.consumers[0].node == "mm");
  CHECK(table.consumers[0].input == 1);
  CHECK(table.consumers[1].node == "mm2");
  CHECK(table.why.find("MatMul \"mm\" and 1 more") != std::string::npos);
  CHECK(table.why.find("1 other input keeps the float values") != std::string::npos);
  CHECK_FALSE(input_of(plan, "gather", 0).quantized);
  const Site& y = site_of(plan, "y");
  CHECK(y.quantized);
  REQUIRE(y.consumers.size() == 1);
  CHECK(y.why.find("As an output of the model it stays float") != std::string::npos);
  CHECK(plan.find("ids") == nullptr);
}

TEST_CASE("Two activations, one tensor twice, two constants", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {4, 4}).input("z", {4, 4}).random_floats("c", {4, 4}, 1).random_floats("d", {4, 4}, 2);
  builder.node("MatMul", {"x", "z"}, {"a"}, "both").node("MatMul", {"x", "x"}, {"b"}, "twice");
  builder.node("MatMul", {"c", "d"}, {"e"}, "constants").node("Add", {"a", "e"}, {"f"}, "add");
  builder.output("b", {4, 4}).output("f", {4, 4});
  const Plan plan = plan_of(*builder.open());
  const Site& x = site_of(plan, "x");
  CHECK(x.role == Role::kActivation);
  REQUIRE(x.consumers.size() == 3);
  CHECK(x.consumers[1].node == "twice");
  CHECK(x.consumers[1].input == 0);
  CHECK(x.consumers[2].node == "twice");
  CHECK(x.consumers[2].input == 1);
  CHECK(site_of(plan, "z").quantized);
  for (const char* constant : {"c", "d"}) {
    CHECK_FALSE(site_of(plan, constant).quantized);
    CHECK(site_of(plan, constant).rule == "constant_result");
    CHECK(site_of(plan, constant).consumers.size() == 1);
  }
  CHECK(input_of(plan, "constants", 1).rule == "constant_result");
}

TEST_CASE("Tensors that aren't float32 stay as they are, with the reason", "[plan]") {
  ModelBuilder builder;
  builder.opset(17).opset(1, "custom.domain");
  builder.input("i", {4, 4}, DataType::kInt32).input("x", {4, 4}).random_floats("w", {4, 4}, 1);
  builder.node("MatMul", {"i", "i"}, {"a"}, "integers");
  builder.node("Mystery", {"x"}, {"u"}, "mystery", {}, "custom.domain")
      .node("MatMul", {"u", "w"}, {"b"}, "after");
  builder.output("a", {4, 4}, DataType::kInt32).untyped_output("b");
  const Plan plan = plan_of(*builder.open());
  const Site& i = site_of(plan, "i");
  CHECK_FALSE(i.quantized);
  CHECK(i.rule == "not_float");
  CHECK(i.why == "\"i\" holds int32 values; only float32 tensors are quantized.");
  CHECK_FALSE(site_of(plan, "u").quantized);
  CHECK(site_of(plan, "u").rule == "type_unknown");
  CHECK(site_of(plan, "w").quantized);
  CHECK(input_of(plan, "mystery", 0).rule == "custom_domain");
  CHECK(has_warning(plan, "custom_domain", "1 node of the domain \"custom.domain\" is passed through"));
}

TEST_CASE("Biases become int32 only under the contract's conditions", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {3, 4}).input("computed", {5}).random_floats("w", {4, 5}, 1);
  builder.random_floats("good", {5}, 2).random_floats("row", {1, 5}, 3).random_floats("scalar", {1}, 4);
  builder.random_floats("beta", {5}, 5).random_floats("alpha", {5}, 6).random_floats("shared", {5}, 7);
  builder.node("Gemm", {"x", "w", "good"}, {"o1"}, "n1").node("Gemm", {"x", "w", "row"}, {"o2"}, "n2");
  builder.node("Gemm", {"x", "w", "scalar"}, {"o3"}, "n3").node("Gemm", {"x", "w", "computed"}, {"o4"}, "n4");
  builder.node("Gemm", {"x", "w", "beta"}, {"o5"}, "n5", {{"beta", 0.5F}});
  builder.node("Gemm", {"x", "w", "alpha"}, {"o6"}, "n6", {{"alpha", 2.0F}});
  for (int output = 1; output <= 6; ++output) builder.untyped_output("o" + std::to_string(output));
  const Plan plan = plan_of(*builder.open());
  const auto rule = [&](std::string_view tensor) {
    CHECK_FALSE(site_of(plan, tensor).quantized);
    CHECK(site_of(plan, tensor).role == Role::kBias);
    return site_of(plan, tensor).rule;
  };
  CHECK(site_of(plan, "good").quantized);
  CHECK(rule("row") == "bias_shape");
  CHECK(site_of(plan, "row").why.find("its shape is [1, 5]; with [5]") != std::string::npos);
  CHECK(rule("scalar") == "bias_shape");
  CHECK(rule("beta") == "bias_gemm_factors");
  CHECK(site_of(plan, "beta").why.find("alpha is 1 and beta 0.5") != std::string::npos);
  CHECK(rule("alpha") == "bias_gemm_factors");
  CHECK(plan.find("computed") == nullptr);
  CHECK(input_of(plan, "n4", 2).rule == "bias_not_constant");

  PlanOptions options;
  options.exclude = {"w"};
  const Plan without = plan_of(*builder.open(), options);
  CHECK_FALSE(site_of(without, "good").quantized);
  CHECK(site_of(without, "good").rule == "bias_needs_both_scales");
  options.exclude = {"good"};
  CHECK(site_of(plan_of(*builder.open(), options), "good").rule == "excluded");
  CHECK(site_of(plan_of(*builder.open(), options), "w").quantized);
}

TEST_CASE("A shared bias is int32 for the readers with the same scales and float for the others", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {1, 4, 5, 5})
      .input("z", {1, 4, 5, 5})
      .random_floats("w", {6, 4, 1, 1}, 1)
      .random_floats("b", {6}, 2);
  builder.node("Conv", {"x", "w", "b"}, {"o1"}, "one").node("Conv", {"z", "w", "b"}, {"o2"}, "two");
  builder.node("Conv", {"x", "w", "b"}, {"o3"}, "three");
  for (int output = 1; output <= 3; ++output) builder.untyped_output("o" + std::to_string(output));
  const Plan plan = plan_of(*builder.open());
  const Site& b = site_of(plan, "b");
  CHECK(b.quantized);
  REQUIRE(b.consumers.size() == 2);
  CHECK(b.consumers[0].node == "one");
  CHECK(b.consumers[1].node == "three");
  CHECK(b.bias_of->activation == "x");
  CHECK(input_of(plan, "three", 2).quantized);
  CHECK_FALSE(input_of(plan, "two", 2).quantized);
  CHECK(input_of(plan, "two", 2).rule == "bias_shared");
  CHECK(check_plan(*builder.open(), plan).ok());
  PlanOptions options;
  options.exclude = {"one"};
  CHECK(site_of(plan_of(*builder.open(), options), "b").bias_of->activation == "z");
}

TEST_CASE("A bias that is an operand elsewhere stays float as a bias", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {3, 5}).random_floats("w", {5, 5}, 1).random_floats("b", {5}, 2);
  builder.node("Gemm", {"x", "w", "b"}, {"o1"}, "gemm").node("MatMul", {"x", "b"}, {"o2"}, "mv");
  builder.untyped_output("o1").untyped_output("o2");
  const Plan plan = plan_of(*builder.open());
  CHECK(site_of(plan, "b").role == Role::kWeight);
  REQUIRE(site_of(plan, "b").consumers.size() == 1);
  CHECK(site_of(plan, "b").consumers[0].node == "mv");
  CHECK(input_of(plan, "gemm", 2).rule == "bias_is_operand");
}

TEST_CASE("Weights are constants however they are stored", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {1, 2}).constant_node("c", {2, 3}, {1, 2, 3, 4, 5, 6}).random_floats("flat", {3, 3}, 1);
  builder.node("Identity", {"c"}, {"w1"}, "identity").node("Transpose", {"flat"}, {"w2"}, "turn");
  builder.node("MatMul", {"x", "w1"}, {"t"}, "first")
      .node("MatMul", {"t", "w2"}, {"y"}, "second")
      .output("y", {1, 3});
  const Plan plan = plan_of(*builder.open());
  CHECK(quantized_tensors_of(plan) == Names{"x", "w1", "w2", "t"});  // by the nodes that make them
  CHECK(site_of(plan, "w1").role == Role::kWeight);
  CHECK(site_of(plan, "w2").role == Role::kWeight);
  CHECK(site_of(plan, "w2").axis == 1);
}

TEST_CASE("Bodies of If stay float and say so", "[plan]") {
  ModelBuilder then_branch;
  then_branch.node("MatMul", {"x", "w"}, {"then_out"}, "inner").output("then_out", {2, 4});
  ModelBuilder else_branch;
  else_branch.node("Identity", {"x"}, {"else_out"}, "same").output("else_out", {2, 4});
  ModelBuilder builder;
  builder.input("flag", {}, DataType::kBool).input("x", {2, 4}).random_floats("w", {4, 4}, 1);
  builder.node("If", {"flag"}, {"chosen"}, "branch",
               {{"then_branch", then_branch.body()}, {"else_branch", else_branch.body()}});
  builder.node("MatMul", {"chosen", "w"}, {"y"}, "outer").output("y", {2, 4});
  const Plan plan = plan_of(*builder.open());
  CHECK(site_of(plan, "chosen").quantized);
  CHECK(site_of(plan, "w").quantized);
  CHECK(site_of(plan, "w").why.find("The body of an If, Loop or Scan keeps the float values") !=
        std::string::npos);
  CHECK(has_warning(plan, "subgraph_not_planned", "1 If, Loop or Scan node"));
  CHECK(input_of(plan, "branch", 0).rule == "operator_not_listed");
}

TEST_CASE("Models that can't be quantized are refused by name", "[plan]") {
  const auto error_of = [](const ModelBuilder& builder) {
    const Result<Plan> plan = make_plan(*builder.open(), {});
    REQUIRE_FALSE(plan.ok());
    return plan.error();
  };
  ModelBuilder quantized;
  quantized.input("q", {4}, DataType::kUint8).floats("s", {}, {0.5F});
  quantized.node("DequantizeLinear", {"q", "s"}, {"a"}, "d1")
      .node("DequantizeLinear", {"q", "s"}, {"b"}, "d2");
  quantized.output("a", {4}).output("b", {4});
  CHECK(error_of(quantized).code == ErrorCode::kInvalidState);
  CHECK(error_of(quantized).message.find("2 DequantizeLinear nodes") != std::string::npos);
  for (const auto& [type, name] :
       {std::pair{DataType::kFloat16, "float16"}, std::pair{DataType::kDouble, "double"},
        std::pair{DataType::kBfloat16, "bfloat16"}}) {
    ModelBuilder other;
    other.input("x", {2, 2}, type).node("MatMul", {"x", "x"}, {"y"}, "mm").output("y", {2, 2}, type);
    CHECK(error_of(other).code == ErrorCode::kUnsupportedType);
    CHECK(error_of(other).message.find(data_type_name(type)) != std::string::npos);
    CHECK(error_of(other).where == "x");
    ModelBuilder without_operands;
    without_operands.input("x", {2}, type).node("Add", {"x", "x"}, {"y"}).output("y", {2}, type);
    CHECK(error_of(without_operands).code == ErrorCode::kUnsupportedType);
  }
  // Arithmetic in double beside a float32 network is no obstacle.
  ModelBuilder mixed = two_convs();
  mixed.input("d", {2}, DataType::kDouble).node("Add", {"d", "d"}, {"e"}).output("e", {2}, DataType::kDouble);
  CHECK(make_plan(*mixed.open(), {}).ok());
}

TEST_CASE("A plan that would change nothing says so", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y", {2});
  const Plan plan = plan_of(*builder.open());
  CHECK(plan.sites.empty());
  CHECK(plan.opset_needed == 0);
  CHECK(has_warning(plan, "nothing_to_quantize"));
  REQUIRE(plan.inputs.size() == 1);
  CHECK(plan.inputs[0].node == "@y");
}

TEST_CASE("Omitted inputs and empty weights have their own reasons", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {2, 3})
      .input("r", {1, 1, 4, 4})
      .floats("none", {3, 0}, {})
      .floats("sizes", {4}, {1, 1, 2, 2});
  builder.node("MatMul", {"x", "none"}, {"y"}, "mm").node("Resize", {"r", "", "sizes"}, {"z"}, "resize");
  builder.output("y", {2, 0}).untyped_output("z");
  const Plan plan = plan_of(*builder.open());
  CHECK_FALSE(site_of(plan, "none").quantized);
  CHECK(site_of(plan, "none").rule == "empty");
  CHECK(input_of(plan, "resize", 1).rule == "omitted");
  CHECK(input_of(plan, "resize", 1).tensor.empty());
}

TEST_CASE("Names of enums", "[plan]") {
  CHECK(role_name(Role::kActivation) == "activation");
  CHECK(role_name(Role::kWeight) == "weight");
  CHECK(role_name(Role::kBias) == "bias");
  CHECK(granularity_name(Granularity::kTensor) == "tensor");
  CHECK(granularity_name(Granularity::kChannel) == "channel");
  CHECK(granularity_name(Granularity::kBlock) == "block");
  CHECK(target_name(Target::kOnnxRuntime) == "onnxruntime");
  REQUIRE(target_from_name("onnxruntime").ok());
  const Result<Target> unknown = target_from_name("tensorrrt");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::kInvalidPolicy);
  CHECK(unknown.error().next.find("onnxruntime") != std::string::npos);
}

}  // namespace halftone::test
