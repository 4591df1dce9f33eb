#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

using Names = std::vector<std::string>;

Plan plan_with(Names include, Names exclude) {
  PlanOptions options;
  options.include = std::move(include);
  options.exclude = std::move(exclude);
  return plan_of(*two_convs().open(), options);
}

}  // namespace

TEST_CASE("Exclude patterns speak about nodes, tensors and operators", "[plan]") {
  CHECK(quantized_tensors_of(plan_with({}, {"first"})) == Names{"t2", "w2", "b2"});
  CHECK(quantized_tensors_of(plan_with({}, {"w1"})) == Names{"x", "t2", "w2", "b2"});
  CHECK(quantized_tensors_of(plan_with({}, {"glob:sec*"})) == Names{"x", "w1", "b1"});
  CHECK(quantized_tensors_of(plan_with({}, {"re:^[wb]\\d$"})) == Names{"x", "t2"});
  CHECK(quantized_tensors_of(plan_with({}, {"op:Conv"})).empty());
  const Plan plan = plan_with({}, {"glob:w?", "op:Gemm"});
  CHECK(site_of(plan, "w2").rule == "excluded");
  CHECK(site_of(plan, "w2").why.find("\"glob:w?\"") != std::string::npos);
  CHECK(input_of(plan, "second", 1).rule == "excluded");
  CHECK(site_of(plan, "w2").consumers.size() == 1);
  CHECK(has_warning(plan, "pattern_matches_nothing", "\"op:Gemm\" matches no operator"));
}

TEST_CASE("With include patterns only what matches is in, and exclude wins", "[plan]") {
  CHECK(quantized_tensors_of(plan_with({"second"}, {})) == Names{"t2", "w2", "b2"});
  CHECK(quantized_tensors_of(plan_with({"op:Conv"}, {"first"})) == Names{"t2", "w2", "b2"});
  CHECK(quantized_tensors_of(plan_with({"w1", "x"}, {})) == Names{"x", "w1"});
  CHECK(quantized_tensors_of(plan_with({"second"}, {"second"})).empty());
  CHECK(site_of(plan_with({"second"}, {}), "x").rule == "not_included");
  CHECK(has_warning(plan_with({"second"}, {"second"}), "nothing_to_quantize"));
}

TEST_CASE("A pattern without a match is a warning with near misses", "[plan]") {
  const Plan plan = plan_with({}, {"frist", "glob:*secnd*", "glob:*sec*x", "op:Cnv"});
  CHECK(quantized_tensors_of(plan).size() == 6);
  CHECK(has_warning(plan, "pattern_matches_nothing",
                    "exclude pattern \"frist\" matches no node and no tensor; near it are \"first\""));
  CHECK(has_warning(plan, "pattern_matches_nothing",
                    "\"glob:*secnd*\" matches no node and no tensor; near it are \"second\""));
  CHECK(has_warning(plan, "pattern_matches_nothing", "\"glob:*sec*x\""));
  CHECK(has_warning(plan, "pattern_matches_nothing", "\"op:Cnv\" matches no operator; near it are \"Conv\""));
}

TEST_CASE("A faulty pattern is an error, not an exception", "[plan]") {
  PlanOptions options;
  options.include = {"re:("};
  const Result<Plan> plan = make_plan(*two_convs().open(), options);
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.error().code == ErrorCode::kInvalidPolicy);
}

TEST_CASE("Nameless nodes are matched by their label", "[plan]") {
  ModelBuilder builder;
  builder.input("x", {2, 4}).random_floats("w", {4, 4}, 1).random_floats("v", {4, 4}, 2);
  builder.node("MatMul", {"x", "w"}, {"t"}).node("MatMul", {"t", "v"}, {"y"}).output("y", {2, 4});
  PlanOptions options;
  options.exclude = {"@t"};
  CHECK(quantized_tensors_of(plan_of(*builder.open(), options)) == Names{"t", "v"});
}

}  // namespace halftone::test
