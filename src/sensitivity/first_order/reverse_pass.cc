#include "sensitivity/first_order/reverse_pass.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plan/constant_codes.h"
#include "plan/constant_values.h"
#include "plan/wording.h"
#include "sensitivity/first_order/rules.h"

namespace halftone::first_order_model {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

// Where the cotangent comes from: no node.
constexpr Place kCotangent = {kNone, 0};

bool is_standard(const GraphNode& node) { return node.domain.empty() || node.domain == "ai.onnx"; }

}  // namespace

ReversePass::ReversePass(const Model& model, const LocatedSites& located, NodeWriter& nodes,
                         QdqWriter& quantizers)
    : model_(model),
      graph_(model.graph()),
      located_(located),
      nodes_(nodes),
      quantizers_(quantizers),
      shapes_(graph_, nodes),
      changed_(changed_tensors(graph_, located)),
      contributions_(graph_.tensors().size()),
      changes_(located.sites.size()),
      effects_(located.sites.size()) {
  for (std::size_t i = 0; i < changed_.size(); ++i)
    captured_changes_ = captured_changes_ || (changed_[i] && graph_.tensors()[i].read_by_subgraph);
}

Result<void> ReversePass::run(TensorId scored, const std::string& cotangent) {
  contributions_[index_of(scored)].push_back({kCotangent, cotangent});
  const auto order = graph_.topological_order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    if (Result<void> gone = go_back(*id); !gone.ok()) return gone;
  }
  return {};
}

std::string ReversePass::gradient_of(TensorId tensor) {
  const std::vector<Contribution>& parts = contributions_[index_of(tensor)];
  if (parts.empty()) return {};
  std::string& sum = gradients_[tensor];
  if (!sum.empty()) return sum;
  std::vector<std::string> terms;
  terms.reserve(parts.size());
  for (const Contribution& part : parts) terms.push_back(part.gradient);
  sum = nodes_.sum_of(terms);
  return sum;
}

Result<void> ReversePass::go_back(NodeId id) {
  const GraphNode& node = graph_.node(id);
  const bool reached = std::any_of(node.outputs.begin(), node.outputs.end(), [&](TensorId output) {
    return output != kNone && changed_[index_of(output)] && !contributions_[index_of(output)].empty();
  });
  if (!reached || !depends_on_changes(id)) return {};
  BackwardStep step(model_, id, nodes_, shapes_);
  const Rule* rule = is_standard(node) && !node.has_subgraph ? rule_of(node.op_type) : nullptr;
  if (rule == nullptr) return step.unsupported("there is no rule for this operator");
  if (node.inputs.empty() || node.inputs.front() == kNone)
    return step.unsupported("it lacks its first input");
  if (Result<void> prepared = prepare(step); !prepared.ok()) return prepared;
  for (std::size_t i = 1; i < step.gradients.size(); ++i) {
    if (!rule->all_outputs && !step.gradients[i].empty())
      return step.unsupported("more than its first output is read");
  }
  if (Result<void> gone = rule->go_back(step); !gone.ok()) return gone;
  take_answers(step);
  return {};
}

// A tensor may be changed by a quantizer of its own alone, and then its node doesn't matter.
bool ReversePass::depends_on_changes(NodeId id) const {
  const GraphNode& node = graph_.node(id);
  if (node.has_subgraph && captured_changes_) return true;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId input = node.inputs[i];
    if (input == kNone) continue;
    if (changed_[index_of(input)] || located_.constant_readers.contains({id, static_cast<std::int32_t>(i)}))
      return true;
  }
  return false;
}

