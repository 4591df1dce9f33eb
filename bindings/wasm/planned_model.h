// A plan and its encodings as jobs take them in.
#pragma once

#include <string>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"
#include "halftone/rewrite.h"

namespace halftone::wasm {

struct PlannedModel {
  Plan plan;
  Encodings encodings;
};

// From the texts of both files. Errors: those of the readers, and of check_plan.
Result<PlannedModel> read_plan(const Model& model, const std::string& plan_json,
                               const std::string& encodings_json);

// Calibration leaves out a bias whose codes would overflow, while the plan still has it quantized; a bias may
// also miss its encoding because the file was written for another plan. Both are decided here once more, and
// said.
Result<std::vector<Change>> settle_biases(const Model& model, PlannedModel& planned);

}  // namespace halftone::wasm
