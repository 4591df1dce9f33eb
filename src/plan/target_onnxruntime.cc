// Target "onnxruntime": the inputs of Conv, ConvTranspose, Gemm and MatMul.
//
// Activations per tensor, constant operands symmetric per channel, biases int32. It is the part of
// onnxruntime.quantization's placement on which all runtimes agree; its faults are not copied (a Gemm's beta
// stays as it is). What onnxruntime 1.30 can't run with its default options is not planned: 8-bit scales
// along an axis of a MatMul's right operand with three dimensions or more.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "plan/bias_rule.h"
#include "plan/foreign_options.h"
#include "plan/site_order.h"
#include "plan/targets.h"
#include "plan/untouched.h"
#include "plan/weight_axis.h"
#include "plan/wording.h"

namespace halftone {
namespace {

constexpr std::array<std::string_view, 4> kOperators = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
constexpr std::string_view kOperatorList = "Conv, ConvTranspose, Gemm and MatMul";

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

bool is_listed(const GraphNode& node) {
  return node.domain.empty() &&
         std::find(kOperators.begin(), kOperators.end(), node.op_type) != kOperators.end();
}

TensorId input_of(const GraphNode& node, std::int32_t input) {
  return index_of(input) < node.inputs.size() ? node.inputs[index_of(input)] : kNone;
}

class OnnxRuntimePlanner {
 public:
  explicit OnnxRuntimePlanner(const PlanContext& context)
      : graph_(context.graph),
        options_(context.options),
        formats_(context.formats),
        selection_(context.selection),
        decisions_(context.graph),
        draft_of_(context.graph.tensors().size(), -1),
        readings_(context.graph.tensors().size()) {}

  TargetDecisions decide() && {
    for (const NodeId id : graph_.topological_order()) read_operands(id);
    for (const TensorId tensor : read_tensors_) add_operand_site(tensor);
    for (const NodeId id : graph_.topological_order()) read_bias(id);
    for (const NodeId id : graph_.topological_order()) explain_the_rest(id);
    say_biases();
    warn();
    return std::move(decisions_);
  }

 private:
  // One operand input (0 or 1) of a listed node.
  struct Reading {
    Use use;
    std::optional<LeftOut> left_out;
  };

  void read_operands(NodeId id) {
    const GraphNode& node = graph_.node(id);
    if (!is_listed(node)) return;
    for (const std::int32_t input : {0, 1}) {
      const TensorId tensor = input_of(node, input);
      if (tensor == kNone) continue;
      std::vector<Reading>& readings = readings_[index_of(tensor)];
      if (readings.empty()) read_tensors_.push_back(tensor);
      readings.push_back({{id, input}, operand_left_out(id, tensor)});
    }
  }

  std::optional<LeftOut> operand_left_out(NodeId id, TensorId tensor) const {
    if (std::optional<LeftOut> left_out = selection_.left_out(id, tensor)) return left_out;
    const GraphNode& node = graph_.node(id);
    const TensorId data = input_of(node, 0);
    const TensorId weight = input_of(node, 1);
    if (data == kNone || weight == kNone) {
      return LeftOut{"input_missing", node_phrase(graph_, id) + " lacks one of its two operands."};
    }
    if (graph_.tensor(data).constant && graph_.tensor(weight).constant) {
      return LeftOut{"constant_result",
                     "Both operands of " + node_phrase(graph_, id) +
                         " are constants, so its result is one too; folding it first makes that a weight."};
    }
    return type_left_out(graph_.tensor(tensor));
  }

  static std::optional<LeftOut> type_left_out(const GraphTensor& tensor) {
    if (tensor.type == DataType::kUndefined) {
      return LeftOut{"type_unknown",
                     "The element type of " + quoted(tensor.name) +
                         " isn't known, since shape inference couldn't follow the graph to it; it has to be "
                         "float32 to be quantized."};
    }
    if (tensor.type != DataType::kFloat) {
      return LeftOut{"not_float", quoted(tensor.name) + " holds " + data_type_name(tensor.type) +
                                      " values; only float32 tensors are quantized."};
    }
    if (!tensor.constant) return std::nullopt;
    if (!tensor.shape)
      return LeftOut{"shape_unknown", "The shape of the constant " + quoted(tensor.name) + " isn't known."};
    for (const Dimension& dimension : *tensor.shape) {
      if (dimension.value == 0)
        return LeftOut{"empty", quoted(tensor.name) + " has no elements to quantize."};
    }
    return std::nullopt;
  }

