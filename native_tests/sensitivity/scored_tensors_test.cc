// Which tensors a score is of.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "halftone/sensitivity.h"
#include "support/model_builder.h"

namespace halftone::test {
namespace {

using Texts = std::vector<std::string>;

// logits -> Reshape -> Softmax -> probabilities; boxes; count (an integer).
std::shared_ptr<const Model> model() {
  return ModelBuilder()
      .input("x", {1, 4})
      .random_floats("w", {4, 4}, 1)
      .tensor("shape", DataType::kInt64, {1}, std::string("\4\0\0\0\0\0\0\0", 8))
      .node("MatMul", {"x", "w"}, {"logits"})
      .node("Reshape", {"logits", "shape"}, {"flat"})
      .node("Softmax", {"flat"}, {"probabilities"})
      .node("Relu", {"logits"}, {"boxes"})
      .node("Shape", {"x"}, {"count"})
      .output("probabilities", {4})
      .output("count", {2}, DataType::kInt64)
      .output("boxes", {1, 4})
      .open();
}

Texts chosen(const Texts& choices) {
  const Result<Texts> names = scored_tensors(*model(), choices);
  REQUIRE(names.ok());
  return names.value();
}

Error refusal(const std::string& choice) {
  const Result<Texts> names = scored_tensors(*model(), choice);
  REQUIRE_FALSE(names.ok());
  CHECK(names.error().code == ErrorCode::kInvalidPolicy);
  return names.error();
}

TEST_CASE("By default a score is of what is in front of saturating functions", "[sensitivity][scored]") {
  CHECK(scored_tensors(*model(), "").value() == Texts{"flat", "boxes"});
  CHECK(chosen({}) == Texts{"flat", "boxes"});
  CHECK(chosen({"output"}) == Texts{"probabilities", "boxes"});
}

TEST_CASE("Outputs and inner tensors can be chosen, several of them, each once", "[sensitivity][scored]") {
  CHECK(chosen({"output:0"}) == Texts{"probabilities"});
  CHECK(chosen({"output:2", "logits", "boxes"}) == Texts{"boxes", "logits"});
  CHECK(chosen({"logits", "output"}) == Texts{"logits", "probabilities", "boxes"});
}

TEST_CASE("Choices that can't be scored are refused by name", "[sensitivity][scored]") {
  CHECK(refusal("output:1").message.find("count") != std::string::npos);  // an integer
  CHECK(refusal("output:3").next.find("has 3") != std::string::npos);
  for (const char* faulty :
       {"output:", "output:-1", "output:1x", "output:99999999999999999999", "nowhere", "w"})
    refusal(faulty);
  CHECK(scored_tensors(*model(), Texts{"boxes", "nowhere"}).error().where == "nowhere");
}

}  // namespace
}  // namespace halftone::test
