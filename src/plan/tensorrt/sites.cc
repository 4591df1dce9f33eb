#include "plan/tensorrt/sites.h"

#include <algorithm>
#include <utility>

#include "plan/tensorrt/reasons.h"
#include "plan/wording.h"

namespace halftone::tensorrt {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

// The nodes that a quantizer can sit in front of at all: those that the caller lists, and those of operators
// that the policy may choose.
NodeChoice candidate_nodes(const PolicyGraph& graph, const PolicyOptions& options) {
  PolicyOptions policy = options;
  policy.listed.reset();
  const auto quantizable = quantizable_operators(policy);
  NodeChoice choice;
  choice.selected.assign(graph.graph().nodes().size(), false);
  for (const NodeId id : graph.nodes()) {
    const bool listed = options.listed && (*options.listed)[index_of(id)];
    choice.selected[index_of(id)] = listed || quantizable(graph.graph().node(id).op_type);
  }
  return choice;
}

class SiteMaker {
 public:
  SiteMaker(const PolicyGraph& view, const Policy& policy, const PolicyOptions& options,
            const PlanContext& context)
      : view_(view),
        graph_(view.graph()),
        policy_(policy),
        candidate_nodes_(candidate_nodes(view, options)),
        candidates_(mark_inputs(view, candidate_nodes_, quantizable_operators(options))),
        context_(context),
        reasons_(view, policy, context),
        decisions_(view.graph()) {}

  TargetDecisions run() && {
    explain_inputs();
    for (TensorId id = 0; index_of(id) < graph_.tensors().size(); ++id) {
      if (graph_.tensor(id).constant) {
        add_constant(id);
      } else if (candidates_.tensors[index_of(id)].kind != MarkKind::kNone || marked(id)) {
        add_activation(id);
      }
    }
    keep_real_groups();
    warn();
    return std::move(decisions_);
  }

 private:
  [[nodiscard]] bool marked(TensorId id) const {
    return policy_.marks.tensors[index_of(id)].kind != MarkKind::kNone;
  }

  void explain_inputs() {
    for (const NodeId id : graph_.topological_order()) {
      const std::vector<TensorId>& inputs = graph_.node(id).inputs;
      for (std::int32_t input = 0; index_of(input) < inputs.size(); ++input) {
        decisions_.inputs.at({id, input}) =
            inputs[index_of(input)] == kNone
                ? Decision{false, "omitted", "This optional input is not given.", {}}
                : reasons_.explain({id, input});
      }
    }
  }

  // "Conv "a" and 2 more"
  [[nodiscard]] std::string readers_phrase(const std::vector<Use>& uses) const {
    std::string text = node_phrase(graph_, uses.front().node);
    if (uses.size() > 1) text += " and " + std::to_string(uses.size() - 1) + " more";
    return text;
  }

  [[nodiscard]] std::string format_phrase(const Site& site) const {
    return std::string(number_format_info(site.format).name) + " symmetric, one scale";
  }

  static std::string float_readers_phrase(const GraphTensor& tensor, std::size_t quantized) {
    const std::size_t others = tensor.consumers.size() - quantized;
    std::string text;
    if (others > 0)
      text += " " + std::to_string(others) + (others == 1 ? " other input keeps" : " other inputs keep") +
              " the float values.";
    if (tensor.read_by_subgraph && !tensor.graph_output)
      text += " The body of an If, Loop or Scan keeps the float values.";
    return text;
  }

  Site new_site(const GraphTensor& tensor, Role role) const {
    Site site;
    site.tensor = tensor.name;
    site.role = role;
    site.format = role == Role::kWeight ? context_.formats.weights : context_.formats.activations;
    site.symmetric = true;
    return site;
  }

  void add_consumers(const std::vector<Use>& uses, Site& site) const {
    for (const Use use : uses) site.consumers.push_back({graph_.node_label(use.node), use.input});
  }

