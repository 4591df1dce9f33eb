// Target "aimet": quantizers where AIMET's ONNX simulation has them, with its scales.
//
// Parameters symmetric per channel, activations asymmetric, biases in float; which of them are on is a
// configuration's to say (halftone/aimet_config.h). A quantizer belongs to a tensor, so that all readers of
// it read the pair. The placement is in plan/aimet.
#include <string>
#include <utility>

#include "plan/aimet/quantizers.h"
#include "plan/foreign_options.h"
#include "plan/targets.h"
#include "plan/untouched.h"
#include "plan/wording.h"

namespace halftone {
namespace {

const AimetConfig& config_of(const PlanOptions& options) {
  return options.config ? *options.config : default_aimet_config();
}

class SiteMaker {
 public:
  SiteMaker(const PlanContext& context, std::vector<aimet::Quantizer> quantizers)
      : context_(context),
        graph_(context.graph),
        grid_(*aimet_grid_of(context.options)),
        decisions_(context.graph),
        quantizers_(std::move(quantizers)),
        quantizer_of_(context.graph.tensors().size(), nullptr) {}

  TargetDecisions run() && {
    for (const aimet::Quantizer& quantizer : quantizers_) {
      quantizer_of_[index_of(quantizer.tensor)] = &quantizer;
      add_site(quantizer);
    }
    for (const NodeId id : graph_.topological_order()) explain_inputs(id);
    warn();
    return std::move(decisions_);
  }

 private:
  static std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

  void add_site(const aimet::Quantizer& quantizer) {
    const GraphTensor& tensor = graph_.tensor(quantizer.tensor);
    const bool parameter = !quantizer.role.empty();
    Site site;
    site.tensor = tensor.name;
    site.role = parameter ? Role::kWeight : Role::kActivation;
    site.quantized = quantizer.on;
    site.format = parameter ? context_.formats.weights : context_.formats.activations;
    site.granularity = quantizer.axis < 0 ? Granularity::kTensor : Granularity::kChannel;
    site.axis = quantizer.axis;
    site.symmetric = quantizer.symmetric;
    site.fixed_range = quantizer.range;
    site.serves_output = quantizer.on && tensor.graph_output && tensor.producer != kNone && !tensor.constant;
    site.scale_group = quantizer.on ? quantizer.tie : std::nullopt;
    site.aimet = grid_;
    site.rule = quantizer.rule;
    site.why =
        quantizer.on ? quantizer.why + ": " + format_phrase(site) + readers_phrase(tensor) : quantizer.why;
    for (const Use use : tensor.consumers) site.consumers.push_back({graph_.node_label(use.node), use.input});
    why_.push_back(site.why);
    decisions_.sites.push_back({quantizer.tensor, std::move(site)});
  }

  static std::string format_phrase(const Site& site) {
    std::string text(number_format_info(site.format).name);
    text += site.symmetric ? " symmetric" : " asymmetric";
    text += site.axis < 0 ? ", one scale for the tensor."
                          : ", one scale per channel (axis " + std::to_string(site.axis) + ").";
    if (site.fixed_range) text += " The configuration fixes its range.";
    if (site.scale_group) text += " It shares its scale with the other end of a recurrent state.";
    return text;
  }

  static std::string readers_phrase(const GraphTensor& tensor) {
    return tensor.read_by_subgraph ? " The body of an If, Loop or Scan keeps the float values." : "";
  }

  void explain_inputs(NodeId id) {
    const std::vector<TensorId>& inputs = graph_.node(id).inputs;
    for (std::int32_t input = 0; index_of(input) < inputs.size(); ++input)
      decisions_.inputs.at({id, input}) = explain({id, input}, inputs[index_of(input)]);
  }

  Decision explain(Use use, TensorId tensor) const {
    if (tensor == kNone) return {false, "omitted", "This optional input is not given.", {}};
    if (const aimet::Quantizer* quantizer = quantizer_of_[index_of(tensor)]) {
      const auto place = static_cast<std::size_t>(quantizer - quantizers_.data());
      return {quantizer->on, quantizer->rule, why_[place], {}};
    }
    return explain_without(use, graph_.tensor(tensor));
  }

