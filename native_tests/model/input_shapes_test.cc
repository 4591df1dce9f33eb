// Models for inputs of given shapes.
#include "halftone/input_shapes.h"

#include <catch2/catch_test_macros.hpp>

#include "model/text_models.h"

namespace halftone::test {
namespace {

constexpr const char* kModel = R"(<ir_version: 8, opset_import: ["" : 17]>
agraph (float[N, C] x, float[N, 3] z) => (float[N, M] y) <float[N, 7] t> {
  t = Concat <axis = 1> (x, z)
  y = Transpose (t)
})";

std::string code_of(const InputShapes& shapes) {
  const auto made = with_input_shapes(open_text(kModel), shapes);
  return made.ok() ? "ok" : std::string(error_code_name(made.error().code));
}

TEST_CASE("given shapes of inputs reach all tensors", "[model]") {
  const auto model = open_text(kModel);
  CHECK(type_text(*model, "y") == "float32[7,M]");
  const auto made = with_input_shapes(model, {{"x", {2, 5}}, {"z", {2, 3}}});
  REQUIRE(made.ok());
  CHECK(type_text(*made.value(), "x") == "float32[2,5]");
  // What the model says about t holds for another C.
  CHECK(type_text(*made.value(), "t") == "float32[2,8]");
  CHECK(type_text(*made.value(), "y") == "float32[8,2]");
  CHECK(objection(made.value()).empty());
  CHECK(node_texts(*made.value()) == node_texts(*model));
}

TEST_CASE("inputs without a given shape stay as they are declared", "[model]") {
  const auto model = open_text(kModel);
  const auto made = with_input_shapes(model, {{"x", {2, 4}}});
  REQUIRE(made.ok());
  CHECK(type_text(*made.value(), "z") == "float32[N,3]");
  CHECK(with_input_shapes(model, {}).value() == model);
}

TEST_CASE("shapes that can't be are refused", "[model]") {
  CHECK(code_of({{"x", {2, 4}}}) == "ok");
  CHECK(code_of({{"x", {0, 4}}}) == "ok");
  CHECK(code_of({{"t", {2, 7}}}) == "invalid_policy");
  CHECK(code_of({{"nowhere", {2, 7}}}) == "invalid_policy");
  CHECK(code_of({{"x", {2}}}) == "shape_mismatch");
  CHECK(code_of({{"x", {2, -1}}}) == "shape_mismatch");
  CHECK(code_of({{"z", {2, 4}}}) == "shape_mismatch");
}

}  // namespace
}  // namespace halftone::test