  void add_activation(TensorId id) {
    const GraphTensor& tensor = graph_.tensor(id);
    Site site = new_site(tensor, Role::kActivation);
    std::vector<Use> uses;
    for (const Use use : tensor.consumers) {
      if (marked(id) && policy_.marks.quantized(graph_, use)) uses.push_back(use);
    }
    site.serves_output = marked(id) && tensor.graph_output && tensor.producer != kNone;
    site.quantized = !uses.empty() || site.serves_output;
    if (site.quantized) {
      describe_activation(tensor, uses, site);
      group(id, site);
    } else {
      for (const Use use : tensor.consumers) {
        if (candidate_nodes_.selected[index_of(use.node)]) uses.push_back(use);
      }
      describe_float(uses, site);
    }
    add_consumers(uses, site);
    decisions_.sites.push_back({id, std::move(site)});
  }

  void describe_activation(const GraphTensor& tensor, const std::vector<Use>& uses, Site& site) const {
    if (uses.empty()) {
      site.rule = "output_pair";
      site.why =
          "Its readers take it raw, but a pair was placed for one of them and the model's output comes "
          "out of it.";
    } else {
      const Decision& first = decisions_.inputs.at(uses.front());
      site.rule = first.rule;
      site.why = "Read by " + readers_phrase(uses) + ": " + format_phrase(site) + " for the tensor. " +
                 first.why + float_readers_phrase(tensor, uses.size());
      if (site.serves_output) site.why += " The model's output comes out of the pair too.";
    }
    const bool behind_softmax = tensor.producer != kNone && is_op(graph_.node(tensor.producer), "Softmax");
    if (!behind_softmax) return;
    site.fixed_range = ValueRange{0.0F, 1.0F};
    site.why += " Its range is [0, 1], as it comes from a Softmax.";
  }

  // Precondition: not empty, as only what a candidate reads has a site.
  void describe_float(const std::vector<Use>& uses, Site& site) const {
    const Decision& first = decisions_.inputs.at(uses.front());
    site.rule = first.rule;
    site.why = first.why;
  }

  // Whose constants are marked by their readings, or as a whole where the peer sees an activation.
  void add_constant(TensorId id) {
    const GraphTensor& tensor = graph_.tensor(id);
    std::vector<Use> uses;
    std::vector<Use> wished;
    for (const Use use : tensor.consumers) {
      if (policy_.marks.quantized(graph_, use)) uses.push_back(use);
      if (candidates_.quantized(graph_, use)) wished.push_back(use);
    }
    if (wished.empty() && uses.empty()) return;
    Site site = new_site(tensor, Role::kWeight);
    site.quantized = !uses.empty() && has_elements(tensor);
    if (site.quantized) {
      describe_weight(id, uses, site);
      for (const Use use : uses) decide(use, {true, site.rule, site.why, {}});
    } else if (!uses.empty()) {
      site.rule = "empty";
      site.why = quoted(tensor.name) + " has no elements to quantize, or their number isn't known.";
      for (const Use use : uses) decide(use, {false, site.rule, site.why, {}});
    } else {
      site.rule = decisions_.inputs.at(wished.front()).rule;
      site.why = decisions_.inputs.at(wished.front()).why;
      uses = wished;
    }
    add_consumers(uses, site);
    decisions_.sites.push_back({id, std::move(site)});
  }

  void decide(Use use, Decision decision) {
    Decision& known = decisions_.inputs.at(use);
    decision.partition = std::move(known.partition);
    known = std::move(decision);
  }

  static bool has_elements(const GraphTensor& tensor) {
    return tensor.shape && std::none_of(tensor.shape->begin(), tensor.shape->end(),
                                        [](const Dimension& dimension) { return dimension.value <= 0; });
  }

  void describe_weight(TensorId id, const std::vector<Use>& uses, Site& site) {
    const GraphTensor& tensor = graph_.tensor(id);
    std::string reason;
    if (!view_.is_stored(id)) {
      reason =
          "for the tensor, because ModelOpt takes a constant that is no initializer for an activation; "
          "without the option match it would be one per channel";
    } else if (!context_.options.per_channel) {
      reason = "for the tensor, because per-channel scales are switched off";
    } else {
      reason = agree_on_axis(uses, site);
    }
    site.granularity = site.axis < 0 ? Granularity::kTensor : Granularity::kChannel;
    site.rule = site.axis < 0 ? "weight_per_tensor" : "weight_per_channel";
    site.why = "Constant operand of " + readers_phrase(uses) + ": " + format_phrase(site) + " " + reason +
               "." + float_readers_phrase(tensor, uses.size());
  }

