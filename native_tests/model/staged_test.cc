// Models in stages: what each stage holds, what crosses its border, and which cuts can't be one. What a run
// gives from each border is tested where a runtime is (tests/unit/staged.test.ts).
#include "halftone/staged.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "model/text_models.h"

namespace halftone::test {
namespace {

using Texts = std::vector<std::string>;

StagedModel made_of(const std::shared_ptr<const Model>& model, const std::vector<Texts>& cuts,
                    const Texts& kept = {"y"}) {
  Result<StagedModel> made = staged(model, cuts, kept);
  INFO((made.ok() ? std::string() : made.error().message));
  REQUIRE(made.ok());
  return std::move(made).value();
}

std::vector<std::size_t> cuts_of(const StagedModel& made) {
  std::vector<std::size_t> cuts;
  for (const StageBorder& border : made.borders) cuts.push_back(border.cut);
  return cuts;
}

// What has to be fed to start at a border.
Texts crossing(const StagedModel& made, std::size_t border) {
  Texts names;
  for (const std::size_t feed : made.borders.at(border).crossing) names.push_back(made.feeds.at(feed).tensor);
  return names;
}

// Operators in the branch of a stage that computes.
Texts computed(const StagedModel& made, std::size_t stage) {
  const onnx::ModelProto file = written(made.model);
  Texts ops;
  std::size_t seen = 0;
  for (const onnx::NodeProto& node : file.graph().node()) {
    if (node.op_type() != "If" || seen++ != stage) continue;
    for (const onnx::AttributeProto& branch : node.attribute()) {
      if (branch.name() != "else_branch") continue;
      for (const onnx::NodeProto& inner : branch.g().node()) ops.push_back(inner.op_type());
    }
  }
  return ops;
}

// Operators behind the last border.
Texts rest(const StagedModel& made) {
  const onnx::ModelProto file = written(made.model);
  Texts ops;
  for (const onnx::NodeProto& node : file.graph().node()) {
    if (node.op_type() != "If" && node.op_type() != "Less") ops.push_back(node.op_type());
  }
  return ops;
}

std::shared_ptr<const Model> residual() {
  return open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,2] x, float[1,2] mask) => (float[1,2] y)
    <float[2,2] w = {1, 2, 3, 4}, float[2,2] v = {5, 6, 7, 8}>
    { a = MatMul(x, w)  b = Relu(a)  c = MatMul(b, v)  d = Mul(c, mask)  e = Add(d, b)  y = Neg(e) })");
}

TEST_CASE("A stage holds what its cut needs beyond the stages before", "[model][staged]") {
  const StagedModel made = made_of(residual(), {{"b"}, {"b", "d"}, {"e"}});
  CHECK(cuts_of(made) == std::vector<std::size_t>{0, 1, 2});
  CHECK(computed(made, 0) == Texts{"MatMul", "Relu"});
  CHECK(computed(made, 1) == Texts{"MatMul", "Mul"});
  CHECK(computed(made, 2) == Texts{"Add"});
  CHECK(rest(made) == Texts{"Neg"});
  CHECK(crossing(made, 0) == Texts{"b"});
  CHECK(crossing(made, 1) == Texts{"b", "d"});
  CHECK(crossing(made, 2) == Texts{"e"});
  CHECK(made.feeds.size() == 3);
  CHECK(objection(made.model) == "");
}

TEST_CASE("What crosses is an output under its own name, beside the model's own", "[model][staged]") {
  const StagedModel made = made_of(residual(), {{"b"}, {"e"}});
  Texts outputs;
  for (const TensorId id : made.model->graph().outputs())
    outputs.push_back(made.model->graph().tensor(id).name);
  CHECK(outputs == Texts{"y", "b", "e"});
  Texts inputs;
  for (const TensorId id : made.model->graph().inputs())
    inputs.push_back(made.model->graph().tensor(id).name);
  CHECK(inputs == Texts{"x", "mask", made.start, made.feeds[0].feed, made.feeds[1].feed});
  CHECK(type_text(*made.model, made.start) == "int64[1]");
  CHECK(made.feeds[0].type == DataType::kFloat);
  CHECK(made.feeds[0].rank == 2);
  CHECK(type_text(*made.model, made.feeds[0].feed) == "float32[?,?]");
}

// A cut says where stages end; what crosses there is what is read behind it in this model, whatever it says.
TEST_CASE("A cut that forgets a tensor crosses it all the same", "[model][staged]") {
  const StagedModel made = made_of(residual(), {{"d"}});
  CHECK(computed(made, 0) == Texts{"MatMul", "Relu", "MatMul", "Mul"});
  CHECK(crossing(made, 0) == Texts{"b", "d"});
  CHECK(objection(made.model) == "");
}

TEST_CASE("An output inside a stage that nothing behind reads stays one, and isn't fed", "[model][staged]") {
  const auto base = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,2] x) => (float[1,2] y, float[1,2] a)
    { a = Relu(x)  b = Neg(a)  y = Abs(b) })");
  const StagedModel made = made_of(base, {{"b"}});
  CHECK(crossing(made, 0) == Texts{"b"});
  CHECK(made.feeds.size() == 1);
  CHECK(tensor(*made.model, "a").graph_output);
  CHECK(objection(made.model) == "");
}

