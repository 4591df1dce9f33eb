#include "plan/qdq_removal.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <sstream>
#include <unordered_map>

namespace halftone::test {
namespace {

constexpr const char* kAttributes[] = {"alpha",        "axis",   "beta", "epsilon",  "group",
                                       "kernel_shape", "mode",   "pads", "perm",     "strides",
                                       "transB",       "transA", "to",   "keepdims", "num_outputs"};

bool is_linear(const GraphNode& node) {
  return node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear";
}

bool makes_constant(const Graph& graph, const GraphNode& node) {
  for (const TensorId output : node.outputs) {
    if (output != kNone && graph.tensor(output).constant) return true;
  }
  return false;
}

std::string attributes_of(const Graph& graph, NodeId id) {
  std::ostringstream text;
  for (const char* name : kAttributes) {
    const AttributeView* attribute = graph.attribute(id, name);
    if (attribute == nullptr) continue;
    text << name << "=";
    if (attribute->i) text << *attribute->i;
    if (attribute->f) text << *attribute->f;
    if (attribute->s) text << *attribute->s;
    for (const std::int64_t value : attribute->ints) text << value << ",";
    text << " ";
  }
  return text.str();
}

PlainNode plain(const Graph& graph, NodeId id) {
  const GraphNode& node = graph.node(id);
  PlainNode result = {node.op_type, node.domain, node.name, {}, {}, attributes_of(graph, id)};
  for (const TensorId input : node.inputs)
    result.inputs.push_back(input == kNone ? "" : graph.tensor(input).name);
  for (const TensorId output : node.outputs)
    result.outputs.push_back(output == kNone ? "" : graph.tensor(output).name);
  return result;
}

ConstantTensor constant_of(const Model& model, TensorId id) {
  const Result<ConstantTensor> constant = model.constant(id);
  REQUIRE(constant.ok());
  return constant.value();
}

std::vector<float> floats_of(const ConstantTensor& constant) {
  REQUIRE(constant.type == DataType::kFloat);
  std::vector<float> values(constant.float_count());
  if (!values.empty()) std::memcpy(values.data(), constant.bytes.data(), constant.bytes.size());
  return values;
}

// What a code stands for around a zero point of 0, and half the distance to its neighbours, both at scale 1.
struct Meaning {
  double value;
  double half_step;
};

std::size_t bytes_of(DataType type) { return type == DataType::kInt16 || type == DataType::kUint16 ? 2 : 1; }

Meaning meaning_of(const ConstantTensor& codes, std::size_t index) {
  const std::uint8_t code = codes.bytes[index * bytes_of(codes.type)];
  if (codes.type == DataType::kInt8) return {static_cast<double>(static_cast<std::int8_t>(code)), 0.5};
  if (codes.type == DataType::kUint8) return {static_cast<double>(code), 0.5};
  if (codes.type == DataType::kInt16) {
    const int both = code | codes.bytes[2 * index + 1] << 8;
    return {static_cast<double>(static_cast<std::int16_t>(both)), 0.5};
  }
  REQUIRE(codes.type == DataType::kFloat8E4M3FN);
  const int exponent = std::max((code >> 3) & 15, 1);
  const int steps = ((code & 0x78) == 0 ? 0 : 8) + (code & 7);
  const double magnitude = std::ldexp(steps, exponent - 10);
  return {code >= 0x80 ? -magnitude : magnitude, std::ldexp(0.5, exponent - 10)};
}

class Remover {
 public:
  Remover(const Model& quantized, const Model& original)
      : quantized_(quantized), original_(original), graph_(quantized.graph()) {}

  std::vector<PlainNode> nodes() {
    for (NodeId id = 0; static_cast<std::size_t>(id) < graph_.nodes().size(); ++id) learn(id);
    std::vector<PlainNode> result;
    for (NodeId id = 0; static_cast<std::size_t>(id) < graph_.nodes().size(); ++id) {
      const GraphNode& node = graph_.node(id);
      if (is_linear(node) || makes_constant(graph_, node)) continue;
      result.push_back(renamed(id));
    }
    return result;
  }

 private:
  // The names that a pair, or a DequantizeLinear over codes, makes for a tensor of the original.
  void learn(NodeId id) {
    const GraphNode& node = graph_.node(id);
    if (!is_linear(node)) return;
    const GraphTensor& out = graph_.tensor(node.outputs.at(0));
    INFO(node.op_type << " " << node.name);
    if (node.op_type == "QuantizeLinear") {
      REQUIRE(out.consumers.size() == 1);
      REQUIRE(graph_.node(out.consumers[0].node).op_type == "DequantizeLinear");
      return;
    }
    REQUIRE((!out.consumers.empty() || out.graph_output));
    const GraphTensor& codes = graph_.tensor(node.inputs.at(0));
    if (codes.producer == kNone) {
      codes_of_.emplace(out.name, id);
      return;
    }
    const GraphNode& quantize = graph_.node(codes.producer);
    REQUIRE(quantize.op_type == "QuantizeLinear");
    const std::string& source = graph_.tensor(quantize.inputs.at(0)).name;
    // A quantized output of the model keeps its name, and what makes it gets another.
    const bool known = original_.graph().find_tensor(source) != kNone;
    names_[known ? out.name : source] = known ? source : out.name;
  }

