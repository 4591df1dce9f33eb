// Our plan, scales and codes against what onnxruntime.quantization answered (job b: uint8 activations, int8
// weights, per channel) on its own pre-processed graphs. With the peer's activation scales as encodings,
// weights and biases have to come out equal to the last bit. Left out, each by a rule that is counted below:
//   beta      the peer rewrites a Gemm's beta to 1 and folds it into the bias's scale (g29); we leave such a
//   bias in float axis      the peer puts the scales of a 3-D MatMul constant along axis 1, its rows, which
//   the runtime refuses (g33); we give
//             it one scale
//   shared    the peer copies a bias that two nodes add at different scales (g47); we leave the second reader
//   in float
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "halftone/rewrite.h"
#include "plan/plan_cases.h"
#include "support/sha256.h"

namespace halftone::test {
namespace {

using Json = nlohmann::json;

Json golden_json(const std::string& path) {
  const std::vector<std::uint8_t> bytes = golden_file(path);
  Json json = Json::parse(bytes.begin(), bytes.end(), nullptr, false);
  INFO(path);
  REQUIRE_FALSE(json.is_discarded());
  return json;
}

// The scalar of a per-tensor entry as a list of one.
std::vector<float> floats_of(const Json& json) {
  return json.is_array() ? json.get<std::vector<float>>() : std::vector<float>{json.get<float>()};
}

struct Tally {
  int weights = 0;
  int biases = 0;
  int beta = 0;
  int axis = 0;
  int shared = 0;
};

Encodings activation_encodings(const Plan& plan, const Json& golden) {
  Encodings encodings;
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kActivation) continue;
    INFO(site.tensor);
    REQUIRE(golden["scales"].contains(site.tensor));
    REQUIRE(golden["types"][site.tensor] == "UINT8");
    Encoding encoding;
    encoding.format = site.format;
    encoding.scale = floats_of(golden["scales"][site.tensor]);
    encoding.zero_point = {golden["zero_points"][site.tensor].get<std::int32_t>()};
    encodings.set(site.tensor, encoding);
  }
  return encodings;
}

void compare_codes(const Model& quantized, const std::string& name, const Json& codes) {
  const TensorId id = quantized.graph().find_tensor(name);
  INFO(name);
  REQUIRE(id != kNone);
  const Result<ConstantTensor> constant = quantized.constant(id);
  REQUIRE(constant.ok());
  CHECK(constant.value().dims == codes["shape"].get<Dims>());
  const bool wide = codes["type"] == "INT32";
  CHECK(constant.value().type == (wide ? DataType::kInt32 : DataType::kInt8));
  std::vector<std::int32_t> first;
  for (std::size_t index = 0; index < codes["first16"].size(); ++index) {
    std::int32_t code = static_cast<std::int8_t>(constant.value().bytes[index]);
    if (wide) std::memcpy(&code, constant.value().bytes.data() + 4 * index, 4);
    first.push_back(code);
  }
  CHECK(first == codes["first16"].get<std::vector<std::int32_t>>());
  CHECK(sha256(constant.value().bytes) == codes["sha256"].get<std::string>());
}

// Whether the peer's entry is one that we don't reproduce on purpose.
bool left_out(const Site& site, const Json& golden, const std::string& tensor, Tally& tally) {
  if (site.role == Role::kBias && !site.quantized && site.rule == "bias_gemm_factors")
    return ++tally.beta, true;
  if (site.role == Role::kWeight && golden["axis"].contains(tensor) &&
      golden["axis"][tensor].get<int>() != site.axis) {
    return ++tally.axis, true;
  }
  return false;
}

// The peer's name of a bias copy is the bias's with a number behind it.
bool is_bias_copy(const Plan& plan, const std::string& tensor) {
  return tensor.ends_with("0") && plan.find(tensor) == nullptr &&
         plan.find(tensor.substr(0, tensor.size() - 1)) != nullptr;
}

// A node by its operator and its two operands: labels of nameless nodes change when the peer removes a Relu
// behind them.
using NodeKey = std::tuple<std::string, std::string, std::string>;

struct GoldenInputs {
  std::set<std::pair<NodeKey, int>> inputs;
  std::set<std::string> tensors;
};

// The label under which `nodes` lists a node; a nameless one that makes a graph output was renamed with it.
std::string listed_label(const Json& label) {
  auto text = label.get<std::string>();
  const std::string renamed = "_QuantizeLinear_Input";
  if (text.starts_with("@") && text.ends_with(renamed)) text.resize(text.size() - renamed.size());
  return text;
}

