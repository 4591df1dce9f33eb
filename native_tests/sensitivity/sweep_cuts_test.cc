// Cuts of a sweep: that what crosses one determines everything behind it, and which one a quantizer may use.
#include "halftone/sweep_cuts.h"

#include <catch2/catch_test_macros.hpp>
#include <random>

#include "halftone/subgraph.h"
#include "model/text_models.h"
#include "support/model_builder.h"

namespace halftone::test {
namespace {

using Texts = std::vector<std::string>;

Site site(const std::string& tensor) {
  Site made;
  made.tensor = tensor;
  return made;
}

// `length` nodes in a row, each of which reads the one before it and a weight.
std::shared_ptr<const Model> chain(int length) {
  ModelBuilder builder;
  builder.input("t0", {1, 4});
  for (int i = 1; i <= length; ++i) {
    const std::string number = std::to_string(i);
    builder.random_floats("w" + number, {4, 4}, static_cast<std::uint32_t>(i));
    builder.node("MatMul", {"t" + std::to_string(i - 1), "w" + number}, {"t" + number}, "n" + number);
  }
  return builder.output("t" + std::to_string(length), {1, 4}).open();
}

TEST_CASE("A chain is cut at its input, then evenly, at one tensor each", "[sensitivity][cuts]") {
  const auto model = chain(40);
  const Texts scored{"t40"};
  const SweepCuts cuts(model->graph(), scored, 3);
  REQUIRE(cuts.cuts().size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const Cut& cut = cuts.cuts()[i];
    CHECK(cut.tensors == Texts{"t" + std::to_string(cut.place)});
    CHECK(cut.place == static_cast<std::int32_t>(10 * i));
  }
}

TEST_CASE("A quantizer's cut lies in front of everything that reads its tensor", "[sensitivity][cuts]") {
  const auto model = chain(40);
  const Texts scored{"t40"};
  const SweepCuts cuts(model->graph(), scored, 3);
  const auto cut_of = [&](const std::string& tensor) { return cuts.cut_for(model->graph(), site(tensor)); };
  CHECK(cut_of("t0") == 0);  // crosses the cut itself
  CHECK(cut_of("w10") == 0);
  CHECK(cut_of("t9") == 0);
  CHECK(cut_of("t10") == 1);
  CHECK(cut_of("w11") == 1);
  CHECK(cut_of("w20") == 1);
  CHECK(cut_of("w21") == 2);
  CHECK(cut_of("w40") == 3);
  CHECK(cut_of("t40") == kNone);  // nothing reads it
  CHECK(cut_of("nowhere") == kNone);
}

TEST_CASE("A weight that an early node reads too keeps to the front", "[sensitivity][cuts]") {
  ModelBuilder builder;
  builder.input("t0", {1, 4}).random_floats("shared", {4, 4}, 7);
  for (int i = 1; i <= 20; ++i)
    builder.node("MatMul", {"t" + std::to_string(i - 1), "shared"}, {"t" + std::to_string(i)});
  const auto model = builder.output("t20", {1, 4}).open();
  const Texts scored{"t20"};
  const SweepCuts cuts(model->graph(), scored, 3);
  REQUIRE(cuts.cuts().size() == 4);
  CHECK(cuts.cut_for(model->graph(), site("shared")) == 0);
}

TEST_CASE("Nothing is cut behind a scored tensor, nor where a type isn't known", "[sensitivity][cuts]") {
  const auto model = chain(40);
  const Texts early{"t12", "t40"};
  const SweepCuts before(model->graph(), early, 6);
  CHECK_FALSE(before.cuts().empty());
  for (const Cut& cut : before.cuts()) CHECK(cut.place <= 11);

  ModelBuilder builder;
  builder.opset(17).opset(1, "of.others").input("x", {1, 4});
  builder.node("Strange", {"x"}, {"s0"}, "", {}, "of.others");
  for (int i = 1; i <= 12; ++i)
    builder.node("Strange", {"s" + std::to_string(i - 1)}, {"s" + std::to_string(i)}, "", {}, "of.others");
  const auto unknown = builder.untyped_output("s12").open();
  const Texts scored{"s12"};
  const SweepCuts none(unknown->graph(), scored, 6);
  REQUIRE(none.cuts().size() == 1);
  CHECK(none.cuts()[0].tensors == Texts{"x"});
}

TEST_CASE("Models that are too small are not cut", "[sensitivity][cuts]") {
  const Texts scored{"t1"};
  const auto small = chain(1);
  const SweepCuts none(small->graph(), scored, 12);
  CHECK(none.cuts().empty());
  const auto model = chain(40);
  const Texts last{"t40"};
  const SweepCuts unwanted(model->graph(), last, 0);
  CHECK(unwanted.cuts().empty());
}

// A graph in which each node reads up to three earlier tensors, so that much crosses everywhere.
std::shared_ptr<const Model> tangle(std::mt19937& random, int nodes) {
  ModelBuilder builder;
  builder.input("t0", {4}).input("u", {4});
  for (int i = 1; i <= nodes; ++i) {
    const auto earlier = [&](int reach) {
      const int from = std::max(0, i - 1 - static_cast<int>(random() % static_cast<unsigned>(reach)));
      return "t" + std::to_string(from);
    };
    std::vector<std::string> inputs{earlier(2), earlier(6)};
    if (random() % 8 == 0) inputs.emplace_back("u");
    builder.node("Sum", inputs, {"t" + std::to_string(i)});
  }
  return builder.output("t" + std::to_string(nodes), {4}).open();
}

TEST_CASE("What crosses a cut determines the outputs, in graphs of any shape", "[sensitivity][cuts]") {
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::size_t tried = 0;
  for (int round = 0; round < 60; ++round) {
    const int nodes = 20 + static_cast<int>(random() % 60);
    const auto model = tangle(random, nodes);
    const Texts scored{"t" + std::to_string(nodes)};
    const SweepCuts cuts(model->graph(), scored, 8);
    for (const Cut& cut : cuts.cuts()) {
      CHECK(cut.tensors.size() <= SweepCuts::kMostTensors);
      const auto behind = subgraph(model, cut.tensors, scored);
      INFO((behind.ok() ? std::string() : behind.error().message));
      REQUIRE(behind.ok());
      for (const GraphNode& node : behind.value()->graph().nodes()) {
        const std::string& output = behind.value()->graph().tensor(node.outputs[0]).name;
        CHECK(model->graph().find_tensor(output) != kNone);
        CHECK(std::stoi(output.substr(1)) > cut.place);
      }
      ++tried;
    }
  }
  CHECK(tried > 100);
}

}  // namespace
}  // namespace halftone::test
