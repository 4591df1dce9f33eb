#include "sweep_job.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "conversions.h"
#include "halftone/first_order.h"
#include "halftone/groups.h"
#include "halftone/rewrite.h"
#include "halftone/sensitivity.h"
#include "halftone/staged.h"
#include "halftone/subgraph.h"
#include "halftone/sweep_cuts.h"
#include "halftone/switched_part.h"
#include "planned_model.h"

namespace halftone::wasm {
namespace {

using ModelPointer = std::shared_ptr<const Model>;

Error no_such(const std::string& what) {
  return Error{ErrorCode::kInternal, "There is no such " + what + ".", "", ""};
}

// Every variant of a model whose opset is too old for its pairs would otherwise be converted on its own.
// Where the converter can't raise the model, the variants that don't need it still work.
ModelPointer raised_once(ModelHandle& handle, const Plan& plan) {
  const Result<ModelPointer> raised = handle.at_opset(plan.opset_needed);
  if (!raised.ok()) return handle.model();
  const bool same = raised.value() == handle.model();
  return same || check_plan(*raised.value(), plan).ok() ? raised.value() : handle.model();
}

val switches_to_js(const SwitchedPart& part) {
  constexpr std::array<const char*, 3> kKinds = {"input", "addend", "values"};
  val list = val::array();
  for (const std::optional<SiteSwitch>& one : part.switches) {
    if (!one) continue;
    val dims = val::array();
    for (const std::int64_t size : one->dims) dims.call<void>("push", static_cast<double>(size));
    val entry = val::object();
    entry.set("tensor", one->tensor);
    entry.set("kind", kKinds[static_cast<std::size_t>(one->kind)]);
    entry.set("feed", one->feed);
    entry.set("rank", static_cast<double>(one->rank));
    entry.set("dims", dims);
    entry.set("off", floats_to_js(one->off));
    entry.set("on", floats_to_js(one->on));
    list.call<void>("push", entry);
  }
  return list;
}

// Adds what a sweep has to know of a model's stages.
void describe_stages(const StagedModel& made, val& described) {
  val feeds = val::array();
  for (const StageFeed& one : made.feeds) {
    val entry = val::object();
    entry.set("tensor", one.tensor);
    entry.set("feed", one.feed);
    entry.set("type", data_type_name(one.type));
    entry.set("rank", static_cast<double>(one.rank));
    feeds.call<void>("push", entry);
  }
  val borders = val::array();
  for (const StageBorder& one : made.borders) {
    val crossing = val::array();
    for (const std::size_t feed : one.crossing) crossing.call<void>("push", static_cast<double>(feed));
    val entry = val::object();
    entry.set("cut", static_cast<double>(one.cut));
    entry.set("crossing", crossing);
    borders.call<void>("push", entry);
  }
  described.set("start", made.start);
  described.set("feeds", feeds);
  described.set("borders", borders);
}

// Where sessions lie behind cuts, each cut costs one and a run of each sample before it saves anything; the
// client takes fewer of these then. A border between stages costs next to nothing.
constexpr std::size_t kGroupsPerCut = 2;
constexpr std::size_t kMostCuts = 48;

// A sweep by disabling keeps the other quantizers on: what its variants differ from is the simulated model.
class SweepJob final : public Job {
 public:
  SweepJob(const ModelPointer& base, PlannedModel planned, std::vector<std::string> scored,
           std::vector<QuantizerGroup> groups, bool disabling)
      : base_(base),
        planned_(std::move(planned)),
        scored_(std::move(scored)),
        groups_(std::move(groups)),
        disabling_(disabling),
        cuts_(base_->graph(), scored_, std::min(kMostCuts, groups_.size() / kGroupsPerCut)),
        behind_(cuts_.cuts().size()) {
    for (const Site& site : planned_.plan.sites) sites_[site.tensor] = &site;
  }

  [[nodiscard]] val cuts() const {
    val list = val::array();
    for (const Cut& cut : cuts_.cuts()) list.call<void>("push", strings_to_js(cut.tensors));
    return list;
  }

