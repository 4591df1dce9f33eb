#include "planned_model.h"

#include <utility>

#include "halftone/exchange.h"

namespace halftone::wasm {

Result<PlannedModel> read_plan(const Model& model, const std::string& plan_json,
                               const std::string& encodings_json) {
  Result<Plan> plan = plan_from_json(plan_json);
  if (!plan.ok()) return plan.error();
  if (const Result<void> checked = check_plan(model, plan.value()); !checked.ok()) return checked.error();
  Result<Encodings> encodings = encodings_from_json(encodings_json);
  if (!encodings.ok()) return encodings.error();
  return PlannedModel{std::move(plan).value(), std::move(encodings).value()};
}

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

}  // namespace halftone::wasm
