#include <functional>
#include <limits>

#include "halftone/mixed_precision.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

ModelCost cost_of(const ModelBuilder& builder, const MeasuredShapes& shapes = {}) {
  const std::shared_ptr<const Model> model = builder.open();
  return model_cost(*model, plan_of(*model), shapes);
}

void set(Plan& plan, std::string_view tensor, const std::function<void(Site&)>& change) {
  for (Site& site : plan.sites) {
    if (site.tensor == tensor) change(site);
  }
}

}  // namespace

TEST_CASE("The cost of a convolution, by hand", "[mixed]") {
  ModelBuilder builder;
  builder.input("x", {1, 3, 8, 8}).random_floats("w", {6, 3, 3, 3}, 1).random_floats("b", {6}, 2);
  builder.node("Conv", {"x", "w", "b"}, {"y"}, "conv", {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const std::shared_ptr<const Model> model = builder.output("y", {1, 6, 8, 8}).open();
  Plan plan = plan_of(*model);
  constexpr std::uint64_t kMacs = 6 * 8 * 8 * (3 * 3 * 3);

  const ModelCost int8 = model_cost(*model, plan);
  CHECK(int8.macs == kMacs);
  CHECK(int8.bit_ops == kMacs * 8 * 8);
  // Codes, a scale and a zero point for each of six channels; int32 biases, and a scale for each.
  CHECK(int8.weight_bytes == (162 + 6 * 4 + 6) + (6 * 4 + 6 * 4));
  CHECK(int8.unknown.empty());

  set(plan, "w", [](Site& site) { site.format = NumberFormat::kInt16; });
  CHECK(model_cost(*model, plan).weight_bytes == (324 + 6 * 4 + 6 * 2) + 48);
  CHECK(model_cost(*model, plan).bit_ops == kMacs * 8 * 16);
  set(plan, "w", [](Site& site) { site.format = NumberFormat::kInt4; });
  CHECK(model_cost(*model, plan).weight_bytes == (81 + 6 * 4 + 3) + 48);
  set(plan, "w", [](Site& site) {
    site.granularity = Granularity::kTensor;
    site.axis = -1;
  });
  CHECK(model_cost(*model, plan).weight_bytes == (81 + 4 + 1) + 48);
  CHECK(model_cost(*model, plan).bit_ops == kMacs * 8 * 4);
  set(plan, "x", [](Site& site) { site.quantized = false; });
  CHECK(model_cost(*model, plan).bit_ops == kMacs * 32 * 4);
  for (Site& site : plan.sites) site.quantized = false;
  CHECK(model_cost(*model, plan).weight_bytes == (162 + 6) * 4);
  CHECK(model_cost(*model, plan).bit_ops == kMacs * 32 * 32);
}

TEST_CASE("Multiply-accumulates of each operator, by hand", "[mixed]") {
  ModelBuilder grouped;
  grouped.input("x", {2, 4, 8, 8}).random_floats("w", {8, 2, 3, 3}, 1);
  grouped.node("Conv", {"x", "w"}, {"y"}, "",
               {{"group", std::int64_t{2}},
                {"strides", std::vector<std::int64_t>{2, 2}},
                {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  CHECK(cost_of(grouped.output("y", {2, 8, 4, 4})).macs == 2 * 8 * 4 * 4 * (2 * 3 * 3));

  ModelBuilder transposed;
  transposed.input("x", {1, 4, 5, 5}).random_floats("w", {4, 3, 2, 2}, 1);
  transposed.node("ConvTranspose", {"x", "w"}, {"y"}, "", {{"strides", std::vector<std::int64_t>{2, 2}}});
  CHECK(cost_of(transposed.output("y", {1, 3, 10, 10})).macs == (4 * 5 * 5) * (3 * 2 * 2));

  ModelBuilder gemm;
  gemm.input("x", {7, 2}).random_floats("w", {5, 7}, 1);
  gemm.node("Gemm", {"x", "w"}, {"y"}, "", {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}});
  CHECK(cost_of(gemm.output("y", {2, 5})).macs == 2 * 5 * 7);

  ModelBuilder batched;
  batched.input("a", {2, 1, 4, 5}).input("b", {1, 3, 5, 6});
  batched.node("MatMul", {"a", "b"}, {"y"});
  const ModelCost dynamic = cost_of(batched.output("y", {2, 3, 4, 6}));
  CHECK(dynamic.macs == 2 * 3 * 4 * 6 * 5);
  CHECK(dynamic.bit_ops == dynamic.macs * 8 * 8);  // both operands are quantized activations
  CHECK(dynamic.weight_bytes == 0);

  ModelBuilder vector;
  vector.input("a", {5}).random_floats("b", {5, 6}, 1);
  vector.node("MatMul", {"a", "b"}, {"y"});
  CHECK(cost_of(vector.output("y", {6})).macs == 30);
}

TEST_CASE("Constants count once, and again where float readers keep them", "[mixed]") {
  ModelBuilder shared;
  shared.input("x", {2, 4}).input("z", {4, 4}).random_floats("w", {4, 4}, 1);
  shared.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "w"}, {"b"}).node("Add", {"z", "w"}, {"c"});
  shared.output("b", {2, 4}).output("c", {4, 4});
  CHECK(cost_of(shared).weight_bytes == (16 + 4 * 4 + 4) + 16 * 4);

  ModelBuilder chain;  // only the transposed values are read
  chain.input("x", {2, 4}).random_floats("w", {3, 4}, 1);
  chain.node("Transpose", {"w"}, {"wt"}, "", {{"perm", std::vector<std::int64_t>{1, 0}}});
  chain.node("MatMul", {"x", "wt"}, {"y"}).output("y", {2, 3});
  CHECK(cost_of(chain).weight_bytes == 12 + 3 * 4 + 3);
}

TEST_CASE("Shapes that the graph doesn't tell are listed, and taken when measured", "[mixed]") {
  ModelBuilder builder;
  builder.input("x", {-1, 3, 8, -1}).random_floats("w", {6, 3, 1, 1}, 1);
  builder.node("Conv", {"x", "w"}, {"t"}, "conv").node("MatMul", {"t", "t"}, {"y"}, "product");
  const std::shared_ptr<const Model> model = builder.output("y", {-1, 6, 8, -1}).open();
  const Plan plan = plan_of(*model);
  const ModelCost blind = model_cost(*model, plan);
  CHECK(blind.unknown == std::vector<std::string>{"conv", "product"});
  CHECK(blind.bit_ops == 0);
  CHECK(blind.weight_bytes == 18 + 6 * 4 + 6);
  CHECK(shapes_for_cost(*model) == std::vector<std::string>{"t", "y"});
  const ModelCost seen = model_cost(*model, plan, {{"t", {1, 6, 8, 8}}, {"y", {1, 6, 8, 8}}});
  CHECK(seen.unknown.empty());
  CHECK(seen.macs == 6 * 8 * 8 * 3 + 6 * 8 * 8 * 8);
  CHECK(model_cost(*model, plan, {{"t", {1, 6, 8, -8}}}).unknown.size() == 2);
}

TEST_CASE("Absurd dimensions saturate", "[mixed]") {
  ModelBuilder builder;
  const std::int64_t large = std::int64_t{1} << 40;
  builder.input("a", {large, large}).input("b", {large, large}).node("MatMul", {"a", "b"}, {"y"});
  const ModelCost cost = cost_of(builder.output("y", {large, large}));
  CHECK(cost.macs == std::numeric_limits<std::uint64_t>::max());
  CHECK(cost.bit_ops == std::numeric_limits<std::uint64_t>::max());
  const std::shared_ptr<const Model> model = builder.open();
  CHECK(model_cost(*model, plan_of(*model), {{"y", {large, large, 0}}}).macs == 0);
}

}  // namespace halftone::test
