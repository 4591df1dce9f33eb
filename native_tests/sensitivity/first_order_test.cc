// First-order models as graphs: what they hold, what they leave out, and what they say where there is no way
// back. That their numbers are derivatives is proved where runtimes are (tests/unit/first_order.test.ts).
#include "halftone/first_order.h"

#include <algorithm>
#include <map>
#include <random>

#include "model/text_models.h"
#include "plan/plan_cases.h"
#include "support/random_graph.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;

// Weights and activations of the model's plan, all activations between -1 and 3.
struct Case {
  std::shared_ptr<const Model> model;
  Plan plan;
  Encodings encodings;

  [[nodiscard]] Names sites() const {
    Names names;
    for (const Site& site : plan.sites) {
      if (site.quantized && site.role != Role::kBias) names.push_back(site.tensor);
    }
    return names;
  }

  [[nodiscard]] Result<FirstOrder> tried(const Names& tensors, const std::string& scored = "y",
                                         const InputShapes& shapes = {}) const {
    std::vector<const Site*> chosen;
    for (const std::string& tensor : tensors) chosen.push_back(&site_of(plan, tensor));
    return first_order(model, scored, chosen, encodings, shapes);
  }

  [[nodiscard]] FirstOrder made(const Names& tensors, const std::string& scored = "y",
                                const InputShapes& shapes = {}) const {
    Result<FirstOrder> order = tried(tensors, scored, shapes);
    INFO((order.ok() ? "" : order.error().message));
    REQUIRE(order.ok());
    return std::move(order).value();
  }
};

Case prepared(const std::shared_ptr<const Model>& model, const PlanOptions& options = {}) {
  Case made{model, plan_of(*model, options), {}};
  for (const Site& site : made.plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    const Result<Encoding> encoding = activation_encoding(site, {-1.0F, 3.0F});
    REQUIRE(encoding.ok());
    made.encodings.set(site.tensor, encoding.value());
  }
  REQUIRE(complete_encodings(*model, made.plan, made.encodings).ok());
  return made;
}

std::map<std::string, int> operators(const Model& model) {
  std::map<std::string, int> counts;
  for (const GraphNode& node : model.graph().nodes()) ++counts[node.op_type];
  return counts;
}

// Whether each effect is computed, as opposed to 0.
std::vector<bool> computed(const FirstOrder& order) {
  const Graph& graph = order.model->graph();
  const NodeId joined = graph.tensor(graph.find_tensor(order.effects)).producer;
  const NodeId list = graph.tensor(graph.node(joined).inputs.front()).producer;
  std::vector<bool> found;
  for (const TensorId part : graph.node(list).inputs) found.push_back(!graph.tensor(part).constant);
  return found;
}

// x -> Conv "c1" (w1) -> t -> Relu -> r -> Conv "c2" (w2) -> y, and r -> Conv "c3" (w3) -> z
ModelBuilder forked() {
  ModelBuilder builder;
  builder.input("x", {1, 2, 5, 5})
      .random_floats("w1", {3, 2, 3, 3}, 1)
      .random_floats("w2", {2, 3, 1, 1}, 2)
      .random_floats("w3", {4, 3, 1, 1}, 3)
      .node("Conv", {"x", "w1"}, {"t"}, "c1")
      .node("Relu", {"t"}, {"r"}, "relu")
      .node("Conv", {"r", "w2"}, {"y"}, "c2")
      .node("Conv", {"r", "w3"}, {"z"}, "c3")
      .output("y", {1, 2, 3, 3})
      .output("z", {1, 4, 3, 3});
  return builder;
}

// x -> MatMul (w) -> a -> the operator -> b -> MatMul (w2) -> y
ModelBuilder around(const std::string& op, std::int64_t opset = 17) {
  ModelBuilder builder;
  builder.opset(opset)
      .input("x", {3, 4})
      .random_floats("w", {4, 4}, 1)
      .random_floats("w2", {4, 2}, 2)
      .node("MatMul", {"x", "w"}, {"a"}, "first")
      .node(op, {"a"}, {"b"}, "middle")
      .node("MatMul", {"b", "w2"}, {"y"}, "last")
      .output("y", {3, 2});
  return builder;
}

