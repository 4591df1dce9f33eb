#include "sensitivity/mixed_precision/neighbours.h"

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "plan/bias_rule.h"
#include "plan/wording.h"
#include "sensitivity/mixed_precision/shape_book.h"

namespace halftone {
namespace {

constexpr std::size_t kNamed = 5;
constexpr int kFloatBits = 32;

struct Trouble {
  std::string_view code;
  std::string_view what;  // after "3 nodes (names) "
  std::vector<NodeId> nodes;
};

enum Kind : std::size_t { kHalfFloat, kWideWeight, kRunsInFloat, kKinds };

std::string_view half_float(Target target) {
  if (target == Target::kAimet) {
    return "would read one operand as float and the other as integers, which HTP rejects (a FLOAT_16 x "
           "UFIXED_8 MatMul, for one): flip both operands to float";
  }
  if (target == Target::kTensorRT) {
    return "would read one operand as float and the other as integers, which TensorRT runs in float or "
           "rejects: flip both operands to float";
  }
  return "would read quantized data and float weights, of which onnxruntime's default optimizations quantize "
         "the weights or the bias by themselves: flip both operands to float, or the weights to 16 bits";
}

struct Operand {
  int bits = kFloatBits;
  bool quantized = false;
};

// How a target takes two operands that aren't both of the plan's first precision.
class NeighbourCheck {
 public:
  NeighbourCheck(const Graph& graph, const Plan& plan) : graph_(graph), target_(plan.target) {
    for (const Site& site : plan.sites) {
      if (site.quantized) sites_[site.tensor] = &site;
    }
    troubles_[kHalfFloat] = {"mixed_operands", half_float(target_), {}};
    troubles_[kWideWeight] = {
        "mixed_operands",
        "would read weights of more bits than their activations, which HTP rejects; 16-bit "
        "activations with 8-bit weights are fine",
        {}};
    troubles_[kRunsInFloat] = {
        "no_fused_kernel",
        "would run in float between its pairs: onnxruntime has integer kernels only where "
        "both operands have 8 bits",
        {}};
  }

  void look_at(NodeId id) {
    const GraphNode& node = graph_.node(id);
    const std::string label = graph_.node_label(id);
    const Operand data = operand(node, label, 0);
    const Operand weight = operand(node, label, 1);
    if (!data.quantized && !weight.quantized) return;
    if (target_ == Target::kOnnxRuntime) {
      // Seen in 1.30: WeightBiasQuantization, which looks at operators with a bias.
      if (data.quantized && !weight.quantized && has_bias_input(node)) {
        troubles_[kHalfFloat].nodes.push_back(id);
      } else if (data.bits != 8 || weight.bits != 8) {
        troubles_[kRunsInFloat].nodes.push_back(id);
      }
    } else if (data.quantized != weight.quantized) {
      troubles_[kHalfFloat].nodes.push_back(id);
    } else if (weight.bits > data.bits) {
      troubles_[kWideWeight].nodes.push_back(id);
    }
  }

  void report(std::vector<Warning>& warnings) const {
    for (const Trouble& trouble : troubles_) {
      if (trouble.nodes.empty()) continue;
      std::string names;
      for (std::size_t i = 0; i < trouble.nodes.size() && i < kNamed; ++i)
        names += (i > 0 ? ", " : "") + node_phrase(graph_, trouble.nodes[i]);
      if (trouble.nodes.size() > kNamed)
        names += " and " + std::to_string(trouble.nodes.size() - kNamed) + " more";
      warnings.push_back({std::string(trouble.code), names + " " + std::string(trouble.what) + ".",
                          printable(graph_.node_label(trouble.nodes.front()))});
    }
  }

 private:
  Operand operand(const GraphNode& node, const std::string& label, std::int32_t input) const {
    const TensorId id = node.inputs[static_cast<std::size_t>(input)];
    const auto found = id == kNone ? sites_.end() : sites_.find(graph_.tensor(id).name);
    if (found == sites_.end()) return {};
    for (const Consumer& consumer : found->second->consumers) {
      if (consumer.input == input && consumer.node == label)
        return {number_format_info(found->second->format).bits, true};
    }
    return {};
  }

  const Graph& graph_;
  Target target_;
  std::unordered_map<std::string_view, const Site*> sites_;
  std::array<Trouble, kKinds> troubles_;
};

}  // namespace

void warn_of_neighbours(const Graph& graph, const Plan& plan, std::span<const std::string> changed,
                        std::vector<Warning>& warnings) {
  std::unordered_set<NodeId> readers;
  for (const std::string& tensor : changed) {
    const TensorId id = graph.find_tensor(tensor);
    if (id == kNone) continue;
    for (const Use use : graph.tensor(id).consumers) {
      if (use.input < 2 && multiplies(graph.node(use.node))) readers.insert(use.node);
    }
  }
  NeighbourCheck check(graph, plan);
  for (const NodeId id : graph.topological_order()) {
    if (readers.contains(id)) check.look_at(id);
  }
  check.report(warnings);
}

}  // namespace halftone
