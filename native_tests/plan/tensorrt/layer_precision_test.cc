// ModelOpt's functions for mixed 4- and 8-bit weights: should_quantize_to_8bit, validate_8bit_layers,
// get_layer_precision_mapping, get_layer_info.
#include "plan/tensorrt/layer_precision.h"

#include <catch2/catch_test_macros.hpp>

#include "plan/tensorrt/layer_names.h"
#include "plan/tensorrt/policy_case.h"

namespace halftone::test {
namespace {

using tensorrt::get_layer_info;
using tensorrt::get_layer_precision_mapping;
using tensorrt::LayerInfoOptions;
using tensorrt::LayerList;
using tensorrt::LayerPrecision;
using tensorrt::LayerPrecisions;
using tensorrt::Peer;
using tensorrt::PolicyGraph;
using tensorrt::validate_8bit_layers;

bool eight_bits(std::string_view name, const std::vector<std::string>& layers) {
  return LayerList(layers).should_quantize_to_8bit(name);
}

TEST_CASE("should_quantize_to_8bit compares whole path components", "[plan][tensorrt]") {
  CHECK(eight_bits("model.layers.13.attn.qkv_proj.MatMul.weight", {"/model/layers.13/attn/qkv_proj/MatMul"}));
  CHECK_FALSE(eight_bits("/model/layers.13/attn/qkv_proj/MatMul", {"layers.1"}));
  CHECK(eight_bits("/model/layers.1/attn/qkv_proj/MatMul", {"layers.1"}));
  CHECK(eight_bits("/model/layers.1/mlp/down_proj/MatMul", {"down_proj"}));
  CHECK_FALSE(eight_bits("/model/layers.1/mlp/down_proj/MatMul", {"down"}));
  CHECK_FALSE(eight_bits("/model/layers.1/mlp/down_proj/MatMul", {}));
  CHECK(eight_bits("/model/layers.1/mlp/down_proj/MatMul", {"up_proj", "mlp/down_proj"}));
  CHECK_FALSE(eight_bits("/model/layers.1/mlp/down_proj/MatMul", {"layers.mlp"}));
}

TEST_CASE("should_quantize_to_8bit: an empty layer is an empty component; leading slashes don't count",
          "[plan][tensorrt]") {
  for (const char* empty : {"", "/"}) {
    CHECK(eight_bits("model..x", {empty}));
    CHECK_FALSE(eight_bits("x", {empty}));
  }
  CHECK(eight_bits("a.b", {"//a/b"}));
  CHECK(eight_bits("//a/b", {"a.b"}));
  CHECK(eight_bits("", {""}));
}

TEST_CASE("validate_8bit_layers", "[plan][tensorrt]") {
  for (const char* valid : {"", "layers.0, layers.1/mlp", "  a  ", "a\n", "a", "A-b_c.9,/x"}) {
    CAPTURE(valid);
    CHECK(validate_8bit_layers(valid));
  }
  for (const char* invalid : {"a,,b", "a,", " , a", "a;b", "a b", "layers.*", " ", ",", "a\tb"}) {
    CAPTURE(invalid);
    CHECK_FALSE(validate_8bit_layers(invalid));
  }
  CHECK(tensorrt::split_8bit_layers(" a ,b/c\n") == std::vector<std::string>{"a", "b/c"});
  CHECK(tensorrt::split_8bit_layers("").empty());
}

// A decoder: in every layer qkv_proj, o_proj, up_proj and down_proj, and an lm_head behind the last. Weights
// are named q0, o0, u0, d0, q1, ….
PolicyCase decoder(int layers) {
  PolicyCase graph;
  graph.input("x", {2, 4});
  std::string from = "x";
  for (int i = 0; i < layers; ++i) {
    const std::string number = std::to_string(i);
    const auto product = [&](const std::string& weight, const std::string& path) {
      const std::string name = weight + number;
      graph.weight(name, {4, 4});
      graph.node("y" + name + " = MatMul(" + from + ", " + name + ") #/model/layers." + number + "/" + path +
                 "/MatMul");
      from = "y" + name;
    };
    product("q", "attn/qkv_proj");
    product("o", "attn/o_proj");
    product("u", "mlp/up_proj");
    product("d", "mlp/down_proj");
  }
  return std::move(graph.weight("head", {4, 8})
                       .node("logits = MatMul(" + from + ", head) #/lm_head/MatMul")
                       .output("logits"));
}

struct Opened {
  explicit Opened(const PolicyCase& graph, Peer peer = Peer::kCorrect)
      : model(graph.open()), view(model->graph(), peer) {}
  std::shared_ptr<const Model> model;
  PolicyGraph view;
};

LayerPrecisions mapping(const PolicyCase& graph, const std::optional<std::string>& layers_8bit = {},
                        const tensorrt::LayerPrecisionOptions& options = {}) {
  const Opened opened(graph);
  const Result<LayerPrecisions> found = get_layer_precision_mapping(opened.view, layers_8bit, options);
  INFO((found.ok() ? "" : found.error().message));
  REQUIRE(found.ok());
  return found.value();
}

// Layers of which the weight `kind` has 8 bits.
std::vector<int> layers_with_8_bits(const LayerPrecisions& precisions, char kind, int layers) {
  std::vector<int> found;
  for (int i = 0; i < layers; ++i) {
    if (precisions.at(kind + std::to_string(i)).precision == 8) found.push_back(i);
  }
  return found;
}

TEST_CASE("get_layer_precision_mapping chooses the first, the last and every third layer between",
          "[plan][tensorrt]") {
  struct Case {
    int layers;
    std::vector<int> chosen;
  };
  const Case cases[] = {{1, {0}},
                        {2, {0}},
                        {3, {0}},
                        {8, {0, 1, 4, 7}},
                        {16, {0, 1, 2, 5, 8, 11, 14, 15}},
                        {24, {0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 22, 23}},
                        {32, {0, 1, 2, 3, 4, 7, 10, 13, 16, 19, 22, 25, 28, 29, 30, 31}}};
  for (const Case& c : cases) {
    CAPTURE(c.layers);
    const LayerPrecisions precisions = mapping(decoder(c.layers));
    CHECK(precisions.size() == static_cast<std::size_t>(c.layers) * 4);  // lm_head is excluded
    CHECK(layers_with_8_bits(precisions, 'q', c.layers) == c.chosen);
    CHECK(layers_with_8_bits(precisions, 'd', c.layers) == c.chosen);
    CHECK(layers_with_8_bits(precisions, 'o', c.layers).empty());
    CHECK(layers_with_8_bits(precisions, 'u', c.layers).empty());
    CHECK(precisions.at("q0") == LayerPrecision{8, -1, 0});
    CHECK(precisions.at("o0") == LayerPrecision{4, 128, 0});
  }
}

TEST_CASE("get_layer_precision_mapping takes the listed layers by whole components", "[plan][tensorrt]") {
  constexpr int kLayers = 12;
  const LayerPrecisions precisions = mapping(decoder(kLayers), "layers.1, o_proj");
  CHECK(layers_with_8_bits(precisions, 'q', kLayers) == std::vector<int>{1});
  CHECK(layers_with_8_bits(precisions, 'u', kLayers) == std::vector<int>{1});
  CHECK(layers_with_8_bits(precisions, 'd', kLayers) == std::vector<int>{1});
  CHECK(layers_with_8_bits(precisions, 'o', kLayers).size() == kLayers);
}

TEST_CASE("get_layer_precision_mapping looks at variable times stored matrix only", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {4, 4})
      .input("z", {4, 4})
      .weight("a", {4, 4})
      .weight("b", {4, 4})
      .weight("c", {4})
      .weight("d", {4, 4})
      .constant_node("e", {4, 4})
      .nodes(
          "y1 = Gemm(x, a) #fc; y2 = MatMul(b, x) #left; y3 = MatMul(x, c) #vector; y4 = MatMul(x, z) #both;"
          "y5 = MatMul(x, d) #skipped_one; y6 = MatMul(z, d) #shared; y7 = MatMul(x, e) #of_constant;"
          "y8 = Add(x, a) #sum");
  for (const char* name : {"y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8"}) graph.output(name);
  tensorrt::LayerPrecisionOptions options;
  options.nodes_to_exclude = {"skipped"};  // the start of a name
  options.block_size = 32;
  options.quantize_axis = 1;
  CHECK(mapping(graph, "shared", options) ==
        LayerPrecisions{{"a", {4, 32, 1}}, {"d", {8, -1, 0}}, {"e", {4, 32, 1}}});
  // The peer sees no weight in a Constant node.
  const Opened theirs(graph, Peer::kReproduce);
  CHECK(get_layer_precision_mapping(theirs.view, "shared", options).value() ==
        LayerPrecisions{{"a", {4, 32, 1}}, {"d", {8, -1, 0}}});
}

TEST_CASE("A weight that two nodes read has the later one's precision", "[plan][tensorrt]") {
  PolicyCase graph;
  graph.input("x", {4, 4})
      .weight("d", {4, 4})
      .nodes("y = MatMul(x, d) #first; z = MatMul(y, d) #second")
      .output("z");
  CHECK(mapping(graph, "first").at("d").precision == 4);
  CHECK(mapping(graph, "second").at("d").precision == 8);
}

TEST_CASE("A list of layers that can't be read is an error that says how to write one", "[plan][tensorrt]") {
  const Opened opened(decoder(1));
  const Result<LayerPrecisions> found = get_layer_precision_mapping(opened.view, "a;b");
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().code == ErrorCode::kInvalidPolicy);
  CHECK(found.error().message == "The list of 8-bit layers \"a;b\" can't be read.");
  CHECK(found.error().next.find("commas") != std::string::npos);
}

