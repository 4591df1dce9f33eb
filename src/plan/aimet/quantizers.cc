// Source: placement rules of AIMET's ONNX simulation, 2.x line.
#include "plan/aimet/quantizers.h"

#include <algorithm>
#include <utility>

#include "plan/aimet/operators.h"
#include "plan/aimet/supergroups.h"
#include "plan/wording.h"

namespace halftone::aimet {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

void take(std::optional<bool> said, bool& into) {
  if (said) into = *said;
}

const AimetSettings* section(const AimetSections& sections, std::string_view name) {
  const auto found = sections.find(name);
  return found == sections.end() ? nullptr : &found->second;
}

// LayerNormalization's weight lies around 1, which wastes half of a symmetric grid of few codes.
constexpr int kSymmetricNormBits = 16;

class QuantizerSearch {
 public:
  QuantizerSearch(const PlanContext& context, const AimetConfig& config)
      : context_(context),
        graph_(context.graph),
        config_(config),
        supergroup_next_(supergroup_successors(context.graph, config)),
        bias_add_(matmul_bias_adds(context.graph, config)),
        place_(context.graph.tensors().size(), -1) {}

  std::vector<Quantizer> find() && {
    for (const NodeId id : graph_.topological_order()) add_parameters(id);
    for (const TensorId id : graph_.inputs()) {
      if (!graph_.tensor(id).consumers.empty()) add_input(id, graph_.tensor(id).consumers.front().node);
    }
    for (const NodeId id : graph_.topological_order()) add_activations(id);
    for (const NodeId id : graph_.topological_order()) {
      follow_weight(id);
      tie_states(id);
    }
    for (Quantizer& quantizer : found_) {
      if (quantizer.on) leave_out(quantizer);
    }
    return std::move(found_);
  }

 private:
  // nullptr if the tensor can't have one, or has one already.
  Quantizer* add(TensorId tensor, NodeId owner, std::string_view role) {
    if (tensor == kNone || graph_.tensor(tensor).type != DataType::kFloat || place_[index_of(tensor)] >= 0)
      return nullptr;
    place_[index_of(tensor)] = static_cast<std::int32_t>(found_.size());
    Quantizer quantizer;
    quantizer.tensor = tensor;
    quantizer.owner = owner;
    quantizer.role = role;
    return &found_.emplace_back(std::move(quantizer));
  }

  Quantizer* known(TensorId tensor) {
    const std::int32_t place = tensor == kNone ? -1 : place_[index_of(tensor)];
    return place < 0 ? nullptr : &found_[index_of(place)];
  }

  const std::string& op_of(NodeId id) const { return graph_.node(id).op_type; }

  static void decide(Quantizer& quantizer, bool on, std::string rule, std::string why) {
    quantizer.on = on;
    quantizer.rule = std::move(rule);
    quantizer.why = std::move(why);
  }

  void add_parameters(NodeId id) {
    const GraphNode& node = graph_.node(id);
    if (is_folded(graph_, node)) return;
    for (const Parameter& parameter : parameters_of(node)) {
      const auto input = index_of(parameter.input);
      if (input < node.inputs.size()) add_parameter(id, node.inputs[input], parameter.role);
    }
    const NodeId add = bias_add_[index_of(id)];
    if (add != kNone) add_parameter(id, graph_.node(add).inputs[index_of(added_vector(graph_, add))], "bias");
  }

  void add_parameter(NodeId owner, TensorId read, std::string_view role) {
    if (read == kNone || !graph_.tensor(read).constant) return;
    const NodeId transpose = op_of(owner) == "MatMul" ? transpose_behind(read) : kNone;
    const TensorId tensor = transpose == kNone ? read : graph_.node(transpose).inputs.front();
    Quantizer* added = add(tensor, owner, role);
    place_[index_of(read)] = place_[index_of(tensor)];  // what the Transpose makes needs none of its own
    if (added == nullptr) return;
    bool on = false;
    bool symmetric = false;
    apply_parameter_sections(owner, role, on, symmetric);
    if (op_of(owner) == "LayerNormalization" && role == "weight")
      symmetric = number_format_info(context_.formats.weights).bits >= kSymmetricNormBits;
    added->symmetric = symmetric;
    added->axis = axis_for(owner, role, read, transpose);
    const std::string subject = "Parameter " + std::string(role) + " of " + node_phrase(graph_, owner);
    if (on) {
      decide(*added, true, added->axis < 0 ? "weight_per_tensor" : "weight_per_channel", subject);
    } else {
      decide(*added, false, "parameter_off",
             subject + " stays float: the configuration doesn't switch it on; is_quantized \"True\" for " +
                 std::string(role) + " would quantize it.");
    }
  }

  void apply_parameter_sections(NodeId owner, std::string_view role, bool& on, bool& symmetric) const {
    const std::string exact = op_of(owner) + "/" + std::string(role);
    for (const AimetSettings* settings : {&config_.parameters, section(config_.parameters_by_role, role),
                                          section(config_.parameters_by_role, exact)}) {
      if (settings == nullptr) continue;
      take(settings->quantized, on);
      take(settings->symmetric, symmetric);
    }
  }

