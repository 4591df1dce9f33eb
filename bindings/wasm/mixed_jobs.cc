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

MeasuredShapes shapes_from_js(const val& list) {
  MeasuredShapes shapes;
  const std::size_t count = list["length"].as<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> dims;
    const val shape = list[i][1];
    const std::size_t rank = shape["length"].as<std::size_t>();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const Result<std::uint64_t> dim = size_from_js(shape[axis].as<double>());
      dims.push_back(dim.ok() ? static_cast<std::int64_t>(dim.value()) : -1);
    }
    shapes.emplace_back(list[i][0].as<std::string>(), std::move(dims));
  }
  return shapes;
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

// {plan, encodings, warnings}, the first two as text.
val files_to_js(const FlippedPlan& flipped, const Encodings& encodings, const val& facts) {
  const FileFacts file{facts["name"].as<std::string>(), facts["sha256"].as<std::string>()};
  val answer = val::object();
  answer.set("plan", plan_to_json(flipped.plan, file));
  answer.set("encodings", encodings_to_json(encodings, file, facts["method"].as<std::string>(),
                                            static_cast<std::int64_t>(facts["samples"].as<double>())));
  answer.set("warnings", warnings_to_js(flipped.warnings));
  return answer;
}

// Only a ranking of single quantizers that were on alone says what each adds.
std::optional<double> prediction(const SensitivityResults& results, const PlannedModel& before,
                                 const Plan& after, const Encodings& encodings) {
  if (results.by != "quantizer" || results.metric != "psnr" || results.sweep == "disable") return {};
  return predicted_score(results.ranking, before.plan, before.encodings, after, encodings);
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
    val answer = files_to_js(flipped.value(), encodings, request);
    answer.set("flipped", strings_to_js(flipped.value().flipped));
    answer.set("before", cost_to_js(model_cost(model, before.plan, measured)));
    answer.set("after", cost_to_js(model_cost(model, flipped.value().plan, measured)));
    answer.set("predicted",
               number_or_null(prediction(results.value(), before, flipped.value().plan, encodings)));
    return success(answer);
  });
}

MixedSearch::MixedSearch(std::shared_ptr<const Model> model, std::shared_ptr<const Model> base,
                         PlannedModel planned, Precision to, MeasuredShapes shapes)
    : model_(std::move(model)),
      base_(std::move(base)),
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

val MixedSearch::files(const val& tensors, const val& facts) const {
  return guarded([&] {
    Result<FlippedPlan> flipped = raised(tensors);
    if (!flipped.ok()) return failure(flipped.error());
    Encodings encodings = planned_.encodings;
    const Result<void> coded = recode(*model_, flipped.value().plan, encodings);
    return coded.ok() ? success(files_to_js(flipped.value(), encodings, facts)) : failure(coded.error());
  });
}

val create_mixed(const std::shared_ptr<ModelHandle>& handle, const std::string& plan_json,
                 const std::string& encodings_json, const val& request, const val& shapes) {
  return guarded([&] {
    const std::shared_ptr<const Model>& model = handle->model();
    if (!model) return failure(not_open());
    Result<PlannedModel> planned = read_plan(*model, plan_json, encodings_json);
    if (!planned.ok()) return failure(planned.error());
    const Result<std::vector<Change>> settled = settle_biases(*model, planned.value());
    if (!settled.ok()) return failure(settled.error());
    const Result<Precision> to = precision_from_js(request);
    if (!to.ok()) return failure(to.error());
    const std::vector<std::string> choices = strings_from_js(request["score"]);
    const Result<std::vector<std::string>> scored =
        scored_tensors(*model, std::span<const std::string>(choices));
    if (!scored.ok()) return failure(scored.error());
    std::vector<std::string> sites;
    for (const Site& site : planned.value().plan.sites) {
      if (site.quantized && site.role != Role::kBias) sites.push_back(site.tensor);
    }
    const Result<FlippedPlan> all = flip_sites(*model, planned.value().plan, sites, to.value());
    if (!all.ok()) return failure(all.error());
    Result<std::shared_ptr<const Model>> base = with_outputs(model, scored.value());
    // All models at one opset, so that they differ by their quantizers only.
    if (base.ok() && base.value()->graph().opset() < all.value().plan.opset_needed)
      base = base.value()->with_opset(all.value().plan.opset_needed);
    if (!base.ok()) return failure(base.error());
    val candidates = val::array();
    for (const auto& tensors : candidates_of(*model, planned.value().plan, all.value(), to.value()))
      candidates.call<void>("push", strings_to_js(tensors));
    val answer = val::object();
    answer.set("scored", strings_to_js(scored.value()));
    answer.set("candidates", candidates);
    answer.set("warnings", warnings_to_js(all.value().warnings));
    answer.set("search", val(std::make_shared<MixedSearch>(model, base.value(), std::move(planned).value(),
                                                           to.value(), shapes_from_js(shapes))));
    return success(answer);
  });
}

}  // namespace halftone::wasm
