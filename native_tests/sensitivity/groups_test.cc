// What a sweep switches together: by quantizer, operator, layer, owner, capture and function.
#include "halftone/groups.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "support/model_builder.h"

namespace halftone::test {
namespace {

using Texts = std::vector<std::string>;

// x is read by two nodes, w by two nodes; in file order the second reader of w comes first in none.
//   x -> fc1 (w, b1) -> h -> relu -> r -> fc2 (w) -> y ; x, y -> add -> z
std::shared_ptr<const Model> model() {
  return ModelBuilder()
      .input("x", {1, 4})
      .random_floats("w", {4, 4}, 1)
      .random_floats("b1", {4}, 2)
      .node("Gemm", {"x", "w", "b1"}, {"h"}, "fc1")
      .node("Relu", {"h"}, {"r"}, "relu")
      .node("Gemm", {"r", "w"}, {"y"}, "fc2")
      .node("Add", {"x", "y"}, {"z"}, "add")
      .output("z", {1, 4})
      .open();
}

Site site(std::string tensor, Role role, std::vector<Consumer> consumers) {
  Site made;
  made.tensor = std::move(tensor);
  made.role = role;
  made.quantized = true;
  made.consumers = std::move(consumers);
  return made;
}

// In site order.
Plan plan() {
  Plan made;
  made.sites = {site("x", Role::kActivation, {{"fc1", 0}, {"add", 0}}),
                site("w", Role::kWeight, {{"fc1", 1}, {"fc2", 1}}),
                site("b1", Role::kBias, {{"fc1", 2}}),
                site("h", Role::kActivation, {{"relu", 0}}),
                site("r", Role::kActivation, {{"fc2", 0}}),
                site("y", Role::kActivation, {{"add", 1}})};
  return made;
}

Encodings encodings(const Texts& tensors) {
  Encodings made;
  for (const std::string& tensor : tensors)
    made.set(tensor, Encoding{NumberFormat::kUint8, -1, {0.1F}, {0}, {0}, {1}});
  return made;
}

Encodings all_encodings() { return encodings({"x", "w", "b1", "h", "r", "y"}); }

// "key:site,site" each.
Texts groups(const Grouping& grouping, const Plan& of = plan(), const Encodings& with = all_encodings()) {
  const Result<std::vector<QuantizerGroup>> made = quantizer_groups(*model(), of, with, grouping);
  REQUIRE(made.ok());
  Texts texts;
  for (const QuantizerGroup& group : made.value()) {
    std::string text = group.key + ":";
    std::string detail;
    for (const std::string& tensor : group.sites) {
      text += (text.back() == ':' ? "" : ",") + tensor;
      detail += (detail.empty() ? "" : ", ") + tensor;
    }
    CHECK(group.detail == (grouping.by == "quantizer" && !grouping.function ? "" : detail));
    texts.push_back(text);
  }
  return texts;
}

Error refusal(const Grouping& grouping, const Plan& of = plan(), const Encodings& with = all_encodings()) {
  const Result<std::vector<QuantizerGroup>> made = quantizer_groups(*model(), of, with, grouping);
  REQUIRE_FALSE(made.ok());
  CHECK_FALSE(made.error().next.empty());
  return made.error();
}

TEST_CASE("By quantizer every site but a bias is a group", "[sensitivity][groups]") {
  CHECK(groups({}) == Texts{"x:x", "w:w", "h:h", "r:r", "y:y"});
  CHECK(groups({"quantizer", {}, "weights"}) == Texts{"w:w"});
  CHECK(groups({"quantizer", {}, "activations"}) == Texts{"x:x", "h:h", "r:r", "y:y"});
}

TEST_CASE("A layer has weights, outputs and inputs that no node makes, shared ones in each",
          "[sensitivity][groups]") {
  CHECK(groups({"layer", {}, ""}) == Texts{"fc1:x,w,h", "relu:r", "fc2:w,y", "add:x"});
  CHECK(groups({"layer", {}, "weights"}) == Texts{"fc1:w", "fc2:w"});
}

TEST_CASE("By op name each quantizer belongs to one node", "[sensitivity][groups]") {
  CHECK(groups({"op_name", {}, ""}) == Texts{"fc1:x,w,h", "relu:r", "fc2:y"});
}

TEST_CASE("By operator the owner's type is the key", "[sensitivity][groups]") {
  CHECK(groups({"operator", {}, ""}) == Texts{"Gemm:x,w,h,y", "Relu:r"});
}

TEST_CASE("A captured text is the key, and what isn't matched is left out", "[sensitivity][groups]") {
  CHECK(groups({"re:^([xyh])", {}, ""}) == Texts{"x:x", "h:h", "y:y"});
  CHECK(groups({"re:(?:w|())", {}, ""}) == Texts{":x,h,r,y"});
}

TEST_CASE("A function gives keys, and is asked in site order, never for a bias", "[sensitivity][groups]") {
  Texts asked;
  Grouping grouping;
  grouping.function = [&](const Site& each) -> std::optional<std::string> {
    asked.push_back(each.tensor);
    if (each.tensor == "h") return std::nullopt;
    return each.role == Role::kWeight ? "weights" : "activations";
  };
  CHECK(groups(grouping) == Texts{"activations:x,r,y", "weights:w"});
  CHECK(asked == Texts{"x", "w", "h", "r", "y"});
}

TEST_CASE("Sites that are float, or without an encoding, are in no group", "[sensitivity][groups]") {
  Plan partly = plan();
  partly.sites[0].quantized = false;
  CHECK(groups({}, partly, encodings({"x", "w", "y"})) == Texts{"w:w", "y:y"});
}

TEST_CASE("Groups in the order of nodes are topological, whatever the file's order",
          "[sensitivity][groups]") {
  const std::shared_ptr<const Model> reversed = ModelBuilder()
                                                    .input("x", {1, 4})
                                                    .random_floats("w", {4, 4}, 1)
                                                    .node("MatMul", {"h", "w"}, {"y"}, "second")
                                                    .node("MatMul", {"x", "w"}, {"h"}, "first")
                                                    .output("y", {1, 4})
                                                    .open();
  Plan made;
  made.sites = {site("x", Role::kActivation, {{"first", 0}}), site("h", Role::kActivation, {{"second", 0}}),
                site("w", Role::kWeight, {{"second", 1}, {"first", 1}})};
  const auto layers = quantizer_groups(*reversed, made, encodings({"x", "h", "w"}), {"layer", {}, ""});
  REQUIRE(layers.ok());
  REQUIRE(layers.value().size() == 2);
  CHECK(layers.value()[0].key == "first");
  CHECK(layers.value()[0].sites == Texts{"x", "h", "w"});
  CHECK(layers.value()[1].sites == Texts{"w"});
  const auto owners = quantizer_groups(*reversed, made, encodings({"x", "h", "w"}), {"op_name", {}, ""});
  REQUIRE(owners.ok());
  REQUIRE(owners.value().size() == 1);  // the weight belongs to its first reader
  CHECK(owners.value()[0].key == "first");
}

TEST_CASE("What can't be grouped is refused, with what to do", "[sensitivity][groups]") {
  CHECK(refusal({"node", {}, ""}).code == ErrorCode::kInvalidPolicy);
  CHECK(refusal({"quantizer", {}, "biases"}).code == ErrorCode::kInvalidPolicy);
  CHECK(refusal({"re:conv", {}, ""}).code == ErrorCode::kInvalidPolicy);
  CHECK(refusal({"re:(", {}, ""}).code == ErrorCode::kInvalidPolicy);
  CHECK(refusal({"re:(nothing)", {}, ""}).code == ErrorCode::kInvalidState);
  Grouping none;
  none.function = [](const Site&) { return std::optional<std::string>(); };
  CHECK(refusal(none).code == ErrorCode::kInvalidState);
  const Error uncalibrated = refusal({}, plan(), Encodings());
  CHECK(uncalibrated.code == ErrorCode::kInvalidState);
  CHECK(uncalibrated.next.find("Calibrate") != std::string::npos);
  CHECK(refusal({}, Plan()).code == ErrorCode::kInvalidState);
  CHECK(refusal({"quantizer", {}, "weights"}, plan(), encodings({"x"})).code == ErrorCode::kInvalidState);
}

}  // namespace
}  // namespace halftone::test
