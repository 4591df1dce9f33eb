#include "mixed_jobs.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "conversions.h"
#include "halftone/exchange.h"
#include "halftone/rewrite.h"
#include "halftone/sensitivity.h"

namespace halftone::wasm {
namespace {

Error not_open() {
  return Error{ErrorCode::kInvalidState, "The model is not open yet.", "", "Wait until opening has ended."};
}

val cost_to_js(const ModelCost& cost) {
  val entry = val::object();
  entry.set("weight_bytes", static_cast<double>(cost.weight_bytes));
  entry.set("macs", static_cast<double>(cost.macs));
  entry.set("bit_ops", static_cast<double>(cost.bit_ops));
  entry.set("unknown", strings_to_js(cost.unknown));
  return entry;
}

std::optional<double> number_from_js(const val& number) {
  return number.isNumber() ? std::optional<double>(number.as<double>()) : std::nullopt;
}

FlipChoice choice_from_js(const val& request) {
  FlipChoice choice;
  choice.worst = number_from_js(request["worst"]);
  choice.percent = number_from_js(request["percent"]);
  choice.threshold = number_from_js(request["threshold"]);
  if (request["names"].isArray()) choice.names = strings_from_js(request["names"]);
  return choice;
}

Result<Precision> precision_from_js(const val& request) {
  return precision_from_names(request["activations"].as<std::string>(), request["weights"].as<std::string>());
}

bool same(const Site& a, const Site& b) {
  return a.quantized == b.quantized && a.format == b.format && a.granularity == b.granularity &&
         a.axis == b.axis && a.rule == b.rule && a.why == b.why;
}

bool same(const InputDecision& a, const InputDecision& b) {
  return a.quantized == b.quantized && a.rule == b.rule && a.why == b.why;
}

template <typename T>
std::vector<T> changed(const std::vector<T>& before, const std::vector<T>& after) {
  std::vector<T> list;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!same(before[i], after[i])) list.push_back(after[i]);
  }
  return list;
}

// {plan, encodings, dropped, warnings}: of the files only what is new, since most of them is not, and is
// large. A flip keeps number and order of sites and inputs.
val changes_to_js(const PlannedModel& before, const FlippedPlan& flipped, const Encodings& encodings) {
  Plan plan;
  plan.sites = changed(before.plan.sites, flipped.plan.sites);
  plan.inputs = changed(before.plan.inputs, flipped.plan.inputs);
  Encodings fresh;
  for (const auto& [tensor, encoding] : encodings.all()) {
    const Encoding* old = before.encodings.find(tensor);
    if (old == nullptr || old->format != encoding.format || old->scale != encoding.scale ||
        old->zero_point != encoding.zero_point)
      fresh.set(tensor, encoding);
  }
  val dropped = val::array();
  for (const auto& [tensor, encoding] : before.encodings.all()) {
    if (encodings.find(tensor) == nullptr) dropped.call<void>("push", tensor);
  }
  val answer = val::object();
  answer.set("plan", plan_to_json(plan, {}));
  answer.set("encodings", encodings_to_json(fresh, {}, "", 0));
  answer.set("dropped", dropped);
  answer.set("warnings", warnings_to_js(flipped.warnings));
  return answer;
}

// Only a ranking of single quantizers that were on alone says what each adds.
std::optional<double> prediction(const SensitivityResults& results, const PlannedModel& before,
                                 const Plan& after, const Encodings& encodings) {
  if (results.by != "quantizer" || results.metric != "psnr" || results.sweep == "disable") return {};
  return predicted_score(results.ranking, before.plan, before.encodings, after, encodings);
}

Result<FlippedPlan> all_raised(const Model& model, const Plan& plan, const Precision& to) {
  std::vector<std::string> sites;
  for (const Site& site : plan.sites) {
    if (site.quantized && site.role != Role::kBias) sites.push_back(site.tensor);
  }
  return flip_sites(model, plan, sites, to);
}

// All models of a search have one opset, so that they differ by their quantizers only.
Result<std::shared_ptr<const Model>> search_base(const std::shared_ptr<const Model>& model,
                                                 const std::vector<std::string>& scored, std::int64_t opset) {
  Result<std::shared_ptr<const Model>> base = with_outputs(model, scored);
  if (!base.ok() || base.value()->graph().opset() >= opset) return base;
  return base.value()->with_opset(opset);
}

// Sites that flip to `to`, each with those that have to change with it.
std::vector<std::vector<std::string>> candidates_of(const Model& model, const Plan& plan,
                                                    const FlippedPlan& all, const Precision& to) {
  std::vector<std::vector<std::string>> candidates;
  std::unordered_set<std::string> taken;
  const bool groups = std::any_of(plan.sites.begin(), plan.sites.end(),
                                  [](const Site& site) { return site.quantized && site.scale_group; });
  for (const std::string& tensor : all.flipped) {
    if (taken.contains(tensor)) continue;
    std::vector<std::string> together = {tensor};
    if (groups) {
      const Result<FlippedPlan> alone = flip_sites(model, plan, together, to);
      if (alone.ok()) together = alone.value().flipped;
    }
    taken.insert(together.begin(), together.end());
    candidates.push_back(std::move(together));
  }
  return candidates;
}

}  // namespace

val shapes_for_cost_of(const std::shared_ptr<ModelHandle>& handle) {
  return guarded([&] {
    if (!handle->model()) return failure(not_open());
    return success(strings_to_js(shapes_for_cost(*handle->model())));
  });
}