TEST_CASE("a first-order model has the model's inputs and the cotangent, and gives an effect a site",
          "[sensitivity][first_order]") {
  const Case of = prepared(forked().open());
  const FirstOrder order = of.made(of.sites());
  const Graph& graph = order.model->graph();
  REQUIRE(graph.inputs().size() == 2);
  CHECK(graph.tensor(graph.inputs()[0]).name == "x");
  CHECK(graph.tensor(graph.inputs()[1]).name == order.cotangent);
  CHECK(type_text(*order.model, order.cotangent) == "float32[1,2,3,3]");
  REQUIRE(graph.outputs().size() == 1);
  CHECK(graph.tensor(graph.outputs()[0]).name == order.effects);
  CHECK(type_text(*order.model, order.effects) == "float32[" + std::to_string(of.sites().size()) + "]");
  CHECK(objection(order.model).empty());
}

TEST_CASE("sites that the scored tensor doesn't depend on have an effect of 0 and cost nothing",
          "[sensitivity][first_order]") {
  const Case of = prepared(forked().open());
  const FirstOrder order = of.made({"w3", "w2", "x"});
  CHECK(computed(order) == std::vector<bool>{false, true, true});
  // Forward c1, and c2 with w2's change; back through c2 and c1. Nobody needs what c2 makes.
  auto counts = operators(*order.model);
  CHECK(counts["Conv"] + counts["ConvTranspose"] == 4);
  CHECK(counts["QuantizeLinear"] == 1);
  CHECK(computed(of.made({"w3", "w1"}, "z")) == std::vector<bool>{true, true});
}

TEST_CASE("what lies in front of all sites is not gone back through", "[sensitivity][first_order]") {
  const Case of = prepared(forked().open());
  auto counts = operators(*of.made({"w2"}).model);
  CHECK(counts["Conv"] == 2);
  CHECK(counts["ConvTranspose"] == 0);
  CHECK(counts["Sign"] == 0);
}

TEST_CASE("a model without sites answers an empty list", "[sensitivity][first_order]") {
  const Case of = prepared(forked().open());
  const FirstOrder order = of.made({});
  CHECK(type_text(*order.model, order.effects) == "float32[0]");
  CHECK(objection(order.model).empty());
}

TEST_CASE("an effect counts the readers that a site names, and those alone", "[sensitivity][first_order]") {
  Case of = prepared(ModelBuilder()
                         .input("x", {3, 4})
                         .random_floats("w", {4, 4}, 1)
                         .random_floats("w2", {4, 4}, 2)
                         .node("MatMul", {"x", "w"}, {"a"}, "first")
                         .node("MatMul", {"x", "w2"}, {"b"}, "second")
                         .node("Add", {"a", "b"}, {"y"}, "sum")
                         .output("y", {3, 4})
                         .open());
  CHECK(operators(*of.made({"x"}).model)["Sum"] == 1);
  for (Site& site : of.plan.sites) {
    if (site.tensor == "x")
      std::erase_if(site.consumers, [](const Consumer& c) { return c.node == "first"; });
  }
  const FirstOrder order = of.made({"x"});
  CHECK(operators(*order.model)["Sum"] == 0);
  const Graph& graph = order.model->graph();
  CHECK(graph.find_tensor("w") == kNone);
  CHECK(graph.find_tensor("w2") != kNone);
}

TEST_CASE("a site that serves the scored output has the cotangent itself for a gradient",
          "[sensitivity][first_order]") {
  Case of = prepared(around("Relu").open());
  for (Site& site : of.plan.sites) {
    if (site.tensor == "y") site.serves_output = site.quantized = true;
  }
  if (of.plan.find("y") == nullptr) {
    Site site;
    site.tensor = "y";
    site.quantized = site.serves_output = true;
    of.plan.sites.push_back(site);
  }
  of.encodings.set("y", activation_encoding(site_of(of.plan, "y"), {-1.0F, 3.0F}).value());
  const FirstOrder order = of.made({"y"});
  CHECK(computed(order) == std::vector<bool>{true});
  const Graph& graph = order.model->graph();
  const auto& readers = graph.tensor(graph.find_tensor(order.cotangent)).consumers;
  REQUIRE(readers.size() == 1);
  CHECK(graph.node(readers[0].node).op_type == "Mul");
}

