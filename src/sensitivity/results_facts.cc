#include "sensitivity/results_facts.h"

namespace halftone {
namespace {

// Names may hold anything, so their lengths tell lists apart that a separator wouldn't.
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += std::to_string(name.size()) + ":" + name;
  return text;
}

}  // namespace

std::vector<ResultsFact> results_facts(const SensitivityResults& results) {
  return {{"model", results.model_sha256},
          {"plan", results.plan_sha256},
          {"set of encodings", results.encodings_sha256},
          {"set of samples", results.samples_sha256, true},
          {"number of samples", std::to_string(results.samples), true},
          {"target", results.target},
          {"method of calibration", results.method},
          {"metric", results.metric},
          {"k", results.k ? std::to_string(*results.k) : ""},
          {"direction", results.higher_is_worse ? "higher" : "lower"},
          {"list of scored tensors", listed(results.scored), true},
          {"grouping", results.by, true},
          {"kind of sweep", results.sweep, true},
          {"kind of quantizers", results.only, true}};
}

}  // namespace halftone