val cost_of(const std::shared_ptr<ModelHandle>& handle, const std::string& plan_json, const val& shapes) {
  return guarded([&] {
    if (!handle->model()) return failure(not_open());
    const Result<PlannedModel> planned = read_plan(*handle->model(), plan_json, R"({"encodings":{}})");
    if (!planned.ok()) return failure(planned.error());
    return success(cost_to_js(model_cost(*handle->model(), planned.value().plan, shapes_from_js(shapes))));
  });
}

val flip_rows_of(const std::shared_ptr<ModelHandle>& handle, const val& texts, const val& request,
                 const val& shapes) {
  return guarded([&] {
    if (!handle->model()) return failure(not_open());
    const Model& model = *handle->model();
    const Result<PlannedModel> planned =
        read_plan(model, texts["plan"].as<std::string>(), texts["encodings"].as<std::string>());
    if (!planned.ok()) return failure(planned.error());
    const Result<SensitivityResults> results = sensitivity_from_json(texts["results"].as<std::string>());
    if (!results.ok()) return failure(results.error());
    const Result<Precision> to = precision_from_js(request);
    if (!to.ok()) return failure(to.error());
    const PlannedModel& before = planned.value();
    Result<FlippedPlan> flipped =
        flip_rows(model, before.plan, before.encodings, results.value(), choice_from_js(request), to.value());
    if (!flipped.ok()) return failure(flipped.error());
    Encodings encodings = before.encodings;
    const Result<void> coded = recode(model, flipped.value().plan, encodings);
    if (!coded.ok()) return failure(coded.error());
    const MeasuredShapes measured = shapes_from_js(shapes);
    val answer = changes_to_js(before, flipped.value(), encodings);
    answer.set("flipped", strings_to_js(flipped.value().flipped));
    answer.set("before", cost_to_js(model_cost(model, before.plan, measured)));
    answer.set("after", cost_to_js(model_cost(model, flipped.value().plan, measured)));
    answer.set("predicted",
               number_or_null(prediction(results.value(), before, flipped.value().plan, encodings)));
    return success(answer);
  });
}

MixedSearch::MixedSearch(std::shared_ptr<const Model> model, std::shared_ptr<const Model> base,
                         PlannedModel given, PlannedModel planned, Precision to, MeasuredShapes shapes)
    : model_(std::move(model)),
      base_(std::move(base)),
      given_(std::move(given)),
      planned_(std::move(planned)),
      to_(to),
      shapes_(std::move(shapes)) {}

Result<FlippedPlan> MixedSearch::raised(const val& tensors) const {
  return flip_sites(*model_, planned_.plan, strings_from_js(tensors), to_);
}

val MixedSearch::cost(const val& tensors) const {
  return guarded([&] {
    const Result<FlippedPlan> flipped = raised(tensors);
    if (!flipped.ok()) return failure(flipped.error());
    return success(cost_to_js(model_cost(*model_, flipped.value().plan, shapes_)));
  });
}

val MixedSearch::skeleton(const val& tensors) const {
  return guarded([&] {
    Result<std::shared_ptr<const Model>> made = base_;
    if (!tensors.isNull()) {
      Result<FlippedPlan> flipped = raised(tensors);
      if (!flipped.ok()) return failure(flipped.error());
      Encodings encodings = planned_.encodings;
      const Result<void> coded = recode(*model_, flipped.value().plan, encodings);
      if (!coded.ok()) return failure(coded.error());
      made = simulated_model(base_, flipped.value().plan, encodings);
    }
    if (!made.ok()) return failure(made.error());
    const Result<val> written = skeleton_to_js(made.value());
    return written.ok() ? success(written.value()) : failure(written.error());
  });
}

val MixedSearch::changes(const val& tensors) const {
  return guarded([&] {
    Result<FlippedPlan> flipped = raised(tensors);
    if (!flipped.ok()) return failure(flipped.error());
    Encodings encodings = planned_.encodings;
    const Result<void> coded = recode(*model_, flipped.value().plan, encodings);
    return coded.ok() ? success(changes_to_js(given_, flipped.value(), encodings)) : failure(coded.error());
  });
}

val create_mixed(const std::shared_ptr<ModelHandle>& handle, const std::string& plan_json,
                 const std::string& encodings_json, const val& request, const val& shapes) {
  return guarded([&] {
    const std::shared_ptr<const Model>& model = handle->model();
    if (!model) return failure(not_open());
    Result<PlannedModel> given = read_plan(*model, plan_json, encodings_json);
    if (!given.ok()) return failure(given.error());
    PlannedModel planned = given.value();
    const Result<std::vector<Change>> settled = settle_biases(*model, planned);
    if (!settled.ok()) return failure(settled.error());
    const Result<Precision> to = precision_from_js(request);
    if (!to.ok()) return failure(to.error());
    const Result<FlippedPlan> all = all_raised(*model, planned.plan, to.value());
    if (!all.ok()) return failure(all.error());
    const std::vector<std::string> choices = strings_from_js(request["score"]);
    const Result<std::vector<std::string>> scored =
        scored_tensors(*model, std::span<const std::string>(choices));
    if (!scored.ok()) return failure(scored.error());
    const auto base = search_base(model, scored.value(), all.value().plan.opset_needed);
    if (!base.ok()) return failure(base.error());
    val candidates = val::array();
    for (const auto& tensors : candidates_of(*model, planned.plan, all.value(), to.value()))
      candidates.call<void>("push", strings_to_js(tensors));
    val answer = val::object();
    answer.set("scored", strings_to_js(scored.value()));
    answer.set("candidates", candidates);
    answer.set("warnings", warnings_to_js(all.value().warnings));
    answer.set("search",
               val(std::make_shared<MixedSearch>(model, base.value(), std::move(given).value(),
                                                 std::move(planned), to.value(), shapes_from_js(shapes))));
    return success(answer);
  });
}

}  // namespace halftone::wasm
