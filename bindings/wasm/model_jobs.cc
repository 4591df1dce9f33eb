#include "model_jobs.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conversions.h"
#include "halftone/exchange.h"
#include "halftone/rewrite.h"
#include "halftone/sensitivity.h"
#include "halftone/subgraph.h"
#include "halftone/sweep_cuts.h"
#include "halftone/writer.h"
#include "reports.h"

namespace halftone::wasm {
namespace {

Error not_open() {
  return Error{ErrorCode::kInvalidState, "The model is not open yet.", "", "Wait until opening has ended."};
}

struct PlannedModel {
  Plan plan;
  Encodings encodings;
};

Result<PlannedModel> read_plan(const Model& model, const std::string& plan_json,
                               const std::string& encodings_json) {
  Result<Plan> plan = plan_from_json(plan_json);
  if (!plan.ok()) return plan.error();
  if (const Result<void> checked = check_plan(model, plan.value()); !checked.ok()) return checked.error();
  Result<Encodings> encodings = encodings_from_json(encodings_json);
  if (!encodings.ok()) return encodings.error();
  return PlannedModel{std::move(plan).value(), std::move(encodings).value()};
}

// Calibration leaves out a bias whose codes would overflow, while the plan still has it quantized; a bias may
// also miss its encoding because the file was written for another plan. Both are decided here once more, and
// said.
Result<std::vector<Change>> settle_biases(const Model& model, PlannedModel& planned) {
  std::vector<Change> changes;
  for (Site& site : planned.plan.sites) {
    if (!site.quantized || site.role != Role::kBias || planned.encodings.find(site.tensor) != nullptr)
      continue;
    Result<Encoding> encoding = bias_encoding(model, site, planned.encodings);
    if (encoding.ok()) {
      planned.encodings.set(site.tensor, std::move(encoding).value());
      continue;
    }
    if (encoding.error().code == ErrorCode::kInvalidState) return encoding.error();
    site.quantized = false;
    site.rule = "bias_overflow";
    site.why = "Stays float: " + encoding.error().message;
    changes.push_back({"The bias stays float: " + encoding.error().message, site.tensor});
  }
  return changes;
}

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

// Every variant of a model whose opset is too old for its pairs would otherwise be converted on its own.
// Where the converter can't raise the model, the variants that don't need it still work.
std::shared_ptr<const Model> raised_once(const std::shared_ptr<const Model>& model, const Plan& plan) {
  if (model->graph().opset() >= plan.opset_needed) return model;
  Result<std::shared_ptr<const Model>> raised = model->with_opset(plan.opset_needed);
  return raised.ok() && check_plan(*raised.value(), plan).ok() ? raised.value() : model;
}

// A cut costs a session and a run of each sample before it saves anything.
constexpr std::size_t kVariantsPerCut = 16;
constexpr std::size_t kMostCuts = 12;

class SweepJob final : public Job {
 public:
  SweepJob(const std::shared_ptr<const Model>& base, PlannedModel planned, std::vector<std::string> scored)
      : base_(raised_once(base, planned.plan)),
        planned_(std::move(planned)),
        scored_(std::move(scored)),
        cuts_(base_->graph(), scored_, std::min(kMostCuts, planned_.plan.sites.size() / kVariantsPerCut)),
        behind_(cuts_.cuts().size()) {
    for (const Site& site : planned_.plan.sites) sites_[site.tensor] = &site;
  }

  [[nodiscard]] val cuts() const {
    val list = val::array();
    for (const Cut& cut : cuts_.cuts()) list.call<void>("push", strings_to_js(cut.tensors));
    return list;
  }

  // By site, in the order of the plan: the number of its cut, -1 for the whole model.
  [[nodiscard]] val cut_of_sites() const {
    val list = val::array();
    for (const Site& site : planned_.plan.sites) list.call<void>("push", cuts_.cut_for(base_->graph(), site));
    return list;
  }

  val skeleton(const std::string& kind, const std::string& name, int cut) override {
    return guarded([&] {
      const Result<std::shared_ptr<const Model>> model = make(kind, name, cut);
      if (!model.ok()) return failure(model.error());
      const Result<val> written = skeleton_to_js(model.value());
      return written.ok() ? success(written.value()) : failure(written.error());
    });
  }

 private:
  Result<std::shared_ptr<const Model>> make(std::string_view kind, const std::string& name, int cut) {
    if (kind == "float") return behind(cut);
    if (kind == "cuts") return with_outputs(base_, cut_tensors());
    if (kind == "variant") return variant(name, cut);
    if (kind == "simulated") return simulated_model(base_, planned_.plan, planned_.encodings);
    if (kind != "quantized")
      return Error{ErrorCode::kInternal, "There is no such kind of variant.", std::string(kind), ""};
    Result<QuantizedModel> quantized = insert_qdq(base_, planned_.plan, planned_.encodings, {});
    if (!quantized.ok()) return quantized.error();
    return quantized.value().model;
  }

