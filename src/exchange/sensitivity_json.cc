#include <string>
#include <utility>

#include "exchange/json_reading.h"
#include "exchange/json_text.h"
#include "halftone/exchange.h"
#include "halftone/version.h"

namespace halftone {
namespace {

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

void read_block(JsonReader block, SensitivityResults& results) {
  results.target = block.text_or("target", "");
  results.method = block.text_or("method", "");
  results.metric = block.text_or("metric", "");
  results.higher_is_worse = block.boolean_or("higher_is_worse", false);
  if (block.has("scored")) results.scored = block.texts("scored");
  results.samples = block.integer_or("samples", 0, 0, std::int64_t{1} << 53);
  results.by = block.text_or("by", "");
  if (block.has("skipped"))
    for (JsonReader& entry : block.list("skipped"))
      results.skipped.emplace_back(entry.text("name"), entry.text_or("why", ""));
  if (block.has("warnings")) results.warnings = block.warnings("warnings");
}

}  // namespace

// AIMET's results file (spec of its save_sensitivity_results), whose reader takes "ranking" and ignores the
// rest, plus our block.
std::string sensitivity_to_json(const SensitivityResults& results, const FileFacts& file) {
  Json block{{"version", kVersion},
             {"model_sha256", file.sha256},
             {"target", results.target},
             {"method", results.method},
             {"metric", results.metric},
             {"higher_is_worse", results.higher_is_worse},
             {"scored", results.scored},
             {"samples", results.samples},
             {"by", results.by},
             {"interval", Json::array()},
             {"skipped", skipped_json(results.skipped)},
             {"warnings", warnings_json(results.warnings)}};
  return json_text(Json{{"ranking", ranking_json(results.ranking)}, {"halftone", std::move(block)}});
}

Result<SensitivityResults> sensitivity_from_json(std::string_view json) {
  const Result<Json> parsed = parse_json_object(json, "sensitivity");
  if (!parsed.ok()) return parsed.error();
  JsonFault fault("sensitivity");
  JsonReader reader(parsed.value(), fault);
  SensitivityResults results;
  for (JsonReader& row : reader.list("ranking"))
    results.ranking.push_back(ScoredSite{row.text("name"), row.number("score"), row.text_or("detail", "")});
  if (reader.has("halftone")) read_block(reader.object("halftone"), results);
  if (fault.error) return *fault.error;
  return results;
}

}  // namespace halftone
