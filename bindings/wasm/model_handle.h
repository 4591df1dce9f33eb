// A model in JavaScript's hands: first its loader, then the model.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "halftone/model.h"
#include "live_objects.h"

namespace halftone::wasm {

// Every method returns a result object (see conversions.h) unless it says otherwise. After a failure while
// loading only destruction makes sense. Methods on an open model answer kInvalidState before finish()
// succeeded.
class ModelHandle {
 public:
  // A handle whose loader has room for a file of `file_bytes`; the value is the handle.
  static emscripten::val create(double file_bytes);

  explicit ModelHandle(ModelLoader loader);

  // A view of core memory, to be filled at once and then committed; empty when the file is complete. No
  // result object.
  emscripten::val next(double wanted);
  emscripten::val commit(double bytes);
  // [{location, minBytes}] of the external data files that are needed.
  emscripten::val parse();
  emscripten::val begin_external(const std::string& location, double file_bytes);
  emscripten::val finish();

  // Files' JSON as text.
  emscripten::val inspect(const std::string& name, const std::string& sha256) const;
  emscripten::val plan(const emscripten::val& options, const std::string& name,
                       const std::string& sha256) const;
  // Names of the tensors whose shapes a plan with these options wants from a sample.
  emscripten::val shapes_to_measure(const emscripten::val& options) const;
  emscripten::val check_plan(const std::string& plan_json) const;
  // [{pattern, nodes, tensors, near_misses}]: what each include or exclude pattern would take.
  emscripten::val preview_patterns(const emscripten::val& patterns) const;
  // Names of the tensors that `choice` scores.
  emscripten::val scored(const std::string& choice) const;
  // [{tensor, graphInput, bytes}]: quantized activations of the plan (empty text: none), then `tensors`.
  emscripten::val targets(const std::string& plan_json, const emscripten::val& tensors) const;
  // {inputs, outputs, nodes: [{label, op, inputs, outputs}], constants}, tensors by name.
  emscripten::val graph() const;
  // The model with these outputs added, as a skeleton. With a plan (JSON, or empty): what that plan's
  // activations are observed on.
  emscripten::val outputs(const emscripten::val& tensors, const std::string& plan_json) const;
  // {plan, encodings} as text. `tensors`, `minima` and `maxima` are the observed ranges.
  emscripten::val encodings(const std::string& plan_json, const emscripten::val& tensors,
                            const emscripten::val& minima, const emscripten::val& maxima,
                            const emscripten::val& facts) const;
  // Statistics of a constant.
  emscripten::val statistics(const std::string& tensor, int bins, const std::string& encoding_json) const;

  [[nodiscard]] const std::shared_ptr<const Model>& model() const { return model_; }
  // The model at `opset` or above. Converting takes longer than the rest of a sweep's start, so the last
  // conversion is kept. Errors: those of Model::with_opset.
  Result<std::shared_ptr<const Model>> at_opset(std::int64_t opset);

 private:
  LiveObject live_;
  std::optional<ModelLoader> loader_;
  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Model> converted_;
};

}  // namespace halftone::wasm