// Every quantized input of our four operators in the peer's answer.
GoldenInputs golden_inputs(const Json& golden) {
  std::map<std::string, NodeKey> keys;
  for (const Json& node : golden["nodes"]) {
    const auto op = node[1].get<std::string>();
    if (op != "Conv" && op != "ConvTranspose" && op != "Gemm" && op != "MatMul") continue;
    const auto name = node[0].get<std::string>();
    const std::string label = name.empty() ? "@" + node[3][0].get<std::string>() : name;
    keys[label] = {op, node[2][0].get<std::string>(), node[2][1].get<std::string>()};
  }
  GoldenInputs result;
  for (const Json& input : golden["quantized_inputs"]) {
    const auto node = keys.find(listed_label(input[0]));
    if (node == keys.end()) continue;
    result.inputs.emplace(node->second, input[1].get<int>());
    result.tensors.insert(input[2].get<std::string>());
  }
  return result;
}

NodeKey key_of(const Graph& graph, const std::string& label) {
  const GraphNode& node = graph.node(graph.find_node(label));
  const auto name = [&](std::size_t input) {
    return input < node.inputs.size() && node.inputs[input] != kNone ? graph.tensor(node.inputs[input]).name
                                                                     : "";
  };
  return {node.op_type, name(0), name(1)};
}

void compare_placement(const Graph& graph, const Plan& plan, const GoldenInputs& theirs) {
  std::size_t listed = 0;
  for (const InputDecision& input : plan.inputs) {
    INFO(input.node << " " << input.input << " " << input.rule);
    const bool peer = theirs.inputs.contains({key_of(graph, input.node), input.input});
    listed += peer ? std::size_t{1} : std::size_t{0};
    if (input.rule == "bias_gemm_factors" || input.rule == "bias_shared") {
      CHECK(peer);
    } else {
      CHECK(input.quantized == peer);
    }
  }
  CHECK(listed == theirs.inputs.size());
}

void compare_graph(const std::string& name, Tally& tally) {
  INFO(name);
  const Json golden = golden_json("ort/" + name + "/b.json");
  REQUIRE(golden["ok"] == true);
  const Result<std::shared_ptr<const Model>> model = open_model(golden_file("ort/" + name + "/pre.onnx"));
  INFO((model.ok() ? "" : model.error().message));
  REQUIRE(model.ok());
  Plan plan = plan_of(*model.value());
  const GoldenInputs theirs = golden_inputs(golden);
  compare_placement(model.value()->graph(), plan, theirs);
  Encodings encodings = activation_encodings(plan, golden);
  REQUIRE(complete_encodings(*model.value(), plan, encodings).ok());
  const Result<QuantizedModel> quantized = insert_qdq(model.value(), plan, encodings, {"minmax", 4, false});
  INFO((quantized.ok() ? "" : quantized.error().message));
  REQUIRE(quantized.ok());
  for (const auto& [tensor, codes] : golden["quantized_initializers"].items()) {
    if (!theirs.tensors.contains(tensor)) continue;  // a constant of another operator
    INFO(tensor);
    if (is_bias_copy(plan, tensor)) {
      ++tally.shared;
      continue;
    }
    const Site& site = site_of(plan, tensor);
    if (left_out(site, golden, tensor, tally)) continue;
    REQUIRE(site.quantized);
    CHECK(encodings.find(tensor)->scale == floats_of(golden["scales"][tensor]));
    CHECK(golden["zero_points"][tensor] == 0);
    compare_codes(*quantized.value().model, codes["name"].get<std::string>(), codes);
    ++(site.role == Role::kBias ? tally.biases : tally.weights);
  }
}

}  // namespace

TEST_CASE("Weights and biases equal the peer's on all small graphs", "[plan][golden]") {
  const Json index = golden_json("graphs/index.json");
  REQUIRE(index.size() == 30);
  Tally tally;
  for (const Json& graph : index) compare_graph(graph["name"].get<std::string>(), tally);
  // Exactly what the goldens hold, so that nothing drops out of the comparison unseen.
  CHECK(tally.weights == 102);
  CHECK(tally.biases == 91);
  CHECK(tally.beta == 1);
  CHECK(tally.axis == 1);
  CHECK(tally.shared == 1);
}

}  // namespace halftone::test