  void add_operand_site(TensorId id) {
    const std::vector<Reading>& readings = readings_[index_of(id)];
    const GraphTensor& tensor = graph_.tensor(id);
    Site site;
    site.tensor = tensor.name;
    site.role = tensor.constant ? Role::kWeight : Role::kActivation;
    site.format = tensor.constant ? formats_.weights : formats_.activations;
    site.symmetric = tensor.constant || formats_.activations_symmetric;
    std::vector<Use> uses;
    for (const Reading& reading : readings) {
      if (!reading.left_out) uses.push_back(reading.use);
    }
    site.quantized = !uses.empty();
    if (!site.quantized) {
      for (const Reading& reading : readings) uses.push_back(reading.use);
    }
    tensor.constant ? describe_weight(tensor, uses, site) : describe_activation(tensor, uses, site);
    if (!site.quantized) {
      site.rule = readings.front().left_out->rule;
      site.why = readings.front().left_out->why;
    }
    for (const Use use : uses) site.consumers.push_back({graph_.node_label(use.node), use.input});
    for (const Reading& reading : readings) {
      decisions_.inputs.at(reading.use) =
          reading.left_out ? Decision{false, reading.left_out->rule, reading.left_out->why, {}}
                           : Decision{true, site.rule, site.why, {}};
    }
    add_draft(id, std::move(site));
  }

  // "Conv "a" and 2 more"
  std::string readers_phrase(const std::vector<Use>& uses) const {
    std::string text = node_phrase(graph_, uses.front().node);
    if (uses.size() > 1) text += " and " + std::to_string(uses.size() - 1) + " more";
    return text;
  }

  static std::string float_readers_phrase(const GraphTensor& tensor, const std::vector<Use>& uses) {
    const std::size_t others = tensor.consumers.size() - uses.size();
    std::string text;
    if (others > 0)
      text += " " + count_phrase(others, "other input keeps", "other inputs keep") + " the float values.";
    if (tensor.read_by_subgraph) text += " The body of an If, Loop or Scan keeps the float values.";
    if (tensor.graph_output) text += " As an output of the model it stays float.";
    return text;
  }

  void describe_activation(const GraphTensor& tensor, const std::vector<Use>& uses, Site& site) const {
    site.rule = "operator_input";
    site.why = "Read by " + readers_phrase(uses) + ": " + std::string(number_format_info(site.format).name) +
               (site.symmetric ? " symmetric" : "") + ", one scale for the tensor." +
               float_readers_phrase(tensor, uses);
  }

  // The contract's axis, except where the runtime's fused MatMul fails with it.
  AxisWish runnable_axis(Use use, std::size_t rank) const {
    const bool batched = graph_.node(use.node).op_type == "MatMul" && use.input == 1 && rank > 2;
    if (!batched || number_format_info(formats_.weights).bits != 8) return weight_axis(graph_, use, rank);
    return {-1,
            "for the tensor, because onnxruntime's integer MatMul fails with scales per column of more than "
            "a matrix; with 4 or "
            "16 bits it would be one per column"};
  }

  void describe_weight(const GraphTensor& tensor, const std::vector<Use>& uses, Site& site) const {
    std::vector<AxisWish> wishes;
    const std::size_t rank = tensor.shape ? tensor.shape->size() : 0;
    wishes.reserve(uses.size());
    for (const Use use : uses) wishes.push_back(runnable_axis(use, rank));
    AxisWish axis = agreed_axis(wishes);
    if (!options_.per_channel) axis = {-1, "for the tensor, because per-channel scales are switched off"};
    site.granularity = axis.axis < 0 ? Granularity::kTensor : Granularity::kChannel;
    site.axis = axis.axis;
    site.rule = axis.axis < 0 ? "weight_per_tensor" : "weight_per_channel";
    site.why = "Constant operand of " + readers_phrase(uses) + ": " +
               std::string(number_format_info(site.format).name) + ", one scale " + axis.reason + "." +
               float_readers_phrase(tensor, uses);
  }