  [[nodiscard]] val groups() const {
    val list = val::array();
    for (const QuantizerGroup& group : groups_) {
      val entry = val::object();
      entry.set("key", group.key);
      entry.set("sites", strings_to_js(group.sites));
      entry.set("detail", group.detail);
      list.call<void>("push", entry);
    }
    return list;
  }

  // By group; -1 for the whole model.
  [[nodiscard]] val cut_of_groups() const {
    val list = val::array();
    for (const QuantizerGroup& group : groups_) {
      std::int32_t first = static_cast<std::int32_t>(cuts_.cuts().size());
      for (const std::string& tensor : group.sites)
        first = std::min(first, cuts_.cut_for(base_->graph(), *sites_.at(tensor)));
      list.call<void>("push", group.sites.empty() ? kNone : first);
    }
    return list;
  }

  // By group: whether its sites can be switched together.
  [[nodiscard]] val switchable_groups() const {
    val list = val::array();
    for (const QuantizerGroup& group : groups_) {
      const std::vector<const Site*> sites = sites_of(group);
      const bool all = std::all_of(sites.begin(), sites.end(),
                                   [&](const Site* site) { return has_switch(base_->graph(), *site); });
      list.call<void>("push",
                      !disabling_ && all && !sites.empty() && cuts_.independent(base_->graph(), sites));
    }
    return list;
  }

  // What propagation compares: activations of the plan that a node makes.
  [[nodiscard]] val activations() const {
    val list = val::array();
    const Graph& graph = base_->graph();
    for (const std::string& name : made_activations()) {
      const NodeId node = graph.tensor(graph.find_tensor(name)).producer;
      val entry = val::object();
      entry.set("tensor", name);
      entry.set("node", graph.node_label(node));
      entry.set("op", graph.node(node).op_type);
      list.call<void>("push", entry);
    }
    return list;
  }

  val switched(const val& groups, const val& stages) override {
    return guarded([&] {
      const Result<ModelPointer> part = behind(first_cut());
      if (!part.ok()) return failure(part.error());
      std::vector<const Site*> sites;
      std::unordered_set<std::string_view> known;
      const std::size_t count = groups["length"].as<std::size_t>();
      for (std::size_t i = 0; i < count; ++i) {
        const auto place = groups[i].as<std::size_t>();
        if (place >= groups_.size()) return failure(no_such("group"));
        for (const Site* site : sites_of(groups_[place])) {
          if (known.insert(site->tensor).second) sites.push_back(site);
        }
      }
      const Result<SwitchedPart> made = switched_part(part.value(), sites, planned_.encodings);
      if (!made.ok()) return failure(made.error());
      const Result<StagedModel> skippable = with_stages(made.value().model, stages);
      if (!skippable.ok()) return failure(skippable.error());
      Result<val> written = skeleton_to_js(skippable.value().model);
      if (!written.ok()) return failure(written.error());
      written.value().set("switches", switches_to_js(made.value()));
      describe_stages(skippable.value(), written.value());
      return success(written.value());
    });
  }

  val first_order(const val& tensors, const val& shapes) override {
    return guarded([&] {
      if (scored_.size() != 1) {
        return failure(
            Error{ErrorCode::kUnsupportedOp,
                  "A first-order model has one scored tensor, not " + std::to_string(scored_.size()) + ".",
                  "", "Measure every quantizer instead."});
      }
      std::vector<const Site*> sites;
      for (const std::string& tensor : strings_from_js(tensors)) {
        const auto known = sites_.find(tensor);
        if (known == sites_.end()) return failure(no_such("site"));
        sites.push_back(known->second);
      }
      const Result<FirstOrder> made =
          halftone::first_order(base_, scored_.front(), sites, planned_.encodings, shapes_from_js(shapes));
      if (!made.ok()) return failure(made.error());
      Result<val> written = skeleton_to_js(made.value().model);
      if (!written.ok()) return failure(written.error());
      written.value().set("cotangent", made.value().cotangent);
      written.value().set("effects", made.value().effects);
      return success(written.value());
    });
  }

