// Plans with some quantizers at a higher precision: what they cost, and a search's models.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>
#include <vector>

#include "halftone/mixed_precision.h"
#include "live_objects.h"
#include "model_handle.h"
#include "planned_model.h"

namespace halftone::wasm {

// `shapes` everywhere: [[tensor, [dims]]], of one sample. Every function returns a result object.

// Names of the tensors whose shapes a cost wants from a sample.
emscripten::val shapes_for_cost_of(const std::shared_ptr<ModelHandle>& model);

// {weight_bytes, macs, bit_ops, unknown}
emscripten::val cost_of(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                        const emscripten::val& shapes);

// `texts`: {plan, encodings, results}, files as text. `request`: {worst, percent, threshold, names} of which
// one is set, and {activations, weights}, names or "". Answers {plan, encodings, dropped, flipped, before,
// after, predicted, warnings}; the first two are files as text that hold only the sites, inputs and encodings
// that changed, and `dropped` names the encodings that are no longer there.
emscripten::val flip_rows_of(const std::shared_ptr<ModelHandle>& model, const emscripten::val& texts,
                             const emscripten::val& request, const emscripten::val& shapes);

// The plans between one and what it becomes if everything is raised, for a search that measures them.
class MixedSearch {
 public:
  // `given`: as the caller knows it; `planned`: with its biases settled.
  MixedSearch(std::shared_ptr<const Model> model, std::shared_ptr<const Model> base, PlannedModel given,
              PlannedModel planned, Precision to, MeasuredShapes shapes);

  // The cost with these tensors raised.
  [[nodiscard]] emscripten::val cost(const emscripten::val& tensors) const;
  // The simulated model as a skeleton, the scored tensors among its outputs; null: the float model.
  [[nodiscard]] emscripten::val skeleton(const emscripten::val& tensors) const;
  // {plan, encodings, dropped, warnings} as above.
  [[nodiscard]] emscripten::val changes(const emscripten::val& tensors) const;

 private:
  [[nodiscard]] Result<FlippedPlan> raised(const emscripten::val& tensors) const;

  LiveObject live_;
  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Model> base_;  // at the opset that all of them need, with the scored outputs
  PlannedModel given_;
  PlannedModel planned_;
  Precision to_;
  MeasuredShapes shapes_;
};

// {search, scored: [names], candidates: [[tensors]], warnings}: of each candidate the sites that change
// together, in site order. `request`: {activations, weights, score: [names]}.
emscripten::val create_mixed(const std::shared_ptr<ModelHandle>& model, const std::string& plan_json,
                             const std::string& encodings_json, const emscripten::val& request,
                             const emscripten::val& shapes);

}  // namespace halftone::wasm
