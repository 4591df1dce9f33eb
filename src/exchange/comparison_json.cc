#include <string>
#include <utility>

#include "exchange/json_text.h"
#include "halftone/exchange.h"

namespace halftone {
namespace {

Json score_json(const std::optional<double>& score) { return score ? double_json(*score) : Json(nullptr); }

Json changes_json(const std::vector<RowChange>& changes) {
  Json list = Json::array();
  for (const RowChange& change : changes)
    list.push_back(Json{{"name", change.name},
                        {"before", score_json(change.before)},
                        {"after", score_json(change.after)},
                        {"difference", score_json(change.difference())},
                        {"rank_before", change.rank_before},
                        {"rank_after", change.rank_after}});
  return list;
}

Json lone_json(const std::vector<RowChange>& changes, bool before) {
  Json list = Json::array();
  for (const RowChange& change : changes)
    list.push_back(Json{{"name", change.name},
                        {"score", score_json(before ? change.before : change.after)},
                        {"rank", before ? change.rank_before : change.rank_after}});
  return list;
}

}  // namespace

std::string comparison_to_json(const ResultsComparison& comparison) {
  return json_text(Json{{"metric", comparison.metric},
                        {"higher_is_worse", comparison.higher_is_worse},
                        {"both", changes_json(comparison.both)},
                        {"only_before", lone_json(comparison.only_before, true)},
                        {"only_after", lone_json(comparison.only_after, false)},
                        {"warnings", warnings_json(comparison.warnings)}});
}

}  // namespace halftone
