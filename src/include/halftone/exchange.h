// JSON files: plan, encodings, sensitivity results, model summary. UTF-8, two spaces, keys in contract order,
// floats as the shortest text that reads back to the same float32 (scores: to the same double), non-finite
// numbers as null. Reading refuses with kInvalidPolicy and the JSON path in `where`; unknown keys are
// ignored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "halftone/aimet_config.h"
#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"
#include "halftone/sensitivity_results.h"

namespace halftone {

// What the caller knows and a Model doesn't (the core has no file system and doesn't hash).
struct FileFacts {
  std::string name;
  std::string sha256;  // lower-case hex of the .onnx file
};

std::string inspect_to_json(const Model& model, const FileFacts& file);

std::string plan_to_json(const Plan& plan, const FileFacts& file);
Result<Plan> plan_from_json(std::string_view json);

std::string encodings_to_json(const Encodings& encodings, const FileFacts& file, std::string_view method,
                              std::int64_t samples);
Result<Encodings> encodings_from_json(std::string_view json);

// AIMET's configuration file. Keys that aren't known, or not followed, become warnings by name. Errors:
// kInvalidPolicy with the path of the first thing that doesn't fit.
Result<AimetConfig> aimet_config_from_json(std::string_view json);

// AIMET's results file plus a block of ours that its reader ignores. Rows stay in their order.
std::string sensitivity_to_json(const SensitivityResults& results);
// Ours and AIMET's own: without the block, only rows are known. Python's NaN and Infinity read as null, and
// of rows with the same name the last one's score counts, at the first one's place, as AIMET reads them.
Result<SensitivityResults> sensitivity_from_json(std::string_view json);

// {"metric", "higher_is_worse", "both": [{"name","before","after","difference","rank_before","rank_after"}],
// "only_before": [{"name","score","rank"}], "only_after", "warnings"}
std::string comparison_to_json(const ResultsComparison& comparison);

}  // namespace halftone