  // The Transpose of a constant that makes this tensor.
  NodeId transpose_behind(TensorId read) const {
    const NodeId producer = graph_.tensor(read).producer;
    if (producer == kNone || op_of(producer) != "Transpose" || !graph_.node(producer).domain.empty() ||
        graph_.node(producer).inputs.size() != 1 || graph_.node(producer).inputs.front() == kNone)
      return kNone;
    return producer;
  }

  std::int32_t axis_for(NodeId owner, std::string_view role, TensorId read, NodeId transpose) const {
    const auto& shape = graph_.tensor(read).shape;
    bool per_channel = config_.per_channel;
    if (const AimetSettings* settings = section(config_.op_types, op_of(owner)))
      take(settings->per_channel, per_channel);
    if (!shape || !per_channel || !context_.options.per_channel) return -1;
    const std::int32_t axis = channel_axis(graph_, owner, role, shape->size());
    if (axis < 0 || transpose == kNone) return axis;
    const AttributeView* order = graph_.attribute(transpose, "perm");
    if (order == nullptr || order->ints.size() != shape->size())
      return static_cast<std::int32_t>(shape->size()) - 1 - axis;
    return static_cast<std::int32_t>(order->ints[index_of(axis)]);
  }

  void add_activations(NodeId id) {
    const GraphNode& node = graph_.node(id);
    if (is_folded(graph_, node)) return;
    for (std::int32_t input = 0; index_of(input) < node.inputs.size(); ++input) {
      const TensorId tensor = node.inputs[index_of(input)];
      if (tensor != kNone && graph_.tensor(tensor).constant && !is_resize_setting(node, input))
        add_input(tensor, id);
    }
    if (is_transparent(node)) return;
    for (const TensorId tensor : node.outputs) {
      if (tensor != kNone && !graph_.tensor(tensor).constant) add_output(tensor, id);
    }
  }

  // What no node makes.
  void add_input(TensorId tensor, NodeId reader) {
    Quantizer* added = add(tensor, reader, "");
    if (added == nullptr) return;
    const bool constant = graph_.tensor(tensor).constant;
    const std::string subject =
        constant ? "Constant input of " + node_phrase(graph_, reader) + " that is no parameter of it"
                 : "Input of the model, read by " + node_phrase(graph_, reader);
    const bool on = settle_input(*added);
    decide(*added, on, !on ? "inputs_off" : (constant ? "static_activation" : "model_input"),
           on ? subject
              : subject +
                    ": stays float, since the configuration switches on no inputs here; model_input "
                    "with is_input_quantized \"True\" would.");
  }

  bool settle_input(Quantizer& quantizer) {
    quantizer.symmetric = context_.formats.activations_symmetric;
    if (const AimetSettings* settings = section(config_.op_types, op_of(quantizer.owner)))
      take(settings->symmetric, quantizer.symmetric);
    bool on = reader_wants(quantizer.tensor) != kNone;
    on = on || config_.model_input.input_quantized.value_or(false);
    take(config_.model_input.symmetric, quantizer.symmetric);
    fix_range(quantizer, config_.model_input);
    return on;
  }

  // A node whose inputs the configuration switches on, of those that read the tensor.
  NodeId reader_wants(TensorId tensor) const {
    for (const Use use : graph_.tensor(tensor).consumers) {
      bool wanted = config_.ops.input_quantized.value_or(false);
      if (const AimetSettings* settings = section(config_.op_types, op_of(use.node)))
        wanted = wanted || settings->input_quantized.value_or(false);
      if (wanted) return use.node;
    }
    return kNone;
  }

  static void fix_range(Quantizer& quantizer, const AimetSettings& settings) {
    if (!settings.range) return;
    quantizer.range = settings.range;
    if (settings.range->min == -settings.range->max) quantizer.symmetric = true;
  }

  void add_output(TensorId tensor, NodeId maker) {
    const GraphTensor& made = graph_.tensor(tensor);
    if (made.consumers.empty() && !made.graph_output) return;  // nothing reads it, or bodies only
    Quantizer* added = add(tensor, maker, "");
    if (added == nullptr) return;
    added->symmetric = context_.formats.activations_symmetric;
    settle_by_operator(*added);
    const NodeId wanted_by = reader_wants(tensor);
    if (!added->on && wanted_by != kNone)
      decide(*added, true, "operator_input",
             "The configuration switches on what " + node_phrase(graph_, wanted_by) + " reads");
    settle_fused(*added);
    if (made.graph_output) settle_model_output(*added);
  }

