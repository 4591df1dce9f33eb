// What a sweep's results are of, as a list, so that two can be held against each other. Private to
// src/sensitivity.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halftone/sensitivity_results.h"

namespace halftone {

struct ResultsFact {
  std::string_view what;  // ends the sentence "… is of another …"
  std::string value;
  bool of_the_scores = false;  // scores of two results can't be held against each other if it differs
};

// The same facts in the same order for all results.
std::vector<ResultsFact> results_facts(const SensitivityResults& results);

}  // namespace halftone
