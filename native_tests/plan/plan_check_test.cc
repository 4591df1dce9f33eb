#include <functional>

#include "plan/plan_cases.h"

namespace halftone::test {
namespace {

Site& edit(Plan& plan, std::string_view tensor) {
  for (Site& site : plan.sites) {
    if (site.tensor == tensor) return site;
  }
  FAIL("no site " << tensor);
  return plan.sites.front();
}

// The message of check_plan after `change` to a fitting plan.
std::string fault_after(const std::function<void(Plan&)>& change) {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan plan = plan_of(*model);
  REQUIRE(check_plan(*model, plan).ok());
  change(plan);
  const Result<void> checked = check_plan(*model, plan);
  REQUIRE_FALSE(checked.ok());
  CHECK(checked.error().code == ErrorCode::kInvalidPolicy);
  CHECK_FALSE(checked.error().next.empty());
  return checked.error().message;
}

bool says(const std::string& message, std::string_view part) {
  INFO(message);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("A plan that doesn't fit the model is refused with the site and the reason", "[plan]") {
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").tensor = "gone"; }), "\"gone\" names a tensor"));
  CHECK(
      says(fault_after([](Plan& plan) { plan.sites.push_back(plan.sites.front()); }), "\"x\" appears twice"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").consumers[0].node = "gone"; }),
             "a node that the model doesn't have, \"gone\""));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").consumers[0].input = 1; }),
             "not what \"first\" reads at input 1"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").consumers[0].input = 3; }), "reads at input 3"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").consumers[0].input = -1; }), "reads at input -1"));
  CHECK(says(fault_after([](Plan& plan) {
               edit(plan, "x").consumers.push_back({"first", 0});
             }),
             "lists a reader twice"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").consumers.clear(); }), "no node reads it so"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").role = Role::kWeight; }),
             "planned as weight, but the tensor is computed"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").role = Role::kActivation; }),
             "planned as activation, but the tensor is constant"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").format = NumberFormat::kInt32; }),
             "can't be stored as int32"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").format = NumberFormat::kUint4; }),
             "activations need 8 or 16 bits"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").format = NumberFormat::kFloat8E4M3Fn; }),
             "asymmetric, but float8e4m3fn has no zero point"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").format = NumberFormat::kFloat4E2M1; }),
             "can't be stored as float4e2m1, because no target runs"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").format = NumberFormat::kFloat8E5M2; }),
             "can't be stored as float8e5m2, because no target runs"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").format = NumberFormat::kInt2; }),
             "can't be stored as int2, because no target runs"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "b1").format = NumberFormat::kInt8; }),
             "can't be stored as int8 in the role of bias"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").axis = 4; }),
             "axis 4, but the tensor has 4 dimensions"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").axis = -1; }), "axis -1"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "x").granularity = Granularity::kChannel; }),
             "one scale for the tensor"));
  CHECK(
      says(fault_after([](Plan& plan) { edit(plan, "w1").granularity = Granularity::kBlock; }), "per block"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").scale_group = "g"; }), "scale group"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "b1").bias_of.reset(); }), "of which two tensors"));
  CHECK(
      says(fault_after([](Plan& plan) { edit(plan, "b1").bias_of->weight = "gone"; }), "scale of \"gone\""));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").quantized = false; }),
             "scale of \"w1\", which is not quantized"));
  CHECK(says(fault_after([](Plan& plan) { edit(plan, "w1").granularity = Granularity::kTensor; }),
             "same number of scales"));
}

TEST_CASE("Switching sites off in a plan needs no more than their biases off", "[plan]") {
  const std::shared_ptr<const Model> model = two_convs().open();
  Plan plan = plan_of(*model);
  edit(plan, "x").quantized = false;
  edit(plan, "b1").quantized = false;
  CHECK(check_plan(*model, plan).ok());
}

}  // namespace halftone::test