  PlainNode renamed(NodeId id) {
    PlainNode node = plain(graph_, id);
    for (std::string& output : node.outputs) output = name_of(output);
    INFO(text_of(node));
    const NodeId twin = twin_of(node);
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      const auto codes = codes_of_.find(node.inputs[input]);
      if (codes == codes_of_.end()) {
        node.inputs[input] = name_of(node.inputs[input]);
        continue;
      }
      const TensorId constant = original_.graph().node(twin).inputs.at(input);
      REQUIRE(constant != kNone);
      check_codes(codes->second, constant);
      node.inputs[input] = original_.graph().tensor(constant).name;
    }
    return node;
  }

  // The node of the original that makes the same outputs.
  NodeId twin_of(const PlainNode& node) {
    const TensorId output = original_.graph().find_tensor(node.outputs.at(0));
    REQUIRE(output != kNone);
    return original_.graph().tensor(output).producer;
  }

  void check_codes(NodeId dequantize, TensorId constant) {
    const GraphNode& node = graph_.node(dequantize);
    const ConstantTensor codes = constant_of(quantized_, node.inputs.at(0));
    const std::vector<float> scales = floats_of(constant_of(quantized_, node.inputs.at(1)));
    const ConstantTensor wanted = constant_of(original_, constant);
    const std::vector<float> values = floats_of(wanted);
    INFO("codes of " << original_.graph().tensor(constant).name);
    REQUIRE(codes.dims == wanted.dims);
    if (codes.type == DataType::kInt32) return;  // a bias: native_tests/plan/insert_qdq_test.cc has its codes
    REQUIRE(codes.bytes.size() == values.size() * bytes_of(codes.type));
    const ConstantTensor zero_points = constant_of(quantized_, node.inputs.at(2));
    REQUIRE(zero_points.type == codes.type);
    std::size_t inner = values.size();
    if (scales.size() > 1) {
      const auto axis = static_cast<std::size_t>(graph_.int_attribute(dequantize, "axis", 1));
      REQUIRE(static_cast<std::int64_t>(scales.size()) == codes.dims.at(axis));
      inner = 1;
      for (std::size_t d = axis + 1; d < codes.dims.size(); ++d)
        inner *= static_cast<std::size_t>(codes.dims[d]);
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t place = i / inner % scales.size();
      const double scale = scales[place];
      Meaning meaning = meaning_of(codes, i);
      meaning.value -= meaning_of(zero_points, place).value;
      // One part in 2^22 for the rounding of the scale and of the division; and AIMET's kernel counts codes
      // from 0 in float32, so that what is near the top one is rounded to this part of a step before.
      const double counting = scale * (bytes_of(codes.type) == 2 ? 0x1p-8 : 0x1p-16);
      const double most =
          meaning.half_step * scale + counting + std::fabs(static_cast<double>(values[i])) * 0x1p-22;
      if (!(std::fabs(static_cast<double>(values[i]) - meaning.value * scale) <= most)) ++wrong;
    }
    REQUIRE(wrong == 0);
  }

  std::string name_of(const std::string& name) {
    const auto found = names_.find(name);
    return found == names_.end() ? name : found->second;
  }

  const Model& quantized_;
  const Model& original_;
  const Graph& graph_;
  std::unordered_map<std::string, std::string> names_;  // of the quantized graph -> of the original
  std::unordered_map<std::string, NodeId> codes_of_;    // a DequantizeLinear's output -> it, over codes
};

}  // namespace

std::string text_of(const PlainNode& node) {
  std::ostringstream text;
  text << node.op << " \"" << node.name << "\" (";
  for (const std::string& input : node.inputs) text << input << " ";
  text << ") -> (";
  for (const std::string& output : node.outputs) text << output << " ";
  text << ") " << node.attributes;
  return text.str();
}

std::vector<PlainNode> plain_nodes(const Graph& original) {
  std::vector<PlainNode> result;
  for (NodeId id = 0; static_cast<std::size_t>(id) < original.nodes().size(); ++id) {
    if (!makes_constant(original, original.node(id))) result.push_back(plain(original, id));
  }
  return result;
}

std::vector<PlainNode> nodes_without_qdq(const Model& quantized, const Model& original) {
  return Remover(quantized, original).nodes();
}

}  // namespace halftone::test
