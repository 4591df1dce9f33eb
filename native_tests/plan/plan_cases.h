// Shorthands for tests of plans.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/plan.h"
#include "support/model_builder.h"

namespace halftone::test {

inline Plan plan_of(const Model& model, const PlanOptions& options = {}) {
  Result<Plan> plan = make_plan(model, options);
  INFO((plan.ok() ? "" : plan.error().message));
  REQUIRE(plan.ok());
  return std::move(plan).value();
}

inline const Site& site_of(const Plan& plan, std::string_view tensor) {
  const Site* site = plan.find(tensor);
  INFO(tensor);
  REQUIRE(site != nullptr);
  return *site;
}

// Of a plan that ends with the expression: by value.
inline Site site_of(Plan&& plan, std::string_view tensor) {
  return site_of(static_cast<const Plan&>(plan), tensor);
}

inline const InputDecision& input_of(const Plan& plan, std::string_view node, std::int32_t input) {
  for (const InputDecision& decision : plan.inputs) {
    if (decision.node == node && decision.input == input) return decision;
  }
  FAIL("no decision for input " << input << " of " << node);
  return plan.inputs.front();
}

inline InputDecision input_of(Plan&& plan, std::string_view node, std::int32_t input) {
  return input_of(static_cast<const Plan&>(plan), node, input);
}

inline std::vector<std::string> tensors_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const Site& site : plan.sites) names.push_back(site.tensor);
  return names;
}

inline std::vector<std::string> quantized_tensors_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const Site& site : plan.sites) {
    if (site.quantized) names.push_back(site.tensor);
  }
  return names;
}

inline bool has_warning(const Plan& plan, std::string_view code, std::string_view part = "") {
  for (const Warning& warning : plan.warnings) {
    if (warning.code == code && warning.message.find(part) != std::string::npos) return true;
  }
  return false;
}

// x [1,4,8,8] -> Conv "first" (w1, b1) -> t1 -> Relu "relu" -> t2 -> Conv "second" (w2, b2) -> y
inline ModelBuilder two_convs() {
  ModelBuilder builder;
  builder.input("x", {1, 4, 8, 8})
      .random_floats("w1", {6, 4, 3, 3}, 1)
      .random_floats("b1", {6}, 2)
      .random_floats("w2", {5, 6, 1, 1}, 3)
      .random_floats("b2", {5}, 4)
      .node("Conv", {"x", "w1", "b1"}, {"t1"}, "first")
      .node("Relu", {"t1"}, {"t2"}, "relu")
      .node("Conv", {"t2", "w2", "b2"}, {"y"}, "second")
      .output("y", {1, 5, 6, 6});
  return builder;
}

}  // namespace halftone::test