TEST_CASE("operators without a rule are named", "[sensitivity][first_order]") {
  const Case of = prepared(around("Celu").open());
  const Result<FirstOrder> order = of.tried({"x"});
  REQUIRE_FALSE(order.ok());
  CHECK(order.error().code == ErrorCode::kUnsupportedOp);
  CHECK(order.error().message.find("Celu \"middle\"") != std::string::npos);
  CHECK(order.error().where == "middle");
  // Behind it there is a way.
  CHECK(of.tried({"b", "w2"}).ok());
}

TEST_CASE("changes stop at values that are no floats", "[sensitivity][first_order]") {
  const auto model = ModelBuilder()
                         .input("x", {3, 4})
                         .random_floats("w", {4, 4}, 1)
                         .node("MatMul", {"x", "w"}, {"a"}, "first")
                         .node("Cast", {"a"}, {"i"}, "cut", {{"to", std::int64_t{7}}})
                         .node("Cast", {"i"}, {"y"}, "back", {{"to", std::int64_t{1}}})
                         .output("y", {3, 4})
                         .open();
  CHECK(computed(prepared(model).made({"x", "w"})) == std::vector<bool>{false, false});
}

TEST_CASE("float types other than float32 are refused", "[sensitivity][first_order]") {
  const auto model = ModelBuilder()
                         .input("x", {3, 4})
                         .random_floats("w", {4, 4}, 1)
                         .node("MatMul", {"x", "w"}, {"a"}, "first")
                         .node("Cast", {"a"}, {"d"}, "wider", {{"to", std::int64_t{11}}})
                         .node("Cast", {"d"}, {"y"}, "back", {{"to", std::int64_t{1}}})
                         .output("y", {3, 4})
                         .open();
  const Result<FirstOrder> order = prepared(model).tried({"x"});
  REQUIRE_FALSE(order.ok());
  CHECK(order.error().code == ErrorCode::kUnsupportedOp);
}

TEST_CASE("what a body of control flow reads is not gone back through", "[sensitivity][first_order]") {
  const Body body = ModelBuilder().node("Relu", {"a"}, {"inner"}).untyped_output("inner").body();
  const auto model =
      ModelBuilder()
          .input("x", {3, 4})
          .input("cond", {}, DataType::kBool)
          .random_floats("w", {4, 4}, 1)
          .node("MatMul", {"x", "w"}, {"a"}, "first")
          .node("If", {"cond"}, {"y"}, "choice", {{"then_branch", body}, {"else_branch", body}})
          .output("y", {3, 4})
          .open();
  const Result<FirstOrder> order = prepared(model).tried({"x"});
  REQUIRE_FALSE(order.ok());
  CHECK(order.error().code == ErrorCode::kUnsupportedOp);
  CHECK(order.error().where == "choice");
}

TEST_CASE("a later output of an operator has no way back unless its rule knows it",
          "[sensitivity][first_order]") {
  const auto model = ModelBuilder()
                         .input("x", {3, 4})
                         .random_floats("w", {4, 4}, 1)
                         .floats("g", {4}, {1, 1, 1, 1})
                         .node("MatMul", {"x", "w"}, {"a"}, "first")
                         .node("LayerNormalization", {"a", "g"}, {"n", "mean"}, "norm")
                         .node("Add", {"n", "mean"}, {"y"}, "sum")
                         .output("y", {3, 4})
                         .open();
  const Result<FirstOrder> order = prepared(model).tried({"x"});
  REQUIRE_FALSE(order.ok());
  CHECK(order.error().code == ErrorCode::kUnsupportedOp);
  CHECK(order.error().where == "norm");
}

