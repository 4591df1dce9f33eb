#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include "exchange/json_reading.h"
#include "exchange/json_text.h"
#include "exchange/python_json.h"
#include "halftone/exchange.h"
#include "halftone/version.h"

namespace halftone {
namespace {

constexpr std::int64_t kLargestCount = std::int64_t{1} << 53;
constexpr std::int64_t kLargestShards = std::int64_t{1} << 31;

Json ranking_json(const std::vector<ScoredSite>& rows) {
  Json list = Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json row{{"rank", i + 1}, {"name", rows[i].name}, {"score", double_json(rows[i].score)}};
    if (!rows[i].detail.empty()) row["detail"] = rows[i].detail;
    list.push_back(std::move(row));
  }
  return list;
}

Json skipped_json(const std::vector<std::pair<std::string, std::string>>& skipped) {
  Json list = Json::array();
  for (const auto& [name, why] : skipped) list.push_back(Json{{"name", name}, {"why", why}});
  return list;
}

// One entry for each row, in ranking order.
template <typename EntryOf>
Json aligned(const std::vector<ScoredSite>& rows, EntryOf entry_of) {
  Json list = Json::array();
  for (const ScoredSite& row : rows) list.push_back(entry_of(row));
  return list;
}

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval || !std::isfinite(interval->low) || !std::isfinite(interval->high)) return nullptr;
  return Json::array({double_json(interval->low), double_json(interval->high)});
}

void write_text(Json& block, const char* key, const std::string& text) {
  if (!text.empty()) block[key] = text;
}

void write_rows(Json& block, const SensitivityResults& results) {
  const std::vector<ScoredSite>& rows = results.ranking;
  block["interval"] = aligned(rows, [](const ScoredSite& row) { return interval_json(row.interval); });
  const auto samples = [&](const ScoredSite& row) { return row.samples.value_or(results.samples); };
  bool fewer = false;
  for (const ScoredSite& row : rows) fewer = fewer || samples(row) < results.samples;
  if (fewer) block["samples_used"] = aligned(rows, samples);
  if (!results.groups) return;
  block["order"] = aligned(rows, [](const ScoredSite& row) { return row.order; });
  block["groups"] = *results.groups;
}

Json block_json(const SensitivityResults& results) {
  Json block{{"version", kVersion}, {"model_sha256", results.model_sha256}};
  write_text(block, "plan_sha256", results.plan_sha256);
  write_text(block, "encodings_sha256", results.encodings_sha256);
  write_text(block, "samples_sha256", results.samples_sha256);
  block["target"] = results.target;
  block["method"] = results.method;
  block["metric"] = results.metric;
  if (results.k) block["k"] = *results.k;
  block["higher_is_worse"] = results.higher_is_worse;
  block["scored"] = results.scored;
  block["samples"] = results.samples;
  block["by"] = results.by;
  write_text(block, "sweep", results.sweep);
  write_text(block, "only", results.only);
  write_rows(block, results);
  if (results.shard) {
    block["shard"] = Json{{"index", results.shard->index}, {"count", results.shard->count}};
    block["unsaturated"] = results.unsaturated;
  }
  if (results.partial) block["partial"] = true;
  block["skipped"] = skipped_json(results.skipped);
  block["warnings"] = warnings_json(results.warnings);
  return block;
}

// Calls `take(row, i)` for each row if the block has `key`, an array with an entry for each.
template <typename Entry, typename Take>
void read_aligned(JsonReader& block, const char* key, std::vector<ScoredSite>& rows,
                  const std::vector<Entry>& entries, Take take) {
  if (entries.size() != rows.size()) return block.fail(key, "has not one entry for each row of the ranking");
  for (std::size_t i = 0; i < rows.size(); ++i) take(rows[i], entries[i]);
}

