#include "plan/opset_needed.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace halftone {
namespace {

constexpr std::int64_t kPerAxisOpset = 13;
constexpr std::int64_t kBlockedOpset = 21;
constexpr std::int64_t kFloatBiasOpset = 13;

bool has_float_bias_behind_pair(const Plan& plan) {
  std::unordered_set<std::string_view> pairs;
  for (const Site& site : plan.sites) {
    if (site.quantized && site.role == Role::kActivation) pairs.insert(site.tensor);
  }
  return std::any_of(plan.sites.begin(), plan.sites.end(), [&](const Site& site) {
    return site.role == Role::kBias && !site.quantized && site.bias_of &&
           pairs.contains(site.bias_of->activation);
  });
}

}  // namespace

std::int64_t opset_needed_for(const Site& site) {
  const NumberFormatInfo& format = number_format_info(site.format);
  std::int64_t opset = format.dequantize_opset;
  if (site.role == Role::kActivation) opset = std::max<std::int64_t>(opset, format.quantize_opset);
  if (site.granularity == Granularity::kChannel) opset = std::max(opset, kPerAxisOpset);
  if (site.granularity == Granularity::kBlock) opset = std::max(opset, kBlockedOpset);
  return opset;
}

std::int64_t opset_needed_for(std::span<const Site> sites) {
  std::int64_t opset = 0;
  for (const Site& site : sites) {
    if (site.quantized) opset = std::max(opset, opset_needed_for(site));
  }
  return opset;
}

std::int64_t opset_needed_for(const Plan& plan) {
  const std::int64_t opset = opset_needed_for(std::span<const Site>(plan.sites));
  const bool floats = plan.target != Target::kOnnxRuntime || has_float_bias_behind_pair(plan);
  return opset > 0 && floats ? std::max(opset, kFloatBiasOpset) : opset;
}

}  // namespace halftone