TEST_CASE("attributes that can't be are refused, not computed with", "[sensitivity][first_order]") {
  using Ints = std::vector<std::int64_t>;
  const auto refused = [](const std::vector<AttributeSetting>& attributes) {
    const auto model = ModelBuilder()
                           .input("x", {1, 2, 8, 8})
                           .random_floats("w", {2, 2, 1, 1}, 1)
                           .random_floats("w2", {2, 2, 3, 3}, 2)
                           .node("Conv", {"x", "w"}, {"a"}, "first")
                           .node("Conv", {"a", "w2"}, {"y"}, "odd", attributes)
                           .untyped_output("y")
                           .open();
    Case of = prepared(model);
    // Inference may have given up on the shape and the type; the operator's own is a float32.
    const Result<FirstOrder> order = of.tried({"x"});
    return !order.ok();
  };
  CHECK(refused({{"strides", Ints{0, 1}}}));
  CHECK(refused({{"strides", Ints{1}}}));
  CHECK(refused({{"strides", Ints{INT64_MAX, INT64_MAX}}}));
  CHECK(refused({{"dilations", Ints{INT64_MIN, 1}}}));
  CHECK(refused({{"pads", Ints{-1, 0, 0, 0}}}));
  CHECK(refused({{"pads", Ints{0, 0, INT64_MAX, 0}}}));
}

TEST_CASE("nodes that lack inputs are refused, or left to the runtime", "[sensitivity][first_order]") {
  for (const std::string op : {"MatMul",
                               "Gemm",
                               "Conv",
                               "ConvTranspose",
                               "Mul",
                               "Div",
                               "Pow",
                               "Max",
                               "Where",
                               "PRelu",
                               "Gather",
                               "Concat",
                               "BatchNormalization",
                               "LayerNormalization",
                               "InstanceNormalization",
                               "Reshape",
                               "Expand",
                               "Pad",
                               "Slice",
                               "Split",
                               "Clip",
                               "Dropout",
                               "Resize",
                               "Softmax",
                               "MaxPool",
                               "AveragePool",
                               "ReduceMean",
                               "GlobalMaxPool"}) {
    for (const std::string inputs : {"a", ",a", "a,", ",,a", "a,,,a", ",a,,,"}) {
      Names read = {""};
      for (const char c : inputs) {
        if (c == ',')
          read.emplace_back();
        else
          read.back() += c;
      }
      const auto model = ModelBuilder()
                             .input("x", {3, 4})
                             .random_floats("w", {4, 4}, 1)
                             .node("MatMul", {"x", "w"}, {"a"}, "first")
                             .node(op, read, {"b"}, "odd")
                             .node("Identity", {"b"}, {"y"}, "last")
                             .output("y", {3, 4})
                             .open();
      const Result<FirstOrder> order = prepared(model).tried({"x", "w"});
      INFO(op << " of " << inputs);
      CHECK((order.ok() || order.error().code == ErrorCode::kUnsupportedOp));
    }
  }
}

TEST_CASE("wrong requests get an error each", "[sensitivity][first_order]") {
  Case of = prepared(forked().open());
  const auto code = [](const Result<FirstOrder>& order) {
    return order.ok() ? std::string("ok") : std::string(error_code_name(order.error().code));
  };
  CHECK(code(of.tried({"x"}, "nowhere")) == "invalid_policy");
  CHECK(code(of.tried({"x", "x"})) == "invalid_policy");
  CHECK(code(of.tried({"x"}, "y", {{"nowhere", {1}}})) == "invalid_policy");
  CHECK(code(of.tried({"x"}, "y", {{"x", {1, 2, 5}}})) == "shape_mismatch");
  CHECK(code(of.tried({"x"}, "y", {{"x", {1, 2, 5, 6}}})) == "shape_mismatch");
  CHECK(code(of.tried({"x"}, "y", {{"x", {1, 2, 5, 5}}})) == "ok");
  const Site& site = site_of(of.plan, "x");
  const Site* one = &site;
  CHECK(code(first_order(of.model, "y", std::span<const Site* const>(&one, 1), {})) == "invalid_state");
  Encoding other = *of.encodings.find("x");
  other.format = NumberFormat::kInt16;
  of.encodings.set("x", other);
  CHECK(code(of.tried({"x"})) == "invalid_policy");
}

