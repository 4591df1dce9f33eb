// JSON files: plan, encodings, sensitivity results, model summary. UTF-8, two spaces, keys in contract order,
// floats as the shortest text that reads back to the same float32 (scores: to the same double), non-finite
// numbers as null. Reading refuses with kInvalidPolicy and the JSON path in `where`; unknown keys are
// ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/encoding.h"
#include "halftone/model.h"
#include "halftone/plan.h"
#include "halftone/result.h"
#include "halftone/sensitivity.h"

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

struct SensitivityResults {
  std::vector<ScoredSite> ranking;  // ranked
  std::string target;
  std::string method;
  std::string metric;
  bool higher_is_worse = false;
  std::vector<std::string> scored;
  std::int64_t samples = 0;
  std::string by;
  std::vector<std::pair<std::string, std::string>> skipped;  // name, why
  std::vector<Warning> warnings;
};

std::string sensitivity_to_json(const SensitivityResults& results, const FileFacts& file);
Result<SensitivityResults> sensitivity_from_json(std::string_view json);

}  // namespace halftone
