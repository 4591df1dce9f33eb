#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "halftone/sensitivity_results.h"
#include "sensitivity/results_facts.h"

namespace halftone {
namespace {

Error refusal(std::size_t file, const std::string& what, std::string next) {
  return Error{ErrorCode::kInvalidPolicy, "File " + std::to_string(file + 1) + " " + what + ".",
               "file " + std::to_string(file + 1), std::move(next)};
}

Result<void> check_whole(const SensitivityResults& results, std::size_t file) {
  if (!results.shard || !results.groups)
    return refusal(file, "holds no shard of a sweep",
                   "Give the files that sweeps with a shard option wrote.");
  if (results.partial)
    return refusal(file, "is of a sweep that was stopped", "Run that shard again, or resume it.");
  return {};
}

Result<void> check_same(const SensitivityResults& first, const SensitivityResults& other, std::size_t file) {
  const std::vector<ResultsFact> wanted = results_facts(first);
  const std::vector<ResultsFact> found = results_facts(other);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].value != found[i].value)
      return refusal(file, "is of another " + std::string(wanted[i].what) + " than file 1",
                     "Merge shards of one sweep only.");
  }
  if (first.shard->count != other.shard->count || *first.groups != *other.groups)
    return refusal(file, "divides the sweep otherwise than file 1", "Merge shards of one sweep only.");
  return {};
}

// That a shard has exactly the groups whose order is index - 1 modulo count.
Result<void> check_rows(const SensitivityResults& results, std::size_t file) {
  const Shard shard = *results.shard;
  const std::int64_t groups = *results.groups;
  std::unordered_set<std::int64_t> seen;
  for (const ScoredSite& row : results.ranking) {
    if (row.order < 0 || row.order >= groups || row.order % shard.count != shard.index - 1)
      return refusal(file, "has a row that isn't of its shard: " + printable(row.name),
                     "Run that shard again.");
    if (!seen.insert(row.order).second)
      return refusal(file, "has two rows with one order: " + printable(row.name), "Run that shard again.");
  }
  const std::int64_t expected = groups < shard.index ? 0 : (groups - shard.index) / shard.count + 1;
  if (static_cast<std::int64_t>(seen.size()) == expected) return {};
  return refusal(file, "has " + std::to_string(seen.size()) + " of " + std::to_string(expected) + " rows",
                 "Run that shard again, or resume it.");
}

Result<void> check_indexes(std::span<const SensitivityResults> shards) {
  const std::int64_t count = shards[0].shard->count;
  std::unordered_set<std::int64_t> seen;
  for (std::size_t file = 0; file < shards.size(); ++file) {
    const std::int64_t index = shards[file].shard->index;
    if (index < 1 || index > count)
      return refusal(file, "is shard " + std::to_string(index) + " of " + std::to_string(count),
                     "Run it again.");
    if (!seen.insert(index).second)
      return refusal(file, "is shard " + std::to_string(index) + ", which is there already",
                     "Give each shard once.");
  }
  if (static_cast<std::int64_t>(seen.size()) == count) return {};
  std::int64_t missing = 1;
  while (seen.contains(missing)) ++missing;
  return Error{ErrorCode::kInvalidPolicy,
               "Shard " + std::to_string(missing) + " of " + std::to_string(count) + " is missing.", "",
               "Give the files of all " + std::to_string(count) + " shards."};
}

Result<void> check(std::span<const SensitivityResults> shards) {
  if (shards.empty())
    return Error{ErrorCode::kInvalidPolicy, "There is nothing to merge.", "",
                 "Give the files of all shards."};
  for (std::size_t file = 0; file < shards.size(); ++file) {
    if (const Result<void> whole = check_whole(shards[file], file); !whole.ok()) return whole;
    if (const Result<void> same = check_same(shards[0], shards[file], file); !same.ok()) return same;
  }
  if (const Result<void> indexes = check_indexes(shards); !indexes.ok()) return indexes;
  std::unordered_set<std::string_view> names;
  for (std::size_t file = 0; file < shards.size(); ++file) {
    if (const Result<void> rows = check_rows(shards[file], file); !rows.ok()) return rows;
    for (const ScoredSite& row : shards[file].ranking) {
      if (!names.insert(row.name).second)
        return refusal(file, "has a row that an earlier file has, too: " + printable(row.name),
                       "Merge shards of one sweep only.");
    }
  }
  return {};
}

// What all shards say of the whole sweep is there once.
template <typename Entry, typename Same>
void add_new(std::vector<Entry>& list, const std::vector<Entry>& more, Same same) {
  for (const Entry& entry : more) {
    const bool known =
        std::any_of(list.begin(), list.end(), [&](const Entry& other) { return same(entry, other); });
    if (!known) list.push_back(entry);
  }
}

}  // namespace

Result<SensitivityResults> merge_results(std::span<const SensitivityResults> shards) {
  if (const Result<void> checked = check(shards); !checked.ok()) return checked.error();
  SensitivityResults merged = shards[0];
  merged.shard.reset();
  for (const SensitivityResults& part : shards.subspan(1)) {
    merged.ranking.insert(merged.ranking.end(), part.ranking.begin(), part.ranking.end());
    add_new(merged.skipped, part.skipped, [](const auto& a, const auto& b) { return a == b; });
    add_new(merged.warnings, part.warnings, [](const Warning& a, const Warning& b) {
      return a.code == b.code && a.message == b.message && a.where == b.where;
    });
  }
  complete_results(merged);
  return merged;
}

}  // namespace halftone
