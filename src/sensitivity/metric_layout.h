// What the numbers of a MetricTerms are. All are sums over samples but the two extremes of PSNR.
#pragma once

#include <cstddef>

#include "halftone/metric.h"

namespace halftone::terms {

inline constexpr std::size_t kCount = 0;         // values; rows for kl and top1
inline constexpr std::size_t kBroken = 1;        // samples whose actual values aren't finite
inline constexpr std::size_t kErrorSquares = 2;  // psnr, topk-psnr, sqnr, mse
inline constexpr std::size_t kRowSum = 2;        // kl: divergences; top1: rows that agree
inline constexpr std::size_t kMin = 3;           // psnr, topk-psnr: of expected values
inline constexpr std::size_t kMax = 4;
inline constexpr std::size_t kExpectedSquares = 3;  // sqnr, cosine
inline constexpr std::size_t kActualSquares = 4;    // cosine
inline constexpr std::size_t kProducts = 5;

inline bool has_extremes(MetricKind kind) {
  return kind == MetricKind::kPsnr || kind == MetricKind::kTopkPsnr;
}

}  // namespace halftone::terms
