// ModelOpt's get_resize_scales.
#include "plan/tensorrt/resize_scales.h"

#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "model/text_models.h"
#include "support/model_builder.h"

namespace halftone::test {
namespace {

using tensorrt::get_resize_scales;
using tensorrt::Peer;
using tensorrt::PolicyGraph;
using tensorrt::ResizeScales;

std::vector<ResizeScales> scales_of(const std::shared_ptr<const Model>& model, Peer peer = Peer::kCorrect) {
  const PolicyGraph view(model->graph(), peer);
  Result<std::vector<ResizeScales>> found = get_resize_scales(*model, view);
  REQUIRE(found.ok());
  return std::move(found).value();
}

TEST_CASE("The scales of a Resize, byte by byte", "[plan][tensorrt]") {
  ModelBuilder builder;
  builder.input("x", {1, 1, 7, 7})
      .floats("factors", {4}, {1.0F, 1.0F, 6.0F / 7.0F, 6.0F / 7.0F})
      .node("Resize", {"x", "", "factors"}, {"y"}, "rs")
      .untyped_output("y");
  const std::vector<ResizeScales> found = scales_of(builder.open());
  REQUIRE(found.size() == 1);
  CHECK(found[0].node == "rs");
  CHECK(found[0].type == DataType::kFloat);
  CHECK(found[0].bytes == std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0xb7, 0x6d, 0x5b,
                                                    0x3f, 0xb7, 0x6d, 0x5b, 0x3f});
}

TEST_CASE("A Resize by sizes, or by scales that are computed, has none", "[plan][tensorrt]") {
  ModelBuilder builder;
  builder.input("x", {1, 1, 4, 4})
      .input("given", {4})
      .tensor("sizes", DataType::kInt64, {4}, std::string(32, '\1'))
      .node("Resize", {"x", "", "", "sizes"}, {"a"}, "by_sizes")
      .node("Resize", {"x", "", "given"}, {"b"}, "by_input")
      .node("Resize", {"x"}, {"c"}, "bare")
      .untyped_output("a")
      .untyped_output("b")
      .untyped_output("c");
  CHECK(scales_of(builder.open()).empty());
}

TEST_CASE("Scales in a Constant node count, but not for the peer", "[plan][tensorrt]") {
  ModelBuilder builder;
  builder.input("x", {1, 1, 4, 4})
      .constant_node("factors", {4}, {1.0F, 1.0F, 2.0F, 2.0F})
      .node("Resize", {"x", "", "factors"}, {"y"})
      .untyped_output("y");
  const std::shared_ptr<const Model> model = builder.open();
  const std::vector<ResizeScales> found = scales_of(model);
  REQUIRE(found.size() == 1);
  CHECK(found[0].node == "@y");
  CHECK(found[0].bytes.size() == 16);
  CHECK(scales_of(model, Peer::kReproduce).empty());
}

TEST_CASE("Scales in float_data have the same bytes as raw ones", "[plan][tensorrt]") {
  const std::shared_ptr<const Model> model = open_text(R"(
    <ir_version: 8, opset_import: ["" : 17]>
    g (float[1,1,4,4] x) => (float[1,1,8,8] y)
    <float[4] factors = {1.0, 1.0, 2.0, 2.0}> { y = Resize(x, , factors) })");
  const std::vector<ResizeScales> found = scales_of(model);
  REQUIRE(found.size() == 1);
  std::vector<float> values(4);
  REQUIRE(found[0].bytes.size() == sizeof(float) * values.size());
  std::memcpy(values.data(), found[0].bytes.data(), found[0].bytes.size());
  CHECK(values == std::vector<float>{1.0F, 1.0F, 2.0F, 2.0F});
}

}  // namespace
}  // namespace halftone::test