Result<void> ReversePass::prepare(BackwardStep& step) {
  for (std::size_t i = 0; i < step.node.inputs.size(); ++i) {
    const TensorId input = step.node.inputs[i];
    if (input == kNone) continue;
    const auto read = located_.constant_readers.find({step.id, static_cast<std::int32_t>(i)});
    if (read != located_.constant_readers.end()) {
      Result<std::string> change = change_of(read->second);
      if (!change.ok()) return change.error();
      step.changes[i] = std::move(change).value();
    }
    step.wanted[i] = changed_[index_of(input)] || !step.changes[i].empty();
  }
  const auto other_float = [&](TensorId tensor) {
    if (tensor == kNone || !changed_[index_of(tensor)]) return false;
    const DataType type = graph_.tensor(tensor).type;
    return type != DataType::kFloat && type != DataType::kUndefined;
  };
  if (std::any_of(step.node.inputs.begin(), step.node.inputs.end(), other_float) ||
      std::any_of(step.node.outputs.begin(), step.node.outputs.end(), other_float))
    return step.unsupported("it has float values other than float32");
  for (std::size_t i = 0; i < step.node.outputs.size(); ++i) {
    const TensorId output = step.node.outputs[i];
    if (output != kNone && changed_[index_of(output)]) step.gradients[i] = gradient_of(output);
  }
  return {};
}

void ReversePass::take_answers(const BackwardStep& step) {
  for (std::size_t i = 0; i < step.node.inputs.size(); ++i) {
    const Place place = {step.id, static_cast<std::int32_t>(i)};
    if (!step.changes[i].empty()) {
      std::vector<std::string>& effects = effects_[located_.constant_readers.at(place)];
      if (!step.effects[i].empty())
        effects.push_back(step.effects[i]);
      else if (!step.given[i].empty())
        effects.push_back(nodes_.dot(step.given[i], step.changes[i]));
    } else if (step.wanted[i] && !step.given[i].empty()) {
      contributions_[index_of(step.node.inputs[i])].push_back({place, step.given[i]});
    }
  }
}

// Of a constant site: its simulated values less its own.
Result<std::string> ReversePass::change_of(std::size_t site) {
  if (!changes_[site].empty()) return changes_[site];
  const LocatedSite& of = located_.sites[site];
  const Result<ConstantValues> values = constant_values(model_, of.site.tensor);
  if (!values.ok()) return values.error();
  const Result<ConstantCodes> simulated = simulated_values(model_, of.site, *of.encoding);
  if (!simulated.ok()) return simulated.error();
  std::vector<float> change = copied(values.value().values);
  if (simulated.value().bytes.size() != change.size() * sizeof(float)) {
    return Error{ErrorCode::kInternal, "Simulated values are not as many as values.",
                 printable(of.site.tensor), ""};
  }
  for (std::size_t i = 0; i < change.size(); ++i) {
    float on = 0.0F;
    std::memcpy(&on, simulated.value().bytes.data() + i * sizeof(float), sizeof(float));
    change[i] = on - change[i];
  }
  changes_[site] = nodes_.floats(values.value().dims, change);
  return changes_[site];
}

Result<std::string> ReversePass::effect_of_activation(const LocatedSite& of) {
  const std::vector<Contribution>& parts = contributions_[index_of(of.tensor)];
  std::vector<std::string> terms;
  for (const Contribution& part : parts) {
    if (part.from == kCotangent ? of.site.serves_output : of.readers.contains(part.from))
      terms.push_back(part.gradient);
  }
  if (terms.empty()) return std::string();
  const std::string gradient = terms.size() == parts.size() ? gradient_of(of.tensor) : nodes_.sum_of(terms);
  const Result<std::string> on = quantizers_.add_aside(of.site, *of.encoding);
  if (!on.ok()) return on.error();
  return nodes_.dot(gradient, nodes_.add("Sub", {on.value(), of.site.tensor}));
}

Result<std::string> ReversePass::effect(std::size_t site) {
  const LocatedSite& of = located_.sites[site];
  std::string number;
  if (of.constant) {
    if (!effects_[site].empty()) number = nodes_.sum_of(effects_[site]);
  } else if (of.tensor != kNone) {
    Result<std::string> found = effect_of_activation(of);
    if (!found.ok()) return found;
    number = std::move(found).value();
  }
  return number.empty() ? nodes_.number(0.0F) : number;
}

}  // namespace halftone::first_order_model
