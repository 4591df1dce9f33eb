// What a sweep leaves: a ranking with what it is of, parts of it from several machines, and comparisons. How
// it is written is in exchange.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halftone/metric.h"
#include "halftone/result.h"

namespace halftone {

struct ScoredSite {
  std::string name;
  double score = 0;                       // NaN ranks first (worst)
  std::string detail;                     // the tensors of a group
  std::int64_t order = 0;                 // position among all groups of the sweep; ties rank by it
  std::optional<Interval> interval{};     // 95 %
  std::optional<std::int64_t> samples{};  // that the score is of; nullopt: all
};

// Most sensitive first. `higher_is_worse` false (PSNR): lowest score first. Equal scores by `order`; stable
// where that is equal, too.
void rank(std::vector<ScoredSite>& rows, bool higher_is_worse);

// Of the machines 1 to `count`, number `index`: it has the groups whose order is index - 1 modulo count.
struct Shard {
  std::int64_t index = 1;
  std::int64_t count = 1;
};

struct SensitivityResults {
  std::vector<ScoredSite> ranking;  // ranked
  std::string model_sha256;         // these four: lower-case hex; empty: not known
  std::string plan_sha256;
  std::string encodings_sha256;
  std::string samples_sha256;
  std::string target;
  std::string method;
  std::string metric;  // a metric's name, or that of the user's own; empty: not known (AIMET's files)
  std::optional<std::int64_t> k;  // of topk-psnr
  bool higher_is_worse = false;
  std::vector<std::string> scored;
  std::int64_t samples = 0;
  std::string by;
  std::string sweep;                   // "enable", "disable"; empty: not said
  std::string only;                    // "weights", "activations"; empty: both
  std::optional<std::int64_t> groups;  // of the whole sweep; set in parts of one
  std::optional<Shard> shard;
  // Tensors in front of a saturating function that could be scored instead of what was: see
  // complete_results. Kept in the files of shards only.
  std::vector<std::string> unsaturated;
  bool partial = false;                                      // the sweep was stopped
  std::vector<std::pair<std::string, std::string>> skipped;  // name, why
  std::vector<Warning> warnings;
};

// Makes measured rows a result: ranks them; and unless it is a shard, warns ("scores_clipped") if more than a
// third of the scores are at the metric's limit, and drops what only parts of a sweep need (`groups` stays in
// a partial one). Doing it twice changes nothing.
void complete_results(SensitivityResults& results);

// The results of all shards of one sweep, as one run would have made them. Errors: kInvalidPolicy with the
// number of the file (from 1) in `where`: no file; one that is no shard, or was stopped; another model, plan,
// encodings, samples, target, method, metric, k, by, sweep, only or scored tensors; a shard that is there
// twice, or missing; rows that don't belong to their shard.
Result<SensitivityResults> merge_results(std::span<const SensitivityResults> shards);

// A row of either of two results. A rank is 1 for the worst; 0 and no score where it isn't in that result.
struct RowChange {
  std::string name;
  std::optional<double> before;
  std::optional<double> after;
  std::int64_t rank_before = 0;
  std::int64_t rank_after = 0;

  [[nodiscard]] bool in_both() const { return rank_before > 0 && rank_after > 0; }
  // after - before; nullopt unless the row is in both. NaN if a score is.
  [[nodiscard]] std::optional<double> difference() const;
};

struct ResultsComparison {
  std::string metric;
  bool higher_is_worse = false;
  std::vector<RowChange> both;         // in the order of `after`
  std::vector<RowChange> only_before;  // in their order
  std::vector<RowChange> only_after;
  std::vector<Warning> warnings;  // what else differs between the two sweeps, one for each
};

// Errors: kInvalidPolicy if both say what their metric is and it, its k or its direction differ.
Result<ResultsComparison> compare_results(const SensitivityResults& before, const SensitivityResults& after);

// How many of `count` rows a percentage takes: ceil(count * percent / 100), at most all (AIMET's lite_mp, so
// anything above 0 takes at least one). Errors: kInvalidPolicy for a negative percentage or NaN.
Result<std::size_t> flip_count(std::size_t count, double percent);

}  // namespace halftone
