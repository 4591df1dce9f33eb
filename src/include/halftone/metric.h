// How far a variant's outputs are from the float model's: metrics with a direction.
//
// A sample and a scored tensor leave one small record, MetricTerms; a score over samples is made of the
// records alone, so that it can be refined sample by sample, without one of them (for an interval), and
// without keeping outputs. All in double, over the values of all samples together: one global peak, one
// global mean, never a mean of scores. Sums have a fixed order (see error_sums); only log, exp and sqrt may
// differ in their last bits from one C library to another. Threading: plain functions.
//
//   psnr       dB, in [-100, 100]. AIMET's compute_psnr: peak = max(max(e) - min(e), max|e|, 1e-10),
//              rmse = max(sqrt(mean((e-a)^2)), 1e-15), clip(20 log10(peak / rmse), -100, 100)
//   topk-psnr  the same over the k largest expected values of every row (AIMET's top-k logit PSNR); of equal
//              values the first ones. A k beyond the row takes the row
//   sqnr       dB, clip(10 log10(sum e^2 / sum (e-a)^2), -100, 100); 100 where both are zero
//   cosine     sum(e a) / sqrt(sum e^2 * sum a^2), in [-1, 1]; 1 if both are all zero, 0 if one is
//   mse        sum((e-a)^2) / count
//   kl         mean over rows of KL(softmax(e) || softmax(a)), natural logarithm
//   top1       share of rows, 0 to 1, whose largest value is at the same place; of equal ones the first
//
// A row is what lies along the last axis. Outputs of the variant that aren't finite count as the worst there
// is: -100 dB, -1 for cosine, NaN for mse and kl, a row that doesn't agree for top1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "halftone/result.h"

namespace halftone {

enum class MetricKind : std::uint8_t { kPsnr, kTopkPsnr, kSqnr, kCosine, kMse, kKl, kTop1 };

struct Metric {
  MetricKind kind = MetricKind::kPsnr;
  std::int64_t k = 10;  // of kTopkPsnr, at least 1
};

// "psnr", "topk-psnr", "sqnr", "cosine", "mse", "kl", "top1". Errors: kInvalidPolicy, naming what there is,
// and for a topk-psnr with k < 1.
Result<Metric> metric_from_name(std::string_view name, std::int64_t k = 10);
std::string_view metric_name(MetricKind kind);
// For people: "PSNR", "Top10LogitPSNR" (AIMET's name), "SQNR", "cosine", "MSE", "KL", "top-1 agreement".
std::string metric_title(const Metric& metric);
// "dB", or nothing.
std::string_view metric_unit(MetricKind kind);
// True for mse and kl. NaN is the worst in either direction.
bool higher_is_worse(MetricKind kind);
// The score at which values stop telling anything: 100 for the metrics in dB, clipped to ± that.
std::optional<double> metric_limit(MetricKind kind);

// What one sample and tensor add; the meaning depends on the metric, but the first number is always the count
// of what was compared (values or rows). All zero: nothing was compared.
using MetricTerms = std::array<double, 6>;

// `last_dim`: length of the tensor's last axis; 1 for a scalar. Only topk-psnr, kl and top1 look at it.
// Errors: kShapeMismatch if lengths differ or aren't whole rows; kNonFinite if `expected` has NaN or infinity
// (for topk-psnr: among what it takes, where NaN counts as the largest); kInvalidPolicy for kl and top1 over
// rows of one value, which always agree.
Result<MetricTerms> metric_terms(const Metric& metric, std::span<const float> expected,
                                 std::span<const float> actual, std::int64_t last_dim);

// What both together add. Plain additions: merge in the order of samples where bits matter.
MetricTerms merged_terms(MetricKind kind, const MetricTerms& terms, const MetricTerms& next);

// The score over samples. `terms` is by sample, and for each sample by scored tensor, of which there are
// `tensors`; the score is that of the worst tensor. Errors: kInvalidState if nothing was compared for some
// tensor.
Result<double> metric_score(MetricKind kind, std::span<const MetricTerms> terms, std::size_t tensors = 1);

// The worst of several scores by direction; NaN is worse than any number, and what an empty list gives.
double worst_score(std::span<const double> scores, bool higher_is_worse);

struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Where the score would lie for other samples of the kind, by the jackknife: the scores with one sample left
// out, score ± t * sqrt((n-1)/n * sum((s_i - mean s)^2)) with Student's t of n - 1 degrees of freedom, cut to
// the metric's range. nullopt for less than two samples, and where a score isn't a number. Linear in the
// samples. Precondition: 0 < confidence < 1.
std::optional<Interval> metric_interval(MetricKind kind, std::span<const MetricTerms> terms,
                                        std::size_t tensors = 1, double confidence = 0.95);

// The same for a score made elsewhere: `left_out[i]` is the score without sample i.
std::optional<Interval> jackknife_interval(double score, std::span<const double> left_out,
                                           double confidence = 0.95);

// t such that |T| < t with the given probability, for Student's T. To about 1e-6 of its value. Preconditions:
// 0 < confidence < 1, degrees >= 1.
double student_t(double confidence, std::size_t degrees);

// One scored tensor of one sample.
struct ScoredOutput {
  std::string_view tensor;
  std::span<const float> values;
  std::span<const std::int64_t> dims;
};

// A metric of the caller's own. There is no default direction: accuracy is worse when lower, perplexity when
// higher.
struct UserMetric {
  std::string name;
  bool higher_is_worse = false;
  // The value of one sample, from all of its scored tensors, `expected` and `actual` in the same order. The
  // spans are valid only during the call. Must not throw.
  std::function<double(std::span<const ScoredOutput> expected, std::span<const ScoredOutput> actual)> sample;
  // The score over samples from their values, in order; empty: the mean. Must not throw.
  std::function<double(std::span<const double>)> combine;
};

// Errors: kInvalidState if there are no values.
Result<double> user_score(const UserMetric& metric, std::span<const double> values);
// As metric_interval. Linear for the mean; a combine of one's own is called once for each value left out.
std::optional<Interval> user_interval(const UserMetric& metric, std::span<const double> values,
                                      double confidence = 0.95);

// AIMET's other SQNR, that of its mixed precision search, for one sample: 10 log10(mean(e^2) / (mean((e-a)^2)
// + 1e-4)), dB. Several samples there: the mean of the ratios inside the logarithm. Errors: kShapeMismatch;
// kInvalidState for no values.
Result<double> amp_sqnr(std::span<const float> expected, std::span<const float> actual);

}  // namespace halftone
