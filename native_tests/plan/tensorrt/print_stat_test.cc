// ModelOpt's print_stat as data.
#include "halftone/print_stat.h"

#include <catch2/catch_test_macros.hpp>

#include "support/model_builder.h"

namespace halftone::test {
namespace {

using Counts = std::vector<std::pair<std::string, std::size_t>>;

// x -> Q DQ -> conv1 -> Q DQ -> conv2, with Q DQ around both weights.
ModelBuilder two_quantized_convs() {
  ModelBuilder builder;
  builder.input("x", {1, 4, 8, 8})
      .floats("s", {}, {0.1F})
      .tensor("z", DataType::kInt8, {}, std::string(1, '\0'));
  const auto pair = [&](const std::string& tensor) {
    builder.node("QuantizeLinear", {tensor, "s", "z"}, {tensor + "_q"});
    builder.node("DequantizeLinear", {tensor + "_q", "s", "z"}, {tensor + "_dq"});
  };
  builder.random_floats("w1", {4, 4, 1, 1}, 1).random_floats("w2", {4, 4, 1, 1}, 2);
  pair("x");
  pair("w1");
  builder.node("Conv", {"x_dq", "w1_dq"}, {"c"}, "conv1");
  pair("c");
  pair("w2");
  builder.node("Conv", {"c_dq", "w2_dq"}, {"y"}, "conv2");
  builder.untyped_output("y");
  return builder;
}

TEST_CASE("print_stat counts nodes that read a DequantizeLinear, once each", "[plan][tensorrt]") {
  const QuantizedNodeStatistics statistics = print_stat(two_quantized_convs().open()->graph());
  CHECK(statistics.nodes == 10);
  CHECK(statistics.quantized_nodes == 2);
  CHECK(statistics.quantized_type_counts == Counts{{"Conv", 2}});
  CHECK(statistics.quantized_node_names == std::vector<std::string>{"conv1", "conv2"});
}

TEST_CASE("print_stat counts a Q behind a DQ, a node with only its weight quantized, and nameless nodes",
          "[plan][tensorrt]") {
  ModelBuilder builder = two_quantized_convs();
  builder.random_floats("w3", {4, 4, 1, 1}, 3)
      .node("QuantizeLinear", {"x_dq", "s", "z"}, {"again"}, "requantize")
      .node("Conv", {"y", "w2_dq"}, {"weight_only"})
      .node("Conv", {"y", "w3"}, {"raw"}, "raw_conv")
      .node("Relu", {"x"}, {"r"}, "of_input")
      .node("Clip", {"c_dq", "", ""}, {"clipped"}, "clip");
  for (const char* name : {"again", "weight_only", "raw", "r", "clipped"}) builder.untyped_output(name);
  const QuantizedNodeStatistics statistics = print_stat(builder.open()->graph());
  CHECK(statistics.nodes == 15);
  CHECK(statistics.quantized_nodes == 5);
  CHECK(statistics.quantized_type_counts == Counts{{"Conv", 3}, {"QuantizeLinear", 1}, {"Clip", 1}});
  CHECK(statistics.quantized_node_names ==
        std::vector<std::string>{"conv1", "conv2", "requantize", "@weight_only", "clip"});
}

TEST_CASE("print_stat of a float model is empty, and other dequantizing operators don't count",
          "[plan][tensorrt]") {
  ModelBuilder builder;
  builder.opset(17)
      .opset(1, "trt")
      .input("x", {2, 4})
      .node("TRT_INT4DequantizeLinear", {"x"}, {"d"}, "", {}, "trt")
      .node("Relu", {"d"}, {"y"}, "relu")
      .output("y", {2, 4});
  const QuantizedNodeStatistics statistics = print_stat(builder.open()->graph());
  CHECK(statistics.nodes == 2);
  CHECK(statistics.quantized_nodes == 0);
  CHECK(statistics.quantized_type_counts.empty());
  CHECK(statistics.quantized_node_names.empty());
}

}  // namespace
}  // namespace halftone::test
