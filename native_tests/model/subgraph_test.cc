// Parts of models: what is taken along, what is left behind, what is refused.
#include "halftone/subgraph.h"

#include <catch2/catch_test_macros.hpp>

#include "model/text_models.h"
#include "support/model_builder.h"

namespace halftone::test {
namespace {

using Texts = std::vector<std::string>;

std::shared_ptr<const Model> part(const std::shared_ptr<const Model>& model, const Texts& inputs,
                                  const Texts& outputs) {
  Result<std::shared_ptr<const Model>> made = subgraph(model, inputs, outputs);
  INFO((made.ok() ? std::string() : made.error().message));
  REQUIRE(made.ok());
  return made.value();
}

Error refusal(const std::shared_ptr<const Model>& model, const Texts& inputs, const Texts& outputs) {
  Result<std::shared_ptr<const Model>> made = subgraph(model, inputs, outputs);
  REQUIRE_FALSE(made.ok());
  return made.error();
}

Texts names(const Graph& graph, std::span<const TensorId> ids) {
  Texts found;
  for (const TensorId id : ids) found.push_back(graph.tensor(id).name);
  return found;
}

std::shared_ptr<const Model> residual() {
  return open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[1,2] x, float[1,2] mask) => (float[1,2] y)
    <float[2,2] w = {1, 2, 3, 4}, float[2,2] v = {5, 6, 7, 8}>
    { a = MatMul(x, w)  b = Relu(a)  c = MatMul(b, v)  d = Mul(c, mask)  y = Add(d, b) })");
}

TEST_CASE("A part holds the nodes and constants behind its inputs, and no others", "[model][subgraph]") {
  const auto made = part(residual(), {"b", "mask"}, {"y"});
  CHECK(node_texts(*made) == Texts{"MatMul>c", "Mul>d", "Add>y"});
  CHECK(names(made->graph(), made->graph().inputs()) == Texts{"b", "mask"});
  CHECK(names(made->graph(), made->graph().outputs()) == Texts{"y"});
  CHECK(made->graph().find_tensor("w") == kNone);
  CHECK(made->graph().find_tensor("v") != kNone);
  CHECK(type_text(*made, "b") == "float32[1,2]");
  CHECK(objection(made).empty());
}

TEST_CASE("A part between two inner tensors ends there", "[model][subgraph]") {
  const auto made = part(residual(), {"a"}, {"c"});
  CHECK(node_texts(*made) == Texts{"Relu>b", "MatMul>c"});
  CHECK(objection(made).empty());
}

TEST_CASE("A part of the whole is the whole", "[model][subgraph]") {
  const auto base = residual();
  CHECK(node_texts(*part(base, {"x", "mask"}, {"y"})) == node_texts(*base));
}

TEST_CASE("Constant nodes become initializers with the same values, in old files too", "[model][subgraph]") {
  const auto base = ModelBuilder()
                        .ir_version(3)
                        .opset(9)
                        .input("x", {1, 2})
                        .constant_node("w", {2, 2}, {1, 2, 3, 4})
                        .node("MatMul", {"x", "w"}, {"h"})
                        .node("Relu", {"h"}, {"y"})
                        .output("y", {1, 2})
                        .open();
  const auto made = part(base, {"x"}, {"y"});
  CHECK(node_texts(*made) == Texts{"MatMul>h", "Relu>y"});
  CHECK(made->info().ir_version >= 4);
  const TensorId w = made->graph().find_tensor("w");
  REQUIRE(w != kNone);
  CHECK(made->graph().tensor(w).initializer);
  const auto value = made->constant(w);
  const auto was = base->constant(base->graph().find_tensor("w"));
  REQUIRE(value.ok());
  REQUIRE(was.ok());
  CHECK(value.value().dims == was.value().dims);
  CHECK(std::equal(value.value().bytes.begin(), value.value().bytes.end(), was.value().bytes.begin(),
                   was.value().bytes.end()));
  CHECK(objection(made).empty());
}

TEST_CASE("What a body reads from outside comes along", "[model][subgraph]") {
  const auto base = open_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x, bool c) => (float[2] y)
    <float[2] k = {1, 2}>
    { a = Relu(x)  b = Add(a, k)
      z = If (c) <then_branch = t () => (float[2] p) { p = Mul(b, k) }, else_branch = e () => (float[2] q) { q = Identity(b) }>
      y = Relu(z) })");
  const auto made = part(base, {"a", "c"}, {"y"});
  CHECK(node_texts(*made) == Texts{"Add>b", "If>z", "Relu>y"});
  CHECK(objection(made).empty());
}

TEST_CASE("A part that can't be made is refused by name", "[model][subgraph]") {
  const auto base = residual();
  const auto says = [](const Error& error, std::string_view name) {
    return error.code == ErrorCode::kInvalidPolicy && error.where == name &&
           error.message.find(name) != std::string::npos;
  };
  CHECK(says(refusal(base, {"nowhere"}, {"y"}), "nowhere"));
  CHECK(says(refusal(base, {"w"}, {"y"}), "w"));
  CHECK(says(refusal(base, {"b"}, {"y"}), "mask"));
  CHECK(says(refusal(base, {"x", "mask"}, {"nowhere"}), "nowhere"));
  CHECK(says(refusal(base, {"b", "mask"}, {"b"}), "b"));
  CHECK(says(refusal(base, {"x"}, {"mask"}), "mask"));
}

}  // namespace
}  // namespace halftone::test