  val skeleton(const std::string& kind, int index, int cut) override {
    return guarded([&] {
      const Result<ModelPointer> model = make(kind, index, cut);
      if (!model.ok()) return failure(model.error());
      const Result<val> written = skeleton_to_js(model.value());
      return written.ok() ? success(written.value()) : failure(written.error());
    });
  }

 private:
  // Without what a run doesn't need, a model costs a session less.
  [[nodiscard]] int first_cut() const {
    const std::span<const Cut> cuts = cuts_.cuts();
    const Graph& graph = base_->graph();
    const bool at_inputs =
        !cuts.empty() && std::all_of(cuts[0].tensors.begin(), cuts[0].tensors.end(), [&](const auto& name) {
          return graph.tensor(graph.find_tensor(name)).graph_input;
        });
    return at_inputs ? 0 : kNone;
  }

  // Stages between these of the sweep's cuts; their borders count as the sweep does.
  [[nodiscard]] Result<StagedModel> with_stages(const ModelPointer& model, const val& stages) const {
    std::vector<std::vector<std::string>> cuts;
    std::vector<std::size_t> places;
    const std::size_t count = stages["length"].as<std::size_t>();
    for (std::size_t i = 0; i < count; ++i) {
      places.push_back(stages[i].as<std::size_t>());
      if (places.back() >= cuts_.cuts().size()) return no_such("cut");
      cuts.push_back(cuts_.cuts()[places.back()].tensors);
    }
    Result<StagedModel> made = staged(model, cuts, scored_);
    if (!made.ok()) return made;
    for (StageBorder& border : made.value().borders) border.cut = places[border.cut];
    return made;
  }

  [[nodiscard]] std::vector<const Site*> sites_of(const QuantizerGroup& group) const {
    std::vector<const Site*> sites;
    for (const std::string& tensor : group.sites) sites.push_back(sites_.at(tensor));
    return sites;
  }

  Result<ModelPointer> make(std::string_view kind, int index, int cut) {
    if (kind == "float") return base_;
    if (kind == "base") return on_base(behind(cut));
    if (kind == "cuts") return on_base(with_outputs(base_, cut_tensors()));
    if (kind == "group") return group(index, cut);
    if (kind == "simulated") return simulated(base_, quantized_sites({}));
    if (kind == "weights") return simulated(base_, quantized_sites(Role::kWeight));
    if (kind == "activations") return simulated(base_, quantized_sites(Role::kActivation));
    if (kind == "gated") return gated();
    if (kind == "float_tensors") return with_outputs(base_, made_activations());
    if (kind == "simulated_tensors") return simulated_tensors();
    if (kind != "quantized") return no_such("kind of variant");
    Result<QuantizedModel> quantized = insert_qdq(base_, planned_.plan, planned_.encodings, {});
    if (!quantized.ok()) return quantized.error();
    return quantized.value().model;
  }

  Result<ModelPointer> on_base(Result<ModelPointer> model) const {
    if (!model.ok() || !disabling_) return model;
    return simulated(model.value(), quantized_sites({}));
  }

  // The float model behind a cut; the whole model for -1. Made once: variants are edits of it.
  Result<ModelPointer> behind(int cut) {
    if (cut < 0) return base_;
    const auto place = static_cast<std::size_t>(cut);
    if (place >= behind_.size()) return no_such("cut");
    if (behind_[place] == nullptr) {
      Result<ModelPointer> part = subgraph(base_, cuts_.cuts()[place].tensors, scored_);
      if (!part.ok()) return part;
      behind_[place] = std::move(part).value();
    }
    return behind_[place];
  }

  [[nodiscard]] std::vector<std::string> cut_tensors() const {
    std::vector<std::string> names;
    const Graph& graph = base_->graph();
    for (const Cut& cut : cuts_.cuts()) {
      for (const std::string& name : cut.tensors) {
        if (!graph.tensor(graph.find_tensor(name)).graph_input) names.push_back(name);
      }
    }
    return names;
  }