TEST_CASE("an old model is raised, and a site keeps its readers through it", "[sensitivity][first_order]") {
  // Softmax before 13 becomes Flatten, Softmax and Reshape.
  ModelBuilder builder;
  builder.opset(11)
      .input("x", {2, 3, 4})
      .random_floats("w", {4, 4}, 1)
      .node("MatMul", {"x", "w"}, {"a"}, "first")
      .node("Softmax", {"a"}, {"s"}, "soft", {{"axis", std::int64_t{1}}})
      .node("MatMul", {"s", "w"}, {"y"}, "last")
      .output("y", {2, 3, 4});
  const Case of = prepared(builder.open());
  const FirstOrder order = of.made(of.sites());
  const std::vector<bool> all = computed(order);
  CHECK(std::count(all.begin(), all.end(), true) == static_cast<std::ptrdiff_t>(all.size()));
  CHECK(order.model->graph().opset() >= 17);
  CHECK(objection(order.model).empty());
}

TEST_CASE("given shapes take the computing of shapes away", "[sensitivity][first_order]") {
  ModelBuilder builder;
  builder.input("x", {-1, 2, -1, -1})
      .random_floats("w", {2, 2, 3, 3}, 1)
      .node("Conv", {"x", "w"}, {"a"}, "c", {{"strides", std::vector<std::int64_t>{2, 2}}})
      .node("GlobalAveragePool", {"a"}, {"p"}, "pool")
      .node("Mul", {"a", "p"}, {"y"}, "gate")
      .untyped_output("y");
  const Case of = prepared(builder.open());
  const FirstOrder any = of.made({"x", "w"});
  const FirstOrder given = of.made({"x", "w"}, "y", {{"x", {2, 2, 8, 8}}});
  CHECK(operators(*any.model)["Shape"] > 0);
  CHECK(operators(*given.model)["Shape"] == 0);
  CHECK(operators(*given.model)["NonZero"] == 0);
  CHECK(type_text(*given.model, "x") == "float32[2,2,8,8]");
  CHECK(objection(any.model).empty());
  CHECK(objection(given.model).empty());
}

TEST_CASE("nodes grow with the graph, not with its square", "[sensitivity][first_order]") {
  const auto nodes = [](int layers) {
    ModelBuilder builder;
    builder.input("x", {3, 4}).random_floats("w", {4, 4}, 1);
    std::string from = "x";
    std::vector<std::string> all = {"x"};
    for (int i = 0; i < layers; ++i) {
      const std::string name = std::to_string(i);
      builder.node("MatMul", {from, "w"}, {"m" + name}, "mul" + name);
      builder.node("Add", {"m" + name, "x"}, {"t" + name}, "add" + name);
      from = "t" + name;
      all.push_back(from);
    }
    builder.node("Sum", all, {"y"}, "sum").output("y", {3, 4});
    const Case of = prepared(builder.open());
    return of.made(of.sites()).model->graph().nodes().size();
  };
  const std::size_t small = nodes(50);
  const std::size_t large = nodes(400);
  CHECK(large < small * 9);
}

TEST_CASE("random graphs give a model that the checker likes, or a clear error",
          "[sensitivity][first_order]") {
  const std::uint32_t seed = std::random_device{}();
  INFO("seed " << seed);
  for (std::uint32_t round = 0; round < 60; ++round) {
    const auto model = random_graph(seed + round).builder().open();
    INFO("round " << round);
    const Result<Plan> plan = make_plan(*model, {});
    if (!plan.ok()) continue;
    const Case of = prepared(model);
    for (const TensorId output : model->graph().outputs()) {
      const GraphTensor& scored = model->graph().tensor(output);
      const Result<FirstOrder> order = of.tried(of.sites(), scored.name);
      if (order.ok()) {
        CHECK(objection(order.value().model).empty());
      } else {
        CHECK_FALSE(order.error().message.empty());
        CHECK(order.error().code != ErrorCode::kInternal);
        CHECK(order.error().code != ErrorCode::kInvalidGraph);
      }
    }
  }
}

}  // namespace
}  // namespace halftone::test
