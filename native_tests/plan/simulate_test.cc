#include <cmath>
#include <cstring>

#include "halftone/rewrite.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;

std::vector<float> floats_of(const Model& model, std::string_view name) {
  const TensorId id = model.graph().find_tensor(name);
  INFO(name);
  REQUIRE(id != kNone);
  const Result<ConstantTensor> constant = model.constant(id);
  REQUIRE(constant.ok());
  REQUIRE(constant.value().type == DataType::kFloat);
  std::vector<float> values(constant.value().float_count());
  if (!values.empty())
    std::memcpy(values.data(), constant.value().bytes.data(), constant.value().bytes.size());
  return values;
}

Names input_names(const Model& model, std::string_view node) {
  const Graph& graph = model.graph();
  const NodeId id = graph.find_node(node);
  INFO(node);
  REQUIRE(id != kNone);
  Names names;
  for (const TensorId tensor : graph.node(id).inputs) names.push_back(graph.tensor(tensor).name);
  return names;
}

struct Prepared {
  std::shared_ptr<const Model> model;
  Plan plan;
  Encodings encodings;
};

Prepared prepared(const std::shared_ptr<const Model>& model) {
  Prepared result{model, plan_of(*model), {}};
  for (const Site& site : result.plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    const Result<Encoding> encoding = activation_encoding(site, {-1.0F, 3.0F});
    REQUIRE(encoding.ok());
    result.encodings.set(site.tensor, encoding.value());
  }
  REQUIRE(complete_encodings(*model, result.plan, result.encodings).ok());
  return result;
}

std::shared_ptr<const Model> variant_of(const Prepared& from, std::string_view tensor) {
  const Result<std::shared_ptr<const Model>> variant =
      single_site_variant(from.model, site_of(from.plan, tensor), *from.encodings.find(tensor));
  INFO((variant.ok() ? "" : variant.error().message));
  REQUIRE(variant.ok());
  return variant.value();
}

}  // namespace

TEST_CASE("The variant of an activation has its pair and nothing else", "[plan]") {
  const Prepared from = prepared(two_convs().open());
  const std::shared_ptr<const Model> variant = variant_of(from, "t2");
  const Graph& graph = variant->graph();
  REQUIRE(graph.nodes().size() == 5);
  CHECK(graph.nodes()[2].name == "t2_QuantizeLinear");
  CHECK(graph.nodes()[3].name == "t2_DequantizeLinear");
  CHECK(input_names(*variant, "second") == Names{"t2_DequantizeLinear_Output", "w2", "b2"});
  CHECK(input_names(*variant, "first") == Names{"x", "w1", "b1"});
  CHECK(floats_of(*variant, "w2") == floats_of(*from.model, "w2"));
  CHECK(variant->info().metadata.empty());
}

TEST_CASE("The variant of a weight has float32(code * scale) in its place", "[plan]") {
  const Prepared from = prepared(two_convs().open());
  const std::shared_ptr<const Model> variant = variant_of(from, "w1");
  CHECK(variant->graph().nodes().size() == 3);
  CHECK(input_names(*variant, "first") == Names{"x", "w1_simulated", "b1"});
  CHECK(variant->graph().find_tensor("w1") == kNone);
  const std::vector<float> before = floats_of(*from.model, "w1");
  const std::vector<float> after = floats_of(*variant, "w1_simulated");
  const Encoding& encoding = *from.encodings.find("w1");
  REQUIRE(after.size() == before.size());
  std::size_t changed = 0;
  for (std::size_t index = 0; index < before.size(); ++index) {
    const float scale = encoding.scale[index / 36];
    // Every value lies on the grid, within half a step of what it was; the grid covers -127..127.
    const float code = after[index] / scale;
    CHECK(std::abs(code - std::nearbyint(code)) <= 127.0F * 1.2e-7F);
    CHECK(after[index] == std::nearbyint(code) * scale);
    CHECK(std::abs(after[index] - before[index]) <= 0.5001F * scale);
    if (after[index] != before[index]) ++changed;
  }
  CHECK(changed > before.size() / 2);
}