TEST_CASE("get_layer_info: nothing unless asked for, precisions, and Gather data", "[plan][tensorrt]") {
  const Opened plain(decoder(1));
  CHECK_FALSE(get_layer_info(plain.view).value().has_value());

  LayerInfoOptions listed;
  listed.layers_8bit = "up_proj";
  listed.block_size = 64;
  CHECK(get_layer_info(plain.view, listed).value() ==
        LayerPrecisions{{"q0", {4, 64, 0}}, {"o0", {4, 64, 0}}, {"u0", {8, -1, 0}}, {"d0", {4, 64, 0}}});

  LayerInfoOptions mixed;
  mixed.enable_mixed_quant = true;
  CHECK(get_layer_info(plain.view, mixed).value()->at("q0").precision == 8);

  PolicyCase graph;
  graph
      .input("ids", {4})  // a Gather's indices; their type doesn't matter here
      .input("data", {4, 4})
      .weight("emb", {8, 4})
      .nodes("y = Gather(emb, ids) #tokens; z = Gather(data, ids) #positions")
      .output("y")
      .output("z");
  const Opened gathers(graph);
  LayerInfoOptions gather;
  gather.gather_quantize_axis = 1;
  CHECK(get_layer_info(gathers.view, gather).value() ==
        LayerPrecisions{{"emb", {4, 32, 1}}, {"data", {4, 32, 1}}});
  CHECK_FALSE(get_layer_info(gathers.view).value().has_value());

  LayerInfoOptions wrong;
  wrong.layers_8bit = "a,";
  CHECK(get_layer_info(plain.view, wrong).error().code == ErrorCode::kInvalidPolicy);
}

}  // namespace
}  // namespace halftone::test