  // Sets the axis that all readings want, and says why.
  std::string agree_on_axis(const std::vector<Use>& uses, Site& site) {
    const std::int32_t wanted = mark_at(uses.front()).axis;
    const bool agreed =
        std::all_of(uses.begin(), uses.end(), [&](const Use use) { return mark_at(use).axis == wanted; });
    if (!agreed) {
      ++split_axes_;
      return "for the tensor, because its readers want one per index of different axes; copies of their own "
             "would have those";
    }
    if (wanted < 0) return "for the tensor, because its reader has no channels along one axis of it";
    site.axis = wanted;
    std::string text = "per channel (axis " + std::to_string(wanted) + ")";
    const bool deep =
        is_op(graph_.node(uses.front().node), "MatMul") && wanted != 1 && view_.peer() == Peer::kCorrect;
    if (!deep) return text;
    ++corrected_axes_;
    return text + ", where ModelOpt takes axis 1 whatever the rank and side";
  }

  [[nodiscard]] const Mark& mark_at(Use use) const { return policy_.marks.readings.at(use).constant; }

  void group(TensorId id, Site& site) {
    const std::int32_t number = policy_.scale_group[index_of(id)];
    if (number < 0 || !context_.options.concat_groups) return;
    members_.emplace_back(number, decisions_.sites.size());
    site.scale_group = "";
  }

  // Names each group after its first member in the order of tensors; a member alone shares with nobody.
  void keep_real_groups() {
    std::stable_sort(members_.begin(), members_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t begin = 0; begin < members_.size();) {
      std::size_t end = begin;
      while (end < members_.size() && members_[end].first == members_[begin].first) ++end;
      const std::string name = "concat:" + decisions_.sites[members_[begin].second].site.tensor;
      for (std::size_t i = begin; i < end; ++i) {
        Site& site = decisions_.sites[members_[i].second].site;
        site.scale_group = end - begin > 1 ? std::optional<std::string>(name) : std::nullopt;
        if (site.scale_group)
          site.why += " Shares one scale with " +
                      count_phrase(end - begin - 1, "other tensor", "other tensors") +
                      " around its Concat, so that TensorRT can drop that.";
      }
      begin = end;
    }
  }

  void warn() {
    if (corrected_axes_ > 0)
      decisions_.warnings.push_back(
          {"matmul_axis",
           std::to_string(corrected_axes_) +
               (corrected_axes_ == 1 ? " MatMul constant has" : " MatMul constants have") +
               " scales along the axis of the output channels, where ModelOpt takes axis 1 whatever the rank "
               "and side.",
           ""});
    if (split_axes_ > 0)
      decisions_.warnings.push_back({"weight_axes_differ",
                                     std::to_string(split_axes_) +
                                         (split_axes_ == 1 ? " constant has" : " constants have") +
                                         " one scale because the nodes that read it want different axes; "
                                         "ModelOpt copies such a constant.",
                                     ""});
    std::vector<TensorId> unknown = policy_.marks.unknown_types;
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    if (unknown.empty()) return;
    const std::string& first = graph_.tensor(unknown.front()).name;
    decisions_.warnings.push_back(
        {"type_unknown",
         std::to_string(unknown.size()) + (unknown.size() == 1 ? " tensor stays" : " tensors stay") +
             " float because shape inference couldn't find the element type; the first is " + quoted(first) +
             ".",
         printable(first)});
  }

  const PolicyGraph& view_;
  const Graph& graph_;
  const Policy& policy_;
  NodeChoice candidate_nodes_;
  Marks candidates_;  // what the handler table would mark if all of them were chosen
  const PlanContext& context_;
  Reasons reasons_;
  TargetDecisions decisions_;
  std::vector<std::pair<std::int32_t, std::size_t>> members_;  // group number, index into decisions_.sites
  std::size_t corrected_axes_ = 0;
  std::size_t split_axes_ = 0;
};

}  // namespace

TargetDecisions sites_of(const PolicyGraph& graph, const Policy& policy, const PolicyOptions& options,
                         const PlanContext& context) {
  return SiteMaker(graph, policy, options, context).run();
}

}  // namespace halftone::tensorrt
