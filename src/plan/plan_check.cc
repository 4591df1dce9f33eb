// Does an edited or loaded plan fit a model? See check_plan in plan.h.
#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "halftone/plan.h"
#include "plan/wording.h"

namespace halftone {
namespace {

constexpr const char* kNextStep = "Make a new plan for this model, or correct this one.";

Error misfit(const Site& site, const std::string& what) {
  return Error{ErrorCode::kInvalidPolicy, "The plan's site " + quoted(site.tensor) + " " + what + ".",
               printable(site.tensor), kNextStep};
}

// Formats that some target places quantizers of; of the others no runtime can run a plan.
bool has_target(NumberFormat format) {
  const NumberFormatInfo& info = number_format_info(format);
  return (info.kind == FormatKind::kInteger && info.bits >= 4) || format == NumberFormat::kFloat8E4M3Fn;
}

class PlanChecker {
 public:
  PlanChecker(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

  Result<void> check() {
    for (const Site& site : plan_.sites) {
      if (!sites_.emplace(site.tensor, &site).second) return misfit(site, "appears twice");
    }
    for (const Site& site : plan_.sites) {
      const TensorId id = graph_.find_tensor(site.tensor);
      if (id == kNone) return misfit(site, "names a tensor that the model doesn't have");
      Result<void> fits = check_consumers(site, id);
      if (fits.ok() && site.quantized) fits = check_tensor(site, graph_.tensor(id));
      if (fits.ok() && site.quantized) fits = check_format(site, graph_.tensor(id));
      if (fits.ok() && site.quantized && site.role == Role::kBias) fits = check_bias(site, graph_.tensor(id));
      if (fits.ok() && site.quantized) fits = check_output(site, graph_.tensor(id));
      if (fits.ok() && site.quantized && site.scale_group) fits = check_group(site);
      if (!fits.ok()) return fits;
    }
    return {};
  }

 private:
  Result<void> check_consumers(const Site& site, TensorId id) {
    if (site.quantized && site.consumers.empty() && !site.serves_output)
      return misfit(site, "is quantized, but no node reads it so");
    for (const Consumer& consumer : site.consumers) {
      const NodeId node = graph_.find_node(consumer.node);
      if (node == kNone)
        return misfit(site, "names a node that the model doesn't have, " + quoted(consumer.node));
      const std::vector<TensorId>& inputs = graph_.node(node).inputs;
      if (consumer.input < 0 || static_cast<std::size_t>(consumer.input) >= inputs.size() ||
          inputs[static_cast<std::size_t>(consumer.input)] != id) {
        return misfit(site, "is not what " + quoted(consumer.node) + " reads at input " +
                                std::to_string(consumer.input));
      }
      const std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(node)) << 32U) |
                                static_cast<std::uint32_t>(consumer.input);
      if (!readings_.insert(key).second)
        return misfit(site, "lists a reader twice, " + quoted(consumer.node));
    }
    const std::size_t readers = graph_.tensor(id).consumers.size();
    if (site.quantized && site.aimet && site.consumers.size() != readers) {
      return misfit(site, "lists " + std::to_string(site.consumers.size()) + " of its tensor's " +
                              std::to_string(readers) +
                              " readers, but a quantizer of target aimet is read by all");
    }
    return {};
  }

  static Result<void> check_tensor(const Site& site, const GraphTensor& tensor) {
    if (tensor.type != DataType::kFloat) {
      return misfit(site, "is quantized, but its elements are " +
                              (tensor.type == DataType::kUndefined ? "of an unknown type"
                                                                   : data_type_name(tensor.type)) +
                              ", not float32");
    }
    const bool may_be_constant = site.role != Role::kActivation || site.aimet;
    const bool may_be_computed = site.role == Role::kActivation;
    if (tensor.constant ? !may_be_constant : !may_be_computed) {
      return misfit(site, "is planned as " + std::string(role_name(site.role)) + ", but the tensor is " +
                              (tensor.constant ? "constant" : "computed"));
    }
    if (!tensor.constant) return {};
    if (!tensor.shape) return misfit(site, "is quantized, but its shape isn't known");
    for (const Dimension& dimension : *tensor.shape) {
      if (dimension.value <= 0) return misfit(site, "is quantized, but has no elements");
    }
    return {};
  }

  static Result<void> check_format(const Site& site, const GraphTensor& tensor) {
    const std::string format(number_format_info(site.format).name);
    const bool fits =
        site.role == Role::kBias ? site.format == NumberFormat::kInt32 : is_quantize_format(site.format);
    if (!fits)
      return misfit(site,
                    "can't be stored as " + format + " in the role of " + std::string(role_name(site.role)));
    if (!has_target(site.format))
      return misfit(site,
                    "can't be stored as " + format + ", because no target runs quantizers of that format");
    if (site.role == Role::kActivation && number_format_info(site.format).bits < 8) {
      return misfit(site, "can't be " + format + ": activations need 8 or 16 bits");
    }
    if (number_format_info(site.format).kind == FormatKind::kSmallFloat && !site.symmetric)
      return misfit(site, "is asymmetric, but " + format + " has no zero point");
    if (site.granularity == Granularity::kBlock)
      return misfit(site, "has scales per block, which this version doesn't support");
    if (site.granularity == Granularity::kTensor) return {};
    if (site.role == Role::kActivation)
      return misfit(site, "has scales per channel, but activations get one scale for the tensor");
    if (site.axis < 0 || static_cast<std::size_t>(site.axis) >= tensor.shape->size()) {
      return misfit(site, "has scales along axis " + std::to_string(site.axis) + ", but the tensor has " +
                              std::to_string(tensor.shape->size()) + " dimensions");
    }
    return {};
  }

  static Result<void> check_output(const Site& site, const GraphTensor& tensor) {
    if (!site.serves_output) return {};
    if (site.role == Role::kActivation && tensor.graph_output && tensor.producer != kNone) return {};
    return misfit(site, "is to serve an output of the model, but is none that a node computes");
  }

  // All of a group are activations of one format, so that one scale can mean the same to all.
  Result<void> check_group(const Site& site) {
    if (site.role != Role::kActivation)
      return misfit(site, "belongs to a scale group, which only activations can");
    const Site& first = *groups_.emplace(*site.scale_group, &site).first->second;
    if (first.format == site.format && first.symmetric == site.symmetric) return {};
    return misfit(site, "belongs to the scale group of " + quoted(first.tensor) + ", but has another format");
  }

  Result<void> check_bias(const Site& site, const GraphTensor& tensor) const {
    if (tensor.shape->size() != 1) return misfit(site, "is a bias, but has not one dimension");
    if (!site.bias_of) return misfit(site, "is a quantized bias, but doesn't say of which two tensors");
    for (const std::string* name : {&site.bias_of->activation, &site.bias_of->weight}) {
      const auto found = sites_.find(*name);
      if (found == sites_.end() || !found->second->quantized || found->second->role == Role::kBias) {
        return misfit(site, "is a bias at the scale of " + quoted(*name) + ", which is not quantized");
      }
    }
    const Site& weight = *sites_.find(site.bias_of->weight)->second;
    if (weight.granularity != site.granularity) {
      return misfit(site, "and the weight that it belongs to have not the same number of scales");
    }
    return {};
  }

  const Graph& graph_;
  const Plan& plan_;
  std::unordered_map<std::string_view, const Site*> sites_;
  std::unordered_map<std::string_view, const Site*> groups_;
  std::unordered_set<std::uint64_t> readings_;
};

}  // namespace

Result<void> check_plan(const Model& model, const Plan& plan) {
  return PlanChecker(model.graph(), plan).check();
}

}  // namespace halftone
