// Quantizers that are switched by what a part is fed: which switches there are, what is fed, and what is
// folded. That the numbers are a runtime's is proved where runtimes are (tests/goldens/sweeps.test.ts).
#include "halftone/switched_part.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "halftone/float_view.h"
#include "halftone/sweep_cuts.h"
#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;
using Floats = std::vector<float>;

// x -> conv -> BatchNormalization -> Mul -> Add -> relu -> conv2 -> y, with a bias at conv where asked.
ModelBuilder folding_model(bool bias) {
  ModelBuilder builder;
  builder.input("x", {1, 2, 4, 4})
      .floats("w", {2, 2, 1, 1}, {0.1F, 0.2F, -0.3F, 0.7F})
      .floats("b", {2}, {0.5F, -0.25F})
      .floats("gamma", {2}, {1.5F, 0.3F})
      .floats("beta", {2}, {0.1F, 0.2F})
      .floats("mean", {2}, {0.05F, -0.4F})
      .floats("var", {2}, {0.9F, 2.0F})
      .floats("m", {}, {1.7F})
      .floats("a", {2, 1, 1}, {0.01F, 0.02F})
      .random_floats("w2", {3, 2, 1, 1}, 5)
      .node("Conv", bias ? Names{"x", "w", "b"} : Names{"x", "w"}, {"c"}, "conv")
      .node("BatchNormalization", {"c", "gamma", "beta", "mean", "var"}, {"n"}, "norm", {{"epsilon", 0.001F}})
      .node("Mul", {"n", "m"}, {"p"}, "mul")
      .node("Add", {"p", "a"}, {"s"}, "add")
      .node("Relu", {"s"}, {"r"}, "relu")
      .node("Conv", {"r", "w2"}, {"y"}, "conv2")
      .output("y", {1, 3, 4, 4});
  return builder;
}

struct Case {
  std::shared_ptr<const Model> model;
  Plan plan;
  Encodings encodings;

  [[nodiscard]] SwitchedPart switched(const Names& tensors) const {
    std::vector<const Site*> sites;
    for (const std::string& tensor : tensors) sites.push_back(&site_of(plan, tensor));
    Result<SwitchedPart> part = switched_part(model, sites, encodings);
    INFO((part.ok() ? "" : part.error().message));
    REQUIRE(part.ok());
    return std::move(part).value();
  }
};

Case prepared(const ModelBuilder& builder) {
  const auto model = builder.open();
  Case made{model, plan_of(*model), {}};
  for (const Site& site : made.plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    const Result<Encoding> encoding = activation_encoding(site, {-1.0F, 3.0F});
    REQUIRE(encoding.ok());
    made.encodings.set(site.tensor, encoding.value());
  }
  REQUIRE(complete_encodings(*model, made.plan, made.encodings).ok());
  return made;
}

Floats initializer(const Model& model, std::string_view name) {
  const TensorId id = model.graph().find_tensor(name);
  REQUIRE(id != kNone);
  const Result<ConstantTensor> constant = model.constant(id);
  REQUIRE(constant.ok());
  Floats values(constant.value().float_count());
  const Result<FloatView> view = FloatView::from_bytes(constant.value().bytes);
  REQUIRE(view.ok());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = view.value()[i];
  return values;
}

