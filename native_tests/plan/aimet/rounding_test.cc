// How constants are rounded on target aimet, and what its activations are observed on.
#include <catch2/catch_all.hpp>

#include "halftone/float_view.h"
#include "plan/constant_codes.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

// A MatMul by `values`, a column vector.
std::shared_ptr<const Model> matmul_by(const std::vector<float>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  ModelBuilder builder;
  builder.input("x", {1, count})
      .floats("w", {count, 1}, values)
      .node("MatMul", {"x", "w"}, {"y"}, "matmul")
      .output("y", {1, 1});
  return builder.open();
}

Site weight_site(NumberFormat format, bool half_up) {
  Site site;
  site.tensor = "w";
  site.role = Role::kWeight;
  site.quantized = true;
  site.format = format;
  site.aimet = AimetGrid{.half_up = half_up};
  site.consumers = {{"matmul", 1}};
  return site;
}

std::vector<float> simulated(const std::vector<float>& values, const Site& site, const Encoding& encoding) {
  const Result<ConstantCodes> made = simulated_values(*matmul_by(values), site, encoding);
  REQUIRE(made.ok());
  std::vector<float> result(values.size());
  const Result<FloatView> view = FloatView::from_bytes(made.value().bytes);
  REQUIRE(view.ok());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = view.value()[i];
  return result;
}

}  // namespace

TEST_CASE("Ties: half up on the counted code as AIMET, half to even as QuantizeLinear", "[plan][aimet]") {
  const std::vector<float> x = {-1.25F, -.75F, -.25F, .25F, .75F, 1.25F, -9, 9};
  const Encoding encoding = {NumberFormat::kUint4, -1, {.5F}, {4}, {-2}, {5.5F}};
  CHECK(simulated(x, weight_site(NumberFormat::kUint4, true), encoding) ==
        std::vector<float>{-1, -.5F, 0, .5F, 1, 1.5F, -2, 5.5F});
  CHECK(simulated(x, weight_site(NumberFormat::kUint4, false), encoding) ==
        std::vector<float>{-1, -1, 0, 0, 1, 1, -2, 5.5F});
  // The same grid with signed codes.
  const Encoding signed_codes = {NumberFormat::kInt4, -1, {.5F}, {-4}, {-2}, {5.5F}};
  CHECK(simulated(x, weight_site(NumberFormat::kInt4, true), signed_codes) ==
        std::vector<float>{-1, -.5F, 0, .5F, 1, 1.5F, -2, 5.5F});
}

TEST_CASE("Values and codes of AIMET's kernel", "[plan][aimet]") {
  const std::vector<float> x = {-2, -1, -.5F, 0, .1F, 1, 2.9F, 3, 5};
  const Encoding encoding = {NumberFormat::kUint8, -1, {.015686275F}, {64}, {-1}, {3}};
  const std::vector<std::uint8_t> codes = {0, 0, 32, 64, 70, 128, 249, 255, 255};
  for (const bool half_up : {true, false}) {
    const Site site = weight_site(NumberFormat::kUint8, half_up);
    const Result<ConstantCodes> made = constant_codes(*matmul_by(x), site, encoding);
    REQUIRE(made.ok());
    CHECK(made.value().bytes == codes);
    const std::vector<float> values = simulated(x, site, encoding);
    for (std::size_t i = 0; i < codes.size(); ++i)
      CHECK(values[i] == static_cast<float>(codes[i] - 64) * .015686275F);
  }
}

TEST_CASE("Activations of target aimet are observed behind quantized weights", "[plan][aimet]") {
  const std::shared_ptr<const Model> model = matmul_by({.31F, -1.5F, .42F});
  PlanOptions options;
  options.target = Target::kAimet;
  options.weights = NumberFormat::kInt4;
  const Plan plan = plan_of(*model, options);
  const Result<std::shared_ptr<const Model>> observed = observed_model(model, plan);
  REQUIRE(observed.ok());
  const Graph& graph = observed.value()->graph();
  REQUIRE(graph.nodes().size() == 1);
  const TensorId weight = graph.node(0).inputs[1];
  REQUIRE(graph.tensor(weight).constant);
  const Result<ConstantTensor> values = observed.value()->constant(weight);
  REQUIRE(values.ok());
  const Result<FloatView> view = FloatView::from_bytes(values.value().bytes);
  REQUIRE(view.ok());
  // 1.5 / 8 is a step.
  CHECK(view.value()[0] == .375F);
  CHECK(view.value()[1] == -1.5F);
  CHECK(view.value()[2] == .375F);

  options.target = Target::kOnnxRuntime;
  CHECK(observed_model(model, plan_of(*model, options)).value() == model);
}

}  // namespace halftone::test