  void read_bias(NodeId id) {
    const GraphNode& node = graph_.node(id);
    if (!is_listed(node) || !has_bias_input(node)) return;
    const TensorId tensor = input_of(node, kBiasInput);
    if (tensor == kNone) return;
    const Use use{id, kBiasInput};
    std::optional<LeftOut> left_out = selection_.left_out(id, tensor);
    if (!left_out) left_out = bias_left_out(graph_, id, operands_quantized(id));
    if (!left_out) {
      left_out = quantize_bias_here(use, tensor);
    } else if (graph_.tensor(tensor).constant && draft_of_[index_of(tensor)] < 0) {
      add_float_bias(use, tensor, *left_out);
    }
    if (left_out) decisions_.inputs.at(use) = {false, left_out->rule, left_out->why, {}};
  }

  bool operands_quantized(NodeId id) const {
    const GraphNode& node = graph_.node(id);
    return input_of(node, 0) != kNone && input_of(node, 1) != kNone &&
           decisions_.inputs.at({id, 0}).quantized && decisions_.inputs.at({id, 1}).quantized;
  }

  // The tensors whose scales multiply to the bias's: the constant operand counts as the weight, whichever
  // side it is on.
  BiasOf scales_of(NodeId id) const {
    const GraphNode& node = graph_.node(id);
    const GraphTensor& first = graph_.tensor(node.inputs[0]);
    const GraphTensor& second = graph_.tensor(node.inputs[1]);
    return first.constant ? BiasOf{second.name, first.name} : BiasOf{first.name, second.name};
  }

  // One tensor has one set of codes. A bias that another node adds at other scales stays float there.
  std::optional<LeftOut> quantize_bias_here(Use use, TensorId tensor) {
    const BiasOf scales = scales_of(use.node);
    const std::int32_t draft = draft_of_[index_of(tensor)];
    if (draft < 0) {
      add_draft(tensor, new_bias(use, tensor, scales));
      return std::nullopt;
    }
    Site& site = decisions_.sites[index_of(draft)].site;
    if (site.role != Role::kBias) {
      return LeftOut{"bias_is_operand", "Bias of " + node_phrase(graph_, use.node) +
                                            ": stays float because " + quoted(site.tensor) +
                                            " is an operand of another node too; a copy of its own would be "
                                            "int32."};
    }
    if (!site.quantized) {
      site = new_bias(use, tensor, scales);
      return std::nullopt;
    }
    if (site.bias_of->activation != scales.activation || site.bias_of->weight != scales.weight) {
      return LeftOut{"bias_shared",
                     "Bias of " + node_phrase(graph_, use.node) + ": stays float because " +
                         quoted(site.tensor) + " is shared, and its int32 codes are at the scales of " +
                         quoted(site.consumers.front().node) + "; a bias of its own would be int32."};
    }
    site.consumers.push_back({graph_.node_label(use.node), use.input});
    bias_uses_.emplace_back(use, draft);
    return std::nullopt;
  }

  Site new_bias(Use use, TensorId tensor, const BiasOf& scales) {
    const std::int32_t existing = draft_of_[index_of(tensor)];
    bias_uses_.emplace_back(use,
                            existing >= 0 ? existing : static_cast<std::int32_t>(decisions_.sites.size()));
    const Site& weight =
        decisions_.sites[index_of(draft_of_[index_of(graph_.find_tensor(scales.weight))])].site;
    Site site = bias_site(tensor);
    site.quantized = true;
    // The axis of the weight is that of the output channels, which are the bias's only dimension.
    if (weight.granularity == Granularity::kChannel) {
      site.granularity = Granularity::kChannel;
      site.axis = 0;
    }
    site.rule = "bias_int32";
    site.why = "Bias of " + node_phrase(graph_, use.node) +
               ": int32 at the scale of its data input times that of its weight.";
    site.bias_of = scales;
    site.consumers.push_back({graph_.node_label(use.node), use.input});
    return site;
  }

  Site bias_site(TensorId tensor) const {
    Site site;
    site.tensor = graph_.tensor(tensor).name;
    site.role = Role::kBias;
    site.format = NumberFormat::kInt32;
    site.symmetric = true;
    return site;
  }

  void add_float_bias(Use use, TensorId tensor, const LeftOut& left_out) {
    Site site = bias_site(tensor);
    site.rule = left_out.rule;
    site.why = left_out.why;
    site.bias_of = scales_of_given(use.node);
    site.consumers.push_back({graph_.node_label(use.node), use.input});
    add_draft(tensor, std::move(site));
  }