TEST_CASE("Only the site's readers see a simulated weight", "[plan]") {
  ModelBuilder builder;
  builder.input("ids", {3}, DataType::kInt64).input("x", {2, 4}).random_floats("table", {4, 4}, 1);
  builder.node("Gather", {"table", "ids"}, {"rows"}, "gather").node("MatMul", {"x", "table"}, {"y"}, "mm");
  builder.output("rows", {3, 4}).output("y", {2, 4});
  const Prepared from = prepared(builder.open());
  const std::shared_ptr<const Model> variant = variant_of(from, "table");
  CHECK(input_names(*variant, "gather") == Names{"table", "ids"});
  CHECK(input_names(*variant, "mm") == Names{"x", "table_simulated"});
  CHECK(floats_of(*variant, "table") == floats_of(*from.model, "table"));
}

TEST_CASE("A site that is switched off in the plan can be tried alone all the same", "[plan]") {
  Prepared from = prepared(two_convs().open());
  for (Site& site : from.plan.sites) site.quantized = false;
  CHECK(input_names(*variant_of(from, "x"), "first")[0] == "x_DequantizeLinear_Output");
}

TEST_CASE("A bias has no variant, and a wrong site none either", "[plan]") {
  const Prepared from = prepared(two_convs().open());
  const Result<std::shared_ptr<const Model>> bias =
      single_site_variant(from.model, site_of(from.plan, "b1"), *from.encodings.find("b1"));
  REQUIRE_FALSE(bias.ok());
  CHECK(bias.error().code == ErrorCode::kInvalidPolicy);
  Site elsewhere = site_of(from.plan, "x");
  elsewhere.consumers[0].node = "second";
  CHECK_FALSE(single_site_variant(from.model, elsewhere, *from.encodings.find("x")).ok());
  CHECK_FALSE(single_site_variant(from.model, site_of(from.plan, "x"), *from.encodings.find("w1")).ok());
}

TEST_CASE("All sites simulated: pairs for activations, float values for constants", "[plan]") {
  const Prepared from = prepared(two_convs().open());
  const Result<std::shared_ptr<const Model>> all = simulated_model(from.model, from.plan, from.encodings);
  REQUIRE(all.ok());
  CHECK(input_names(*all.value(), "first") ==
        Names{"x_DequantizeLinear_Output", "w1_simulated", "b1_simulated"});
  CHECK(input_names(*all.value(), "second") ==
        Names{"t2_DequantizeLinear_Output", "w2_simulated", "b2_simulated"});
  const std::vector<float> bias = floats_of(*from.model, "b1");
  const std::vector<float> simulated = floats_of(*all.value(), "b1_simulated");
  const Encoding& encoding = *from.encodings.find("b1");
  REQUIRE(simulated.size() == bias.size());
  for (std::size_t index = 0; index < bias.size(); ++index) {
    const double scale = static_cast<double>(encoding.scale[index]);
    const auto code = static_cast<float>(std::nearbyint(static_cast<double>(bias[index]) / scale));
    CHECK(simulated[index] == code * encoding.scale[index]);
  }
  CHECK_FALSE(simulated_model(from.model, from.plan, {}).ok());
}

TEST_CASE("Extra outputs are added once, with their types", "[plan]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  const Result<std::shared_ptr<const Model>> more = with_outputs(model, {"t1", "y", "t2", "t1", "x"});
  REQUIRE(more.ok());
  const Graph& graph = more.value()->graph();
  Names names;
  for (const TensorId id : graph.outputs()) names.push_back(graph.tensor(id).name);
  CHECK(names == Names{"y", "t1", "t2", "x"});
  CHECK(graph.tensor(graph.find_tensor("t1")).type == DataType::kFloat);
  CHECK(graph.nodes().size() == 3);
  const Result<std::shared_ptr<const Model>> unknown = with_outputs(model, {"gone"});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::kInvalidPolicy);
}

}  // namespace halftone::test
