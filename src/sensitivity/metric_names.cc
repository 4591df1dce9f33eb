#include <array>
#include <string>

#include "halftone/metric.h"

namespace halftone {
namespace {

constexpr std::array<MetricKind, 7> kKinds = {MetricKind::kPsnr,   MetricKind::kTopkPsnr, MetricKind::kSqnr,
                                              MetricKind::kCosine, MetricKind::kMse,      MetricKind::kKl,
                                              MetricKind::kTop1};

bool in_decibels(MetricKind kind) {
  return kind == MetricKind::kPsnr || kind == MetricKind::kTopkPsnr || kind == MetricKind::kSqnr;
}

}  // namespace

Result<Metric> metric_from_name(std::string_view name, std::int64_t k) {
  for (const MetricKind kind : kKinds) {
    if (metric_name(kind) != name) continue;
    if (kind == MetricKind::kTopkPsnr && k < 1)
      return Error{ErrorCode::kInvalidPolicy,
                   "Top-k PSNR can't take the " + std::to_string(k) + " largest values.", "k",
                   "Give a k of at least 1."};
    return Metric{kind, k};
  }
  std::string known;
  for (const MetricKind kind : kKinds) known += (known.empty() ? "" : ", ") + std::string(metric_name(kind));
  return Error{ErrorCode::kInvalidPolicy, "There is no metric \"" + printable(name) + "\".", printable(name),
               "Use one of " + known + "."};
}

std::string_view metric_name(MetricKind kind) {
  switch (kind) {
    case MetricKind::kPsnr:
      return "psnr";
    case MetricKind::kTopkPsnr:
      return "topk-psnr";
    case MetricKind::kSqnr:
      return "sqnr";
    case MetricKind::kCosine:
      return "cosine";
    case MetricKind::kMse:
      return "mse";
    case MetricKind::kKl:
      return "kl";
    case MetricKind::kTop1:
      return "top1";
  }
  return "";
}

std::string metric_title(const Metric& metric) {
  switch (metric.kind) {
    case MetricKind::kPsnr:
      return "PSNR";
    case MetricKind::kTopkPsnr:
      return "Top" + std::to_string(metric.k) + "LogitPSNR";
    case MetricKind::kSqnr:
      return "SQNR";
    case MetricKind::kCosine:
      return "cosine";
    case MetricKind::kMse:
      return "MSE";
    case MetricKind::kKl:
      return "KL";
    case MetricKind::kTop1:
      return "top-1 agreement";
  }
  return "";
}

std::string_view metric_unit(MetricKind kind) { return in_decibels(kind) ? "dB" : ""; }

bool higher_is_worse(MetricKind kind) { return kind == MetricKind::kMse || kind == MetricKind::kKl; }

std::optional<double> metric_limit(MetricKind kind) {
  return in_decibels(kind) ? std::optional<double>(100.0) : std::nullopt;
}

}  // namespace halftone
