// The list of what JavaScript sees: two handle classes, and functions that make them. See the headers for
// what each does.
#include <emscripten/bind.h>

#include <string>

#include "codec_jobs.h"
#include "conversions.h"
#include "halftone/statistics.h"
#include "halftone/version.h"
#include "job.h"
#include "live_objects.h"
#include "measuring_jobs.h"
#include "mixed_jobs.h"
#include "model_handle.h"
#include "model_jobs.h"
#include "results.h"
#include "scoring.h"
#include "sweep_job.h"
#include "switching.h"
#include "tensor_job.h"

namespace {

using namespace halftone;        // NOLINT(google-build-using-namespace)
using namespace halftone::wasm;  // NOLINT(google-build-using-namespace)

std::string version() { return std::string(kVersion); }
std::string commit() { return std::string(version_commit()); }
std::string instruction_set() { return std::string(active_instruction_set()); }
double memory_bytes() { return static_cast<double>(__builtin_wasm_memory_size(0)) * 65536.0; }
int live_objects() { return LiveObject::count(); }

// The wire names of all codes, so that a test can compare them with the mirror in TypeScript.
val error_codes() {
  val list = val::array();
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    list.call<void>("push", std::string(error_code_name(static_cast<ErrorCode>(code))));
  }
  return list;
}

}  // namespace

EMSCRIPTEN_BINDINGS(halftone) {
  emscripten::class_<ModelHandle>("Model")
      .smart_ptr<std::shared_ptr<ModelHandle>>("ModelPointer")
      .function("next", &ModelHandle::next)
      .function("commit", &ModelHandle::commit)
      .function("parse", &ModelHandle::parse)
      .function("beginExternal", &ModelHandle::begin_external)
      .function("finish", &ModelHandle::finish)
      .function("inspect", &ModelHandle::inspect)
      .function("plan", &ModelHandle::plan)
      .function("checkPlan", &ModelHandle::check_plan)
      .function("shapesToMeasure", &ModelHandle::shapes_to_measure)
      .function("previewPatterns", &ModelHandle::preview_patterns)
      .function("scored", &ModelHandle::scored)
      .function("targets", &ModelHandle::targets)
      .function("outputs", &ModelHandle::outputs)
      .function("graph", &ModelHandle::graph)
      .function("encodings", &ModelHandle::encodings)
      .function("statistics", &ModelHandle::statistics);

  emscripten::class_<Job>("Job")
      .smart_ptr<std::shared_ptr<Job>>("JobPointer")
      .function("skeleton", &Job::skeleton)
      .function("switched", &Job::switched)
      .function("feed", &Job::feed)
      .function("read", &Job::read)
      .function("result", &Job::result);

  emscripten::class_<MixedSearch>("MixedSearch")
      .smart_ptr<std::shared_ptr<MixedSearch>>("MixedSearchPointer")
      .function("cost", &MixedSearch::cost)
      .function("skeleton", &MixedSearch::skeleton)
      .function("changes", &MixedSearch::changes);

  emscripten::class_<TensorJob>("TensorJob")
      .smart_ptr<std::shared_ptr<TensorJob>>("TensorJobPointer")
      .function("next", &TensorJob::next)
      .function("commit", &TensorJob::commit)
      .function("take", &TensorJob::take)
      .function("result", &TensorJob::result);

  emscripten::function("createModel", &ModelHandle::create);
  emscripten::function("createSweep", &create_sweep);
  emscripten::function("createExport", &create_export);
  emscripten::function("createObservers", &create_observers);
  emscripten::function("createComparison", &create_comparison);
  emscripten::function("createReport", &create_report);
  emscripten::function("createMixed", &create_mixed);
  emscripten::function("shapesForCost", &shapes_for_cost_of);
  emscripten::function("modelCost", &cost_of);
  emscripten::function("flipRows", &flip_rows_of);
  emscripten::function("switchOn", &switch_on_values);
  emscripten::function("metricTerms", &metric_terms_of);
  emscripten::function("metricScore", &metric_score_of);
  emscripten::function("jackknife", &jackknife);
  emscripten::function("rankResults", &rank_results);
  emscripten::function("mergeResults", &merge_results_of);
  emscripten::function("compareResults", &compare_results_of);
  emscripten::function("listFormats", &list_formats);
  emscripten::function("createEncoder", &create_encoder);
  emscripten::function("createDecoder", &create_decoder);
  emscripten::function("decodeStored", &decode_stored);
  emscripten::function("createTrial", &create_trial);
  emscripten::function("createConstantTrial", &create_constant_trial);
  emscripten::function("weightsOf", &weights_of);
  emscripten::function("errorCodes", &error_codes);
  emscripten::function("liveObjects", &live_objects);
  emscripten::function("memoryBytes", &memory_bytes);
  emscripten::function("version", &version);
  emscripten::function("commit", &commit);
  emscripten::function("instructionSet", &instruction_set);
}