TEST_CASE("Constants and what is folded of them stay outside of stages", "[model][staged]") {
  const auto base = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,2] x) => (float[1,2] y)
    <float[2,2] w = {1, 2, 3, 4}>
    { t = Transpose(w)  a = MatMul(x, t)  b = MatMul(a, t)  y = Neg(b) })");
  const StagedModel made = made_of(base, {{"a"}, {"b"}});
  CHECK(computed(made, 0) == Texts{"MatMul"});
  CHECK(computed(made, 1) == Texts{"MatMul"});
  CHECK(rest(made) == Texts{"Transpose", "Neg"});
  CHECK(objection(made.model) == "");
}

TEST_CASE("Cuts that can't be borders are left out", "[model][staged]") {
  const auto base = residual();
  SECTION("where nothing is computed in front") {
    CHECK(cuts_of(made_of(base, {{"x", "mask"}, {"b"}})) == std::vector<std::size_t>{1});
  }
  SECTION("where nothing is computed since the one before") {
    CHECK(cuts_of(made_of(base, {{"b"}, {"b"}, {"e"}})) == std::vector<std::size_t>{0, 2});
  }
  SECTION("of tensors that aren't there, or are constant") {
    CHECK(cuts_of(made_of(base, {{"a", "nothing"}, {"w"}, {"e"}})) == std::vector<std::size_t>{2});
  }
  SECTION("behind an output that every run makes") {
    CHECK(cuts_of(made_of(base, {{"b"}, {"e"}}, {"y", "d"})) == std::vector<std::size_t>{0});
    CHECK(cuts_of(made_of(base, {{"b"}, {"y"}})) == std::vector<std::size_t>{0});
  }
}

TEST_CASE("A cut that was left out leaves no trace in the next stage", "[model][staged]") {
  const StagedModel made = made_of(residual(), {{"y"}, {"b"}});
  CHECK(cuts_of(made) == std::vector<std::size_t>{1});
  CHECK(computed(made, 0) == Texts{"MatMul", "Relu"});
}

TEST_CASE("Models that can't have stages stay as they are", "[model][staged]") {
  const auto unchanged = [](const std::shared_ptr<const Model>& base, const std::vector<Texts>& cuts) {
    const StagedModel made = made_of(base, cuts);
    CHECK(made.model == base);
    CHECK(made.borders.empty());
    CHECK(made.feeds.empty());
    CHECK(made.start.empty());
  };
  SECTION("no cuts") { unchanged(residual(), {}); }
  SECTION("an operator set without Less of int64") {
    unchanged(open_text(R"(<ir_version: 3, opset_import: ["" : 8]>
      g (float[1,2] x) => (float[1,2] y) { a = Relu(x)  y = Neg(a) })"),
              {{"a"}});
  }
  SECTION("control flow") {
    unchanged(open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[1,2] x, bool[1] c) => (float[1,2] y)
      { a = Relu(x)
        b = If (c) <then_branch = t () => (float[1,2] p) { p = Neg(a) },
                    else_branch = e () => (float[1,2] q) { q = Abs(a) }>
        y = Neg(b) })"),
              {{"a"}, {"b"}});
  }
  SECTION("something of unknown type would cross") {
    unchanged(open_text(R"(<ir_version: 8, opset_import: ["" : 17, "com.example" : 1]>
      g (float[1,2] x) => (float[1,2] y)
      { a = com.example.Unknown(x)  b = com.example.Unknown(a)  y = Neg(b) })"),
              {{"a"}});
  }
}

TEST_CASE("New names are free in the whole model", "[model][staged]") {
  const auto base = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,2] start_stage, float[1,2] stage_0) => (float[1,2] y)
    { a_computed = Relu(start_stage)  a = Add(a_computed, stage_0)  a_fed = Neg(a)  y = Add(a_fed, a) })");
  const StagedModel made = made_of(base, {{"a"}});
  CHECK(made.start == "start_stage_1");
  CHECK(made.feeds[0].feed == "a_fed_1");
  CHECK(objection(made.model) == "");
}

TEST_CASE("A long chain is cut in linear time at every node", "[model][staged]") {
  std::string nodes;
  std::vector<Texts> cuts;
  constexpr int kNodes = 2000;
  for (int i = 0; i < kNodes; ++i) {
    nodes += " t" + std::to_string(i + 1) + " = Neg(t" + std::to_string(i) + ")";
    cuts.push_back({"t" + std::to_string(i + 1)});
  }
  const auto base = open_text("<ir_version: 8, opset_import: [\"\" : 17]> g (float[1] t0) => (float[1] y) {" +
                              nodes + " y = Abs(t" + std::to_string(kNodes) + ") }");
  const StagedModel made = made_of(base, cuts);
  CHECK(made.borders.size() == kNodes);
  CHECK(std::all_of(made.borders.begin(), made.borders.end(),
                    [](const StageBorder& border) { return border.crossing.size() == 1; }));
}

}  // namespace
}  // namespace halftone::test