  void settle_by_operator(Quantizer& quantizer) const {
    const GraphNode& node = graph_.node(quantizer.owner);
    const std::string subject = "Made by " + node_phrase(graph_, quantizer.owner);
    const std::string op = printable(node.op_type);
    const AimetSettings* settings = section(config_.op_types, node.op_type);
    bool on = config_.ops.output_quantized.value_or(false);
    if (settings == nullptr && preserves_grid(node)) {
      return decide(quantizer, false, "grid_preserving",
                    subject +
                        ": stays float, since it passes values on and so keeps the grid of its input; "
                        "an entry for " +
                        op + " in the configuration's op_type would quantize it.");
    }
    if (settings != nullptr) {
      take(settings->output_quantized, on);
      take(settings->symmetric, quantizer.symmetric);
      fix_range(quantizer, *settings);
    }
    if (on) return decide(quantizer, true, "node_output", subject);
    decide(quantizer, false, "operator_off",
           subject +
               ": stays float, since the configuration doesn't switch on its output; is_output_quantized "
               "\"True\" for " +
               op + " would.");
  }

  void settle_fused(Quantizer& quantizer) const {
    const NodeId next = supergroup_next_[index_of(quantizer.owner)];
    const NodeId add = bias_add_[index_of(quantizer.owner)];
    const std::string subject = "Stays float because " + node_phrase(graph_, quantizer.owner);
    if (next != kNone) {
      decide(quantizer, false, "supergroup",
             subject + " and " + node_phrase(graph_, next) +
                 " run as one; if another node read it too, it would be quantized.");
    } else if (add != kNone) {
      decide(quantizer, false, "matmul_add",
             subject + " takes what " + node_phrase(graph_, add) +
                 " adds for its bias; a constant that is no vector would leave it quantized.");
    }
  }

  void settle_model_output(Quantizer& quantizer) const {
    const AimetSettings& settings = config_.model_output;
    take(settings.symmetric, quantizer.symmetric);
    fix_range(quantizer, settings);
    if (!settings.output_quantized) return;
    const bool on = *settings.output_quantized;
    decide(quantizer, on, "model_output",
           on ? "Output of the model"
              : "Output of the model: stays float, since the configuration's model_output switches it off.");
  }

  // A computed second operand has the symmetry that a weight would have.
  void follow_weight(NodeId id) {
    const GraphNode& node = graph_.node(id);
    const bool has_weight = node.op_type == "Conv" || node.op_type == "Gemm" || node.op_type == "MatMul";
    if (!has_weight || !node.domain.empty() || node.inputs.size() < 2) return;
    Quantizer* operand = known(node.inputs[1]);
    if (operand == nullptr || !operand->role.empty() || graph_.tensor(operand->tensor).constant) return;
    bool on = false;
    bool symmetric = false;
    apply_parameter_sections(id, "weight", on, symmetric);
    operand->symmetric = symmetric;
    if (operand->on)
      operand->why +=
          ", as symmetric as a weight because it is the second operand of " + node_phrase(graph_, id);
  }

  // The states of a recurrent node go around, so that what goes in and what comes out are one.
  void tie_states(NodeId id) {
    const GraphNode& node = graph_.node(id);
    const bool lstm = node.op_type == "LSTM";
    if (!node.domain.empty() || !(lstm || node.op_type == "GRU" || node.op_type == "RNN")) return;
    for (const auto& [input, output] : {std::pair{5U, 1U}, std::pair{6U, 2U}}) {
      if (input == 6 && !lstm) continue;
      Quantizer* before = input < node.inputs.size() ? known(node.inputs[input]) : nullptr;
      Quantizer* after = output < node.outputs.size() ? known(node.outputs[output]) : nullptr;
      if (before == nullptr || after == nullptr || !before->on || !after->on || !before->role.empty())
        continue;
      if (!before->tie) before->tie = "state:" + graph_.tensor(before->tensor).name;
      after->tie = before->tie;
      after->symmetric = before->symmetric;
    }
  }

  void leave_out(Quantizer& quantizer) const {
    if (std::optional<LeftOut> out = context_.selection.left_out(quantizer.owner, quantizer.tensor))
      return decide(quantizer, false, std::move(out->rule), std::move(out->why));
    const GraphTensor& tensor = graph_.tensor(quantizer.tensor);
    if (!tensor.constant) return;
    const bool empty = !tensor.shape || std::any_of(tensor.shape->begin(), tensor.shape->end(),
                                                    [](const Dimension& size) { return size.value <= 0; });
    if (empty)
      decide(quantizer, false, "empty",
             quoted(tensor.name) + " has no elements to quantize, or their number isn't known.");
  }

  const PlanContext& context_;
  const Graph& graph_;
  const AimetConfig& config_;
  std::vector<NodeId> supergroup_next_;
  std::vector<NodeId> bias_add_;
  std::vector<std::int32_t> place_;  // by tensor: index into found_, or -1
  std::vector<Quantizer> found_;
};

}  // namespace

bool is_folded(const Graph& graph, const GraphNode& node) {
  return !node.outputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(), [&](TensorId id) {
    return id == kNone || graph.tensor(id).constant;
  });
}

bool is_resize_setting(const GraphNode& node, std::int32_t input) {
  return input > 0 && node.op_type == "Resize" && node.domain.empty();
}

std::vector<Quantizer> quantizers_of(const PlanContext& context, const AimetConfig& config) {
  return QuantizerSearch(context, config).find();
}

}  // namespace halftone::aimet