void read_rows(JsonReader& block, SensitivityResults& results) {
  std::vector<ScoredSite>& rows = results.ranking;
  if (block.has("interval")) {
    std::vector<std::optional<Interval>> intervals;
    for (JsonReader& entry : block.list("interval")) {
      const std::optional<std::pair<double, double>> ends = entry.two_numbers_or_null();
      intervals.push_back(ends ? std::optional(Interval{ends->first, ends->second}) : std::nullopt);
    }
    // Version 0.1.0 wrote an empty list.
    if (!intervals.empty())
      read_aligned(block, "interval", rows, intervals,
                   [](ScoredSite& row, const std::optional<Interval>& entry) { row.interval = entry; });
  }
  if (block.has("samples_used"))
    read_aligned(block, "samples_used", rows, block.integers("samples_used"),
                 [](ScoredSite& row, std::int32_t used) { row.samples = used; });
  if (block.has("order"))
    read_aligned(block, "order", rows, block.integers("order"),
                 [](ScoredSite& row, std::int32_t order) { row.order = order; });
}

void read_block(JsonReader block, SensitivityResults& results) {
  results.model_sha256 = block.text_or("model_sha256", "");
  results.plan_sha256 = block.text_or("plan_sha256", "");
  results.encodings_sha256 = block.text_or("encodings_sha256", "");
  results.samples_sha256 = block.text_or("samples_sha256", "");
  results.target = block.text_or("target", "");
  results.method = block.text_or("method", "");
  results.metric = block.text_or("metric", "");
  if (block.has("k")) results.k = block.integer("k", 1, kLargestCount);
  results.higher_is_worse = block.boolean_or("higher_is_worse", false);
  if (block.has("scored")) results.scored = block.texts("scored");
  results.samples = block.integer_or("samples", 0, 0, kLargestCount);
  results.by = block.text_or("by", "");
  results.sweep = block.text_or("sweep", "");
  results.only = block.text_or("only", "");
  if (block.has("groups")) results.groups = block.integer("groups", 0, kLargestCount);
  if (block.has("shard")) {
    JsonReader shard = block.object("shard");
    results.shard =
        Shard{shard.integer("index", 1, kLargestShards), shard.integer("count", 1, kLargestShards)};
  }
  if (block.has("unsaturated")) results.unsaturated = block.texts("unsaturated");
  results.partial = block.boolean_or("partial", false);
  if (block.has("skipped"))
    for (JsonReader& entry : block.list("skipped"))
      results.skipped.emplace_back(entry.text("name"), entry.text_or("why", ""));
  if (block.has("warnings")) results.warnings = block.warnings("warnings");
  read_rows(block, results);
}

// As Python's dict does with rows of the same name: the last one at the first one's place.
void drop_doubles(std::vector<ScoredSite>& rows) {
  std::unordered_map<std::string, std::size_t> places;
  std::vector<ScoredSite> once;
  once.reserve(rows.size());
  for (ScoredSite& row : rows) {
    const auto [found, fresh] = places.emplace(row.name, once.size());
    if (fresh) {
      once.push_back(std::move(row));
    } else {
      row.order = once[found->second].order;
      once[found->second] = std::move(row);
    }
  }
  rows = std::move(once);
}

}  // namespace

std::string sensitivity_to_json(const SensitivityResults& results) {
  return json_text(Json{{"ranking", ranking_json(results.ranking)}, {"halftone", block_json(results)}});
}

Result<SensitivityResults> sensitivity_from_json(std::string_view json) {
  std::string mended;
  const Result<Json> parsed = parse_json_object(without_python_numbers(json, mended), "sensitivity");
  if (!parsed.ok()) return parsed.error();
  JsonFault fault("sensitivity");
  JsonReader reader(parsed.value(), fault);
  if (!reader.has("ranking"))
    return Error{ErrorCode::kInvalidPolicy, "The file holds no ranking, so it is no result of a sweep.",
                 "$.ranking", "Give a file that a sweep of Halftone or AIMET wrote."};
  SensitivityResults results;
  for (JsonReader& row : reader.list("ranking")) {
    const auto order = static_cast<std::int64_t>(results.ranking.size());
    results.ranking.push_back({row.text("name"), row.number("score"), row.text_or("detail", ""), order});
  }
  if (reader.has("halftone")) read_block(reader.object("halftone"), results);
  if (fault.error) return *fault.error;
  drop_doubles(results.ranking);
  return results;
}

}  // namespace halftone