  // The float model behind a cut; the whole model for -1. Made once: variants are edits of it.
  Result<std::shared_ptr<const Model>> behind(int cut) {
    if (cut < 0) return base_;
    const auto place = static_cast<std::size_t>(cut);
    if (place >= behind_.size()) return Error{ErrorCode::kInternal, "There is no such cut.", "", ""};
    if (behind_[place] == nullptr) {
      Result<std::shared_ptr<const Model>> part = subgraph(base_, cuts_.cuts()[place].tensors, scored_);
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

  Result<std::shared_ptr<const Model>> variant(const std::string& name, int cut) {
    const auto site = sites_.find(name);
    const Encoding* encoding = planned_.encodings.find(name);
    if (site == sites_.end() || encoding == nullptr) {
      return Error{ErrorCode::kInvalidState, "There is no quantizer with an encoding of this name.",
                   printable(name), "Calibrate with this plan first."};
    }
    const Result<std::shared_ptr<const Model>> base = behind(cut);
    return base.ok() ? single_site_variant(base.value(), *site->second, *encoding) : base;
  }

  std::shared_ptr<const Model> base_;
  PlannedModel planned_;
  std::vector<std::string> scored_;
  SweepCuts cuts_;
  std::vector<std::shared_ptr<const Model>> behind_;  // by cut; nullptr until it is wanted
  std::unordered_map<std::string, const Site*> sites_;
};

class ExportJob final : public Job {
 public:
  explicit ExportJob(WrittenModel written) : written_(std::move(written)) {}

  val read(int part, double offset, double length) override {
    return guarded([&] {
      const Result<std::uint64_t> from = size_from_js(offset);
      const Result<std::uint64_t> wanted = size_from_js(length);
      const ByteRope& rope = part == 0 ? written_.model : written_.external_data;
      if (!from.ok() || !wanted.ok() || from.value() > rope.size() ||
          wanted.value() > rope.size() - from.value()) {
        return failure(
            Error{ErrorCode::kInternal, "A part outside the written model was asked for.", "", ""});
      }
      return success(pieces_to_js(rope.pieces(), from.value(), wanted.value()));
    });
  }

  [[nodiscard]] const WrittenModel& written() const { return written_; }

 private:
  WrittenModel written_;
};

val changes_to_js(const std::vector<Change>& changes) {
  val list = val::array();
  for (const Change& change : changes) {
    val entry = val::object();
    entry.set("what", change.what);
    entry.set("where", change.where);
    list.call<void>("push", entry);
  }
  return list;
}

Result<WrittenModel> write_quantized(const std::shared_ptr<const Model>& model,
                                     const std::string& external_location) {
  const WeightPlacement placement =
      external_location.empty() ? WeightPlacement::kInside : WeightPlacement::kExternalFile;
  return write_model(model, {.placement = placement, .external_location = external_location});
}

}  // namespace

val create_sweep(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                 const std::string& encodings_json, const std::string& score) {
  return guarded([&] {
    if (!model->model()) return failure(not_open());
    Result<PlannedModel> planned = read_plan(*model->model(), plan_json, encodings_json);
    if (!planned.ok()) return failure(planned.error());
    const Result<std::vector<Change>> settled = settle_biases(*model->model(), planned.value());
    if (!settled.ok()) return failure(settled.error());
    const Result<std::vector<std::string>> scored = scored_tensors(*model->model(), score);
    if (!scored.ok()) return failure(scored.error());
    const Result<std::shared_ptr<const Model>> base = with_outputs(model->model(), scored.value());
    if (!base.ok()) return failure(base.error());
    val answer = val::object();
    answer.set("scored", strings_to_js(scored.value()));
    answer.set("skipped", skipped_sites_to_js(planned.value()));
    const auto sweep = std::make_shared<SweepJob>(base.value(), std::move(planned).value(), scored.value());
    answer.set("cuts", sweep->cuts());
    answer.set("cutOf", sweep->cut_of_sites());
    answer.set("job", val(std::shared_ptr<Job>(sweep)));
    return success(answer);
  });
}

val create_export(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                  const std::string& encodings_json, const val& provenance,
                  const std::string& external_location) {
  return guarded([&] {
    if (!model->model()) return failure(not_open());
    Result<PlannedModel> planned = read_plan(*model->model(), plan_json, encodings_json);
    if (!planned.ok()) return failure(planned.error());
    Result<std::vector<Change>> settled = settle_biases(*model->model(), planned.value());
    if (!settled.ok()) return failure(settled.error());
    std::vector<Change> changes = std::move(settled).value();
    const Provenance origin{provenance["method"].as<std::string>(),
                            static_cast<std::int64_t>(provenance["samples"].as<double>()),
                            provenance["random"].isTrue()};
    Result<QuantizedModel> quantized =
        insert_qdq(model->model(), planned.value().plan, planned.value().encodings, origin);
    if (!quantized.ok()) return failure(quantized.error());
    const Model& made = *quantized.value().model;
    Result<WrittenModel> written = write_quantized(quantized.value().model, external_location);
    if (!written.ok()) return failure(written.error());
    changes.insert(changes.end(), quantized.value().changes.begin(), quantized.value().changes.end());
    val answer = val::object();
    answer.set("modelBytes", static_cast<double>(written.value().model.size()));
    answer.set("externalBytes", static_cast<double>(written.value().external_data.size()));
    answer.set("nodes", static_cast<double>(made.graph().nodes().size()));
    const QuantizedNodeStatistics statistics = print_stat(made.graph());
    answer.set("quantizedNodes", quantized_type_counts_to_js(statistics));
    answer.set("quantizedNodeNames", strings_to_js(statistics.quantized_node_names));
    answer.set("concatGroups",
               scale_growth_to_js(scale_growth(planned.value().plan, planned.value().encodings)));
    answer.set("sizesByType", sizes_by_type_to_js(made));
    answer.set("sites", site_counts_to_js(planned.value().plan));
    answer.set("changes", changes_to_js(changes));
    answer.set("warnings", warnings_to_js(made.warnings()));
    std::shared_ptr<Job> job = std::make_shared<ExportJob>(std::move(written).value());
    answer.set("job", val(job));
    return success(answer);
  });
}

}  // namespace halftone::wasm