  Result<ModelPointer> group(int index, int cut) {
    const auto place = static_cast<std::size_t>(index);
    if (index < 0 || place >= groups_.size()) return no_such("group");
    const Result<ModelPointer> model = behind(cut);
    if (!model.ok()) return model;
    if (!disabling_) return simulated(model.value(), sites_of(groups_[place]));
    std::vector<const Site*> others = quantized_sites({});
    const auto off = [&](const std::string& tensor) {
      const auto& sites = groups_[place].sites;
      return std::find(sites.begin(), sites.end(), tensor) != sites.end();
    };
    // A bias is int32 at the product of two scales: without one of them it is float.
    std::erase_if(others, [&](const Site* site) {
      return off(site->tensor) ||
             (site->bias_of && (off(site->bias_of->activation) || off(site->bias_of->weight)));
    });
    return simulated(model.value(), others);
  }

  Result<ModelPointer> simulated(const ModelPointer& model, const std::vector<const Site*>& sites) const {
    return simulated_sites(model, sites, planned_.encodings);
  }

  // Those that have an encoding. A bias is on with everything else, and never with a part.
  [[nodiscard]] std::vector<const Site*> quantized_sites(std::optional<Role> role) const {
    std::vector<const Site*> sites;
    for (const Site& site : planned_.plan.sites) {
      if (site.quantized && (!role || site.role == *role) && planned_.encodings.find(site.tensor) != nullptr)
        sites.push_back(&site);
    }
    return sites;
  }

  // A switch for every weight and activation, called TENSOR_gate.
  [[nodiscard]] Result<ModelPointer> gated() const {
    std::vector<const Site*> sites = quantized_sites({});
    std::erase_if(sites, [](const Site* site) { return site->role == Role::kBias; });
    Result<GatedModel> made = gated_model(base_, sites, planned_.encodings);
    if (!made.ok()) return made.error();
    return std::move(made).value().model;
  }

  [[nodiscard]] std::vector<std::string> made_activations() const {
    std::vector<std::string> names;
    const Graph& graph = base_->graph();
    for (const Site& site : planned_.plan.sites) {
      const TensorId id = graph.find_tensor(site.tensor);
      if (site.role != Role::kActivation || id == kNone) continue;
      const GraphTensor& tensor = graph.tensor(id);
      if (tensor.producer != kNone && !tensor.constant) names.push_back(site.tensor);
    }
    return names;
  }

  // Every activation as its readers see it: behind its quantizer, under its own name.
  Result<ModelPointer> simulated_tensors() const {
    const std::vector<std::string> names = made_activations();
    const Result<ModelPointer> model = with_outputs(base_, names);
    if (!model.ok()) return model;
    const Graph& graph = base_->graph();
    std::vector<Site> serving;
    for (const Site* site : quantized_sites({})) {
      serving.push_back(*site);
      serving.back().serves_output =
          site->role == Role::kActivation && graph.tensor(graph.find_tensor(site->tensor)).producer != kNone;
    }
    std::vector<const Site*> sites;
    for (const Site& site : serving) sites.push_back(&site);
    return simulated(model.value(), sites);
  }