  Decision explain_without(Use use, const GraphTensor& tensor) const {
    if (tensor.type == DataType::kUndefined) {
      return {false,
              "type_unknown",
              "The element type of " + quoted(tensor.name) +
                  " isn't known, since shape inference couldn't follow the graph to it; only float32 tensors "
                  "are quantized.",
              {}};
    }
    if (tensor.type != DataType::kFloat) {
      return {false,
              "not_float",
              quoted(tensor.name) + " holds " + data_type_name(tensor.type) +
                  " values; only float32 tensors are quantized.",
              {}};
    }
    if (aimet::is_resize_setting(graph_.node(use.node), use.input))
      return {false, "resize_setting", "It says how to resize, not what; only the first input is data.", {}};
    if (tensor.constant) {
      return {false,
              "constant_result",
              "Part of a constant's computation; what the last node of it makes may be quantized instead.",
              {}};
    }
    return {false,
            "no_quantizer",
            tensor.producer == kNone ? quoted(tensor.name) + " comes from outside the graph."
                                     : node_phrase(graph_, tensor.producer) +
                                           " only moves values, so they have the grid of its input already.",
            {}};
  }

  void warn() {
    std::size_t unknown = 0;
    for (const GraphTensor& tensor : graph_.tensors())
      unknown += tensor.type == DataType::kUndefined && !tensor.consumers.empty() ? 1U : 0U;
    if (unknown > 0)
      decisions_.warnings.push_back({"type_unknown",
                                     count_phrase(unknown, "tensor stays", "tensors stay") +
                                         " float because shape inference couldn't find the element type.",
                                     ""});
    warn_of_batched_matmuls();
    warn_of_bodies(graph_, decisions_.warnings);
  }

  // The scales of a saved model are AIMET's even where the runtime has trouble with them.
  void warn_of_batched_matmuls() {
    std::size_t batched = 0;
    std::string first;
    for (const aimet::Quantizer& quantizer : quantizers_) {
      const bool affected = quantizer.on && quantizer.axis > 1 && quantizer.role == "weight" &&
                            graph_.node(quantizer.owner).op_type == "MatMul";
      if (affected && batched++ == 0) first = printable(graph_.tensor(quantizer.tensor).name);
    }
    if (batched == 0 || number_format_info(context_.formats.weights).bits != 8) return;
    decisions_.warnings.push_back(
        {"batched_matmul_scales",
         count_phrase(batched, "MatMul weight", "MatMul weights") +
             " of three dimensions or more with 8-bit scales per column: onnxruntime's default optimizations "
             "fail on such a model when it runs; switch them off, or leave these in float.",
         first});
  }

  const PlanContext& context_;
  const Graph& graph_;
  AimetGrid grid_;
  TargetDecisions decisions_;
  std::vector<aimet::Quantizer> quantizers_;
  std::vector<const aimet::Quantizer*> quantizer_of_;  // by tensor
  std::vector<std::string> why_;                       // by quantizer: as its site says it
};

TargetFormats formats_of(const PlanOptions& options) {
  return {options.activations.value_or(NumberFormat::kUint8), options.weights.value_or(NumberFormat::kInt8),
          options.activations_symmetric.value_or(config_of(options).ops.symmetric.value_or(false))};
}

Result<void> check_options(const PlanOptions& options, const TargetFormats& formats,
                           std::vector<Warning>& warnings) {
  if (Result<void> fits = check_foreign_options(options, "aimet"); !fits.ok()) return fits;
  if (Result<void> fits = check_integer_formats(formats, "aimet"); !fits.ok()) return fits;
  if (options.match && *options.match != "aimet") {
    return Error{ErrorCode::kInvalidPolicy, "Target aimet can't match " + quoted(*options.match) + ".",
                 "match", "The only peer of this target is aimet."};
  }
  const std::vector<Warning>& unread = config_of(options).warnings;
  warnings.insert(warnings.end(), unread.begin(), unread.end());
  return {};
}

Result<TargetDecisions> decide(const PlanContext& context) {
  return SiteMaker(context, aimet::quantizers_of(context, config_of(context.options))).run();
}

}  // namespace

std::optional<AimetGrid> aimet_grid_of(const PlanOptions& options) {
  if (options.target != Target::kAimet) return std::nullopt;
  const AimetConfig& config = config_of(options);
  return AimetGrid{config.strict_symmetric, config.unsigned_symmetric, options.match.has_value()};
}

const TargetRules kAimetTarget = {Target::kAimet, "aimet", formats_of, check_options, decide, nullptr};

}  // namespace halftone