TEST_CASE("A weight that is fed takes along what a runtime would fold into it", "[sensitivity][switched]") {
  for (const bool bias : {false, true}) {
    const Case made = prepared(folding_model(bias));
    const SwitchedPart part = made.switched({"x", "w", "r", "w2"});
    const SiteSwitch& weight = part.switches[1].value();
    CHECK(weight.kind == SwitchKind::kValues);
    CHECK(weight.dims == Dims{2, 2, 1, 1});
    const Floats factors{1.5F / std::sqrt(0.9F + 0.001F), 0.3F / std::sqrt(2.0F + 0.001F)};
    const Floats w{0.1F, 0.2F, -0.3F, 0.7F};
    REQUIRE(weight.off.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(weight.off[i] == w[i] * factors[i / 2] * 1.7F);
    CHECK(weight.on != weight.off);
    const Graph& graph = part.model->graph();
    CHECK(graph.nodes().size() == 4);  // conv, relu, the sum at r, conv2
    const GraphNode& conv = graph.node(graph.find_node("conv"));
    REQUIRE(conv.inputs.size() == 3);
    CHECK(graph.tensor(conv.inputs[1]).name == weight.feed);
    CHECK(graph.tensor(conv.outputs[0]).name == "s");
    const Floats bias_now = initializer(*part.model, graph.tensor(conv.inputs[2]).name);
    const Floats b = bias ? Floats{0.5F, -0.25F} : Floats{0.0F, 0.0F};
    const Floats mean{0.05F, -0.4F};
    const Floats beta{0.1F, 0.2F};
    const Floats add{0.01F, 0.02F};
    for (std::size_t c = 0; c < 2; ++c)
      CHECK(bias_now[c] == ((b[c] - mean[c]) * factors[c] + beta[c]) * 1.7F + add[c]);
  }
}

TEST_CASE("Activations get an addend, and one that crosses the cut its own value",
          "[sensitivity][switched]") {
  const Case made = prepared(folding_model(false));
  const SwitchedPart part = made.switched({"x", "r"});
  CHECK(part.switches[0]->kind == SwitchKind::kInput);
  CHECK(part.switches[0]->feed == "x");
  const SiteSwitch& inner = part.switches[1].value();
  CHECK(inner.kind == SwitchKind::kAddend);
  CHECK(inner.rank == 4);
  const Graph& graph = part.model->graph();
  const TensorId raw = graph.find_tensor("r");
  CHECK(graph.tensor(raw).graph_output);
  REQUIRE(graph.tensor(raw).consumers.size() == 1);
  const GraphNode& sum = graph.node(graph.tensor(raw).consumers[0].node);
  CHECK(sum.op_type == "Sum");
  CHECK(graph.tensor(sum.inputs[1]).name == inner.feed);
  const GraphNode& conv = graph.node(graph.find_node("conv2"));
  CHECK(conv.inputs[0] == sum.outputs[0]);
  // What nobody switches folds by itself when a runtime opens the part.
  CHECK(graph.find_node("norm") != kNone);
}

TEST_CASE("Nothing folds over a tensor that somebody else sees", "[sensitivity][switched]") {
  ModelBuilder seen = folding_model(false);
  seen.node("Relu", {"n"}, {"other"}, "other").output("other", {1, 2, 4, 4});
  const Case made = prepared(seen);
  const SwitchedPart part = made.switched({"w"});
  const Graph& graph = part.model->graph();
  CHECK(graph.find_node("norm") == kNone);
  CHECK(graph.find_node("mul") != kNone);
  CHECK(graph.find_tensor("n") != kNone);
}

TEST_CASE("An activation of unknown rank has no switch", "[sensitivity][switched]") {
  ModelBuilder builder;
  builder.input("x", {1, 8})
      .input("shape", {-1}, DataType::kInt64)
      .node("Reshape", {"x", "shape"}, {"t"}, "reshape")
      .random_floats("w", {4, 4}, 3)
      .node("MatMul", {"t", "w"}, {"y"}, "matmul")
      .untyped_output("y");
  const Case made = prepared(builder);
  CHECK_FALSE(has_switch(made.model->graph(), site_of(made.plan, "t")));
  CHECK(has_switch(made.model->graph(), site_of(made.plan, "w")));
  const SwitchedPart part = made.switched({"t", "w"});
  CHECK_FALSE(part.switches[0].has_value());
  CHECK(part.switches[1].has_value());
}

TEST_CASE("A site without an encoding is named", "[sensitivity][switched]") {
  const Case made = prepared(folding_model(false));
  const std::vector<const Site*> sites{&site_of(made.plan, "r")};
  const Result<SwitchedPart> part = switched_part(made.model, sites, Encodings{});
  REQUIRE_FALSE(part.ok());
  CHECK(part.error().code == ErrorCode::kInvalidState);
  CHECK(part.error().where == "r");
}

TEST_CASE("An addend makes the quantized value bit for bit, over whole ranges", "[sensitivity][switched]") {
  const std::uint32_t seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0.0F, 1.0F);
  for (int round = 0; round < 50; ++round) {
    const float scale = std::ldexp(0.5F + unit(random) / 2, static_cast<int>(random() % 40) - 20);
    Encoding encoding;
    encoding.format = round % 2 == 0 ? NumberFormat::kUint8 : NumberFormat::kInt16;
    encoding.scale = {scale};
    encoding.zero_point = {round % 2 == 0 ? static_cast<std::int32_t>(random() % 256) : 0};
    const float low = round % 2 == 0 ? -scale * static_cast<float>(encoding.zero_point[0]) : -32768 * scale;
    const float high = low + scale * (round % 2 == 0 ? 255.0F : 65535.0F);
    Floats values(1000);
    for (float& value : values) value = low + (high - low) * unit(random);
    values[0] = 0.0F;
    values[1] = low;
    values[2] = high;
    const Dims dims{10, 100};
    Floats addend(values.size());
    Floats wanted(values.size());
    const Result<bool> exact = switch_on(SwitchKind::kAddend, values, dims, encoding, addend);
    REQUIRE(switch_on(SwitchKind::kInput, values, dims, encoding, wanted).ok());
    REQUIRE(exact.ok());
    CHECK(exact.value());
    bool equal = true;
    for (std::size_t i = 0; i < values.size(); ++i) equal = equal && values[i] + addend[i] == wanted[i];
    CHECK(equal);
  }
}

TEST_CASE("A sum that can't be exact is said", "[sensitivity][switched]") {
  Encoding encoding;
  encoding.format = NumberFormat::kUint8;
  encoding.scale = {0.1F};
  encoding.zero_point = {0};
  // Clipped from far outside of the range.
  const Floats values{1.0F, 1e9F};
  Floats addend(2);
  const Result<bool> exact = switch_on(SwitchKind::kAddend, values, Dims{2}, encoding, addend);
  REQUIRE(exact.ok());
  CHECK_FALSE(exact.value());
  const Result<bool> none = switch_on(SwitchKind::kAddend, {}, Dims{0}, encoding, {});
  REQUIRE(none.ok());
  CHECK(none.value());
}

TEST_CASE("Sites are independent where each activation is made in front of the others' readers",
          "[sensitivity][switched]") {
  const Case made = prepared(folding_model(false));
  const SweepCuts cuts(made.model->graph(), Names{"y"}, 0);
  const auto independent = [&](const Names& tensors) {
    std::vector<const Site*> sites;
    for (const std::string& tensor : tensors) sites.push_back(&site_of(made.plan, tensor));
    return cuts.independent(made.model->graph(), sites);
  };
  CHECK(independent({"r"}));
  CHECK(independent({"x", "w"}));
  CHECK(independent({"r", "w2"}));
  CHECK(independent({"w", "w2"}));
  CHECK_FALSE(independent({"w", "r"}));
  CHECK_FALSE(independent({"x", "r"}));
}

}  // namespace
}  // namespace halftone::test
