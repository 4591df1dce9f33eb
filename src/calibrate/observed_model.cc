// Source: AIMET's calibration, which has its weight quantizers at work while it watches activations.
#include <utility>

#include "halftone/encoding.h"
#include "halftone/rewrite.h"

namespace halftone {

Result<std::shared_ptr<const Model>> observed_model(const std::shared_ptr<const Model>& model,
                                                    const Plan& plan) {
  if (plan.target != Target::kAimet) return model;
  Plan weights;
  weights.target = plan.target;
  Encodings encodings;
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role != Role::kWeight) continue;
    Result<Encoding> encoding = weight_encoding(*model, site, float8_scale_of(plan));
    if (!encoding.ok()) return encoding.error();
    encodings.set(site.tensor, std::move(encoding).value());
    weights.sites.push_back(site);
  }
  return weights.sites.empty() ? model : simulated_model(model, weights, encodings);
}

}  // namespace halftone
