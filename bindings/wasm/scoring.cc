#include "scoring.h"

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "conversions.h"
#include "halftone/metric.h"

namespace halftone::wasm {
namespace {

std::vector<double> doubles_from_js(const val& array) {
  std::vector<double> numbers(array["length"].as<std::size_t>());
  if (!numbers.empty())
    val(emscripten::typed_memory_view(numbers.size(), numbers.data())).call<void>("set", array);
  return numbers;
}

val interval_to_js(const std::optional<Interval>& interval) {
  if (!interval || !std::isfinite(interval->low) || !std::isfinite(interval->high)) return val::null();
  val pair = val::array();
  pair.call<void>("push", interval->low);
  pair.call<void>("push", interval->high);
  return pair;
}

}  // namespace

val metric_terms_of(const std::string& metric, int k, const val& expected, const val& actual,
                    double last_dimension) {
  return guarded([&] {
    const Result<Metric> known = metric_from_name(metric, k);
    if (!known.ok()) return failure(known.error());
    // Kept between calls: a sweep measures the same tensors again and again.
    static std::vector<float> values;
    static std::vector<float> others;
    if (const Result<void> read = floats_from_js(expected, values); !read.ok()) return failure(read.error());
    if (const Result<void> read = floats_from_js(actual, others); !read.ok()) return failure(read.error());
    const Result<MetricTerms> terms =
        metric_terms(known.value(), values, others, static_cast<std::int64_t>(last_dimension));
    if (!terms.ok()) return failure(terms.error());
    val list = val::array();
    for (const double term : terms.value()) list.call<void>("push", term);
    return success(list);
  });
}

val metric_score_of(const std::string& metric, int k, const val& terms, int tensors) {
  return guarded([&] {
    const Result<Metric> known = metric_from_name(metric, k);
    if (!known.ok()) return failure(known.error());
    const std::vector<double> numbers = doubles_from_js(terms);
    std::vector<MetricTerms> records(numbers.size() / MetricTerms{}.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      for (std::size_t term = 0; term < records[i].size(); ++term)
        records[i][term] = numbers[i * records[i].size() + term];
    }
    const auto count = static_cast<std::size_t>(tensors > 0 ? tensors : 1);
    const Result<double> score = metric_score(known.value().kind, records, count);
    if (!score.ok()) return failure(score.error());
    val answer = val::object();
    answer.set("score", number_or_null(score.value()));
    answer.set("interval", interval_to_js(metric_interval(known.value().kind, records, count)));
    return success(answer);
  });
}

val jackknife(double score, const val& left_out) {
  return guarded(
      [&] { return success(interval_to_js(jackknife_interval(score, doubles_from_js(left_out)))); });
}

}  // namespace halftone::wasm