  BiasOf scales_of_given(NodeId id) const {
    const GraphNode& node = graph_.node(id);
    return input_of(node, 0) == kNone || input_of(node, 1) == kNone ? BiasOf{} : scales_of(id);
  }

  // The sites of biases are complete only when all their readers are known.
  void say_biases() {
    for (const auto& [use, draft] : bias_uses_) {
      const Site& site = decisions_.sites[index_of(draft)].site;
      decisions_.inputs.at(use) = {true, site.rule, site.why, {}};
    }
  }

  void add_draft(TensorId tensor, Site site) {
    draft_of_[index_of(tensor)] = static_cast<std::int32_t>(decisions_.sites.size());
    decisions_.sites.push_back({tensor, std::move(site)});
  }

  // Every input that is no operand and no bias.
  void explain_the_rest(NodeId id) {
    const GraphNode& node = graph_.node(id);
    const std::int32_t planned = !is_listed(node) ? 0 : (has_bias_input(node) ? 3 : 2);
    for (std::int32_t input = 0; index_of(input) < node.inputs.size(); ++input) {
      Decision& decision = decisions_.inputs.at({id, input});
      if (node.inputs[index_of(input)] == kNone) {
        decision = {false, "omitted", "This optional input is not given.", {}};
      } else if (input >= planned) {
        decision = other_operator(node);
      }
    }
  }

  Decision other_operator(const GraphNode& node) const {
    if (!node.domain.empty()) {
      return {false,
              "custom_domain",
              "Operators of " + quoted(node.domain) + " are passed through and never quantized.",
              {}};
    }
    return {false,
            "operator_not_listed",
            printable(node.op_type) + " stays float: this target quantizes the inputs of " +
                std::string(kOperatorList) + " only.",
            {}};
  }

  // onnxruntime (seen in 1.30) turns such a MatMul into a Gemm between Reshapes and contradicts itself about
  // the type of the QuantizeLinear that it adds.
  void warn_of_int8_at_21() {
    const std::int64_t opset =
        std::max<std::int64_t>(graph_.opset(), number_format_info(formats_.weights).dequantize_opset);
    const bool matmul = std::any_of(graph_.nodes().begin(), graph_.nodes().end(), [](const GraphNode& node) {
      return node.domain.empty() && node.op_type == "MatMul";
    });
    if (formats_.activations != NumberFormat::kInt8 || opset < 21 || !matmul) return;
    decisions_.warnings.push_back(
        {"int8_at_opset_21",
         "With int8 activations at opset 21 onnxruntime's default optimizations refuse a MatMul of three "
         "dimensions that an Add follows; uint8 activations are safe.",
         ""});
  }

  void warn() {
    warn_of_int8_at_21();
    warn_of_untouched(graph_, decisions_.warnings);
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const TargetFormats& formats_;
  const Selection& selection_;
  TargetDecisions decisions_;
  std::vector<std::int32_t> draft_of_;                   // by tensor: index into decisions_.sites, or -1
  std::vector<std::vector<Reading>> readings_;           // by tensor
  std::vector<TensorId> read_tensors_;                   // those with readings, in order of appearance
  std::vector<std::pair<Use, std::int32_t>> bias_uses_;  // quantized biases: reader and draft
};

TargetFormats formats_of(const PlanOptions& options) {
  return {options.activations.value_or(NumberFormat::kUint8), options.weights.value_or(NumberFormat::kInt8),
          options.activations_symmetric.value_or(false)};
}

Result<void> check_options(const PlanOptions& options, const TargetFormats& formats,
                           std::vector<Warning>& warnings) {
  if (Result<void> fits = check_foreign_options(options, "onnxruntime"); !fits.ok()) return fits;
  if (Result<void> fits = check_integer_formats(formats, "onnxruntime"); !fits.ok()) return fits;
  if (formats.activations == NumberFormat::kInt8 && formats.weights == NumberFormat::kUint8) {
    warnings.push_back({"no_fused_kernel",
                        "onnxruntime has no fused integer kernels for int8 activations with uint8 weights, "
                        "so such a model runs in "
                        "float between its Q/DQ pairs.",
                        ""});
  }
  return {};
}

Result<TargetDecisions> decide(const PlanContext& context) { return OnnxRuntimePlanner(context).decide(); }

}  // namespace

const TargetRules kOnnxRuntimeTarget = {Target::kOnnxRuntime, "onnxruntime", formats_of,
                                        check_options,        decide,        contract_site_order};

}  // namespace halftone
