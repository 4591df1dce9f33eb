// The list of what JavaScript sees of the core: handle classes, and functions that make them. See the headers
// for what each does. Number formats have a module of their own (format_bindings.cc).
#include <emscripten/bind.h>

#include "job.h"
#include "measuring_jobs.h"
#include "mixed_jobs.h"
#include "model_handle.h"
#include "model_jobs.h"
#include "results.h"
#include "scoring.h"
#include "sweep_job.h"
#include "switching.h"

using namespace halftone::wasm;  // NOLINT(google-build-using-namespace)

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
      .function("firstOrder", &Job::first_order)
      .function("feed", &Job::feed)
      .function("read", &Job::read)
      .function("result", &Job::result);

  emscripten::class_<MixedSearch>("MixedSearch")
      .smart_ptr<std::shared_ptr<MixedSearch>>("MixedSearchPointer")
      .function("cost", &MixedSearch::cost)
      .function("skeleton", &MixedSearch::skeleton)
      .function("changes", &MixedSearch::changes);

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
}