  ModelPointer base_;
  PlannedModel planned_;
  std::vector<std::string> scored_;
  std::vector<QuantizerGroup> groups_;
  bool disabling_;
  SweepCuts cuts_;
  std::vector<ModelPointer> behind_;  // by cut; nullptr until it is wanted
  std::unordered_map<std::string, const Site*> sites_;
};

val skipped_sites_to_js(const PlannedModel& planned) {
  val list = val::array();
  for (const Site& site : planned.plan.sites) {
    if (!site.quantized || site.role == Role::kBias || planned.encodings.find(site.tensor) != nullptr)
      continue;
    val entry = val::object();
    entry.set("name", site.tensor);
    entry.set("why", "it has no encoding");
    list.call<void>("push", entry);
  }
  return list;
}

// Groups from outside name sites of the plan that can be scored.
Result<std::vector<QuantizerGroup>> given_groups(const PlannedModel& planned, const val& list) {
  std::unordered_map<std::string, const Site*> sites;
  for (const Site& site : planned.plan.sites) sites[site.tensor] = &site;
  std::vector<QuantizerGroup> groups;
  const std::size_t count = list["length"].as<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    QuantizerGroup group;
    group.key = list[i]["key"].as<std::string>();
    group.sites = strings_from_js(list[i]["sites"]);
    for (const std::string& tensor : group.sites) {
      const auto site = sites.find(tensor);
      if (site == sites.end() || !site->second->quantized || site->second->role == Role::kBias ||
          planned.encodings.find(tensor) == nullptr) {
        return Error{ErrorCode::kInvalidPolicy, "The group names a tensor that has no quantizer to score.",
                     printable(tensor), "Group the plan's quantized weights and activations."};
      }
      group.detail += (group.detail.empty() ? "" : ", ") + tensor;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

Result<std::vector<QuantizerGroup>> chosen_groups(const Model& model, const PlannedModel& planned,
                                                  const val& choice) {
  const val given = choice["groups"];
  if (!given.isNull()) return given_groups(planned, given);
  Grouping grouping;
  grouping.by = choice["by"].as<std::string>();
  grouping.only = choice["only"].as<std::string>();
  return quantizer_groups(model, planned.plan, planned.encodings, grouping);
}

// What the default choice scores beyond `scored`: should the scores saturate, these don't.
std::vector<std::string> unsaturated(const Model& model, const std::vector<std::string>& scored) {
  Result<std::vector<std::string>> better = scored_tensors(model, "");
  if (!better.ok()) return {};
  std::erase_if(better.value(), [&](const std::string& name) {
    return std::find(scored.begin(), scored.end(), name) != scored.end();
  });
  return std::move(better).value();
}

}  // namespace

val create_sweep(const std::shared_ptr<ModelHandle>& handle, const std::string& plan_json,
                 const std::string& encodings_json, const val& choice) {
  return guarded([&] {
    const ModelPointer& model = handle->model();
    if (!model) {
      return failure(
          Error{ErrorCode::kInvalidState, "The model is not open yet.", "", "Wait until opening has ended."});
    }
    Result<PlannedModel> planned = read_plan(*model, plan_json, encodings_json);
    if (!planned.ok()) return failure(planned.error());
    const Result<std::vector<Change>> settled = settle_biases(*model, planned.value());
    if (!settled.ok()) return failure(settled.error());
    const std::vector<std::string> choices = strings_from_js(choice["score"]);
    const Result<std::vector<std::string>> scored =
        scored_tensors(*model, std::span<const std::string>(choices));
    if (!scored.ok()) return failure(scored.error());
    Result<std::vector<QuantizerGroup>> groups = chosen_groups(*model, planned.value(), choice);
    if (!groups.ok()) return failure(groups.error());
    const Result<ModelPointer> base =
        with_outputs(raised_once(*handle, planned.value().plan), scored.value());
    if (!base.ok()) return failure(base.error());
    val answer = val::object();
    answer.set("scored", strings_to_js(scored.value()));
    answer.set("unsaturated", strings_to_js(unsaturated(*model, scored.value())));
    answer.set("skipped", skipped_sites_to_js(planned.value()));
    const auto sweep =
        std::make_shared<SweepJob>(base.value(), std::move(planned).value(), scored.value(),
                                   std::move(groups).value(), choice["sweep"].as<std::string>() == "disable");
    answer.set("activations", sweep->activations());
    answer.set("groups", sweep->groups());
    answer.set("cuts", sweep->cuts());
    answer.set("cutOf", sweep->cut_of_groups());
    answer.set("switchable", sweep->switchable_groups());
    answer.set("job", val(std::shared_ptr<Job>(sweep)));
    return success(answer);
  });
}

}  // namespace halftone::wasm
