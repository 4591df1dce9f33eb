#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "calibrate/encoding_completion.h"
#include "halftone/mixed_precision.h"

namespace halftone {
namespace {

bool fits(const Site& site, const Encoding& encoding) {
  const std::int32_t axis = site.granularity == Granularity::kChannel ? site.axis : -1;
  return encoding.format == site.format && (axis < 0 ? encoding.axis < 0 : encoding.axis == axis);
}

// Encodings that were edited or imported may have no range: then what their codes reach.
MinMax range_of_encoding(const Encoding& encoding) {
  if (encoding.min.size() == 1 && encoding.max.size() == 1)
    return {encoding.min.front(), encoding.max.front()};
  const NumberFormatInfo& format = number_format_info(encoding.format);
  if (encoding.scale.size() != 1 || encoding.zero_point.size() != 1 || format.kind != FormatKind::kInteger)
    return {};
  const auto reach = [&](std::int32_t code) {
    return static_cast<float>((static_cast<double>(code) - encoding.zero_point.front()) *
                              static_cast<double>(encoding.scale.front()));
  };
  return {reach(format.lowest), reach(format.highest)};
}

}  // namespace

Result<void> recode(const Model& model, Plan& plan, Encodings& encodings) {
  const Graph& graph = model.graph();
  for (const Site& site : plan.sites) {
    if (!site.quantized || site.role == Role::kBias) continue;
    const Encoding* old = encodings.find(site.tensor);
    if (old != nullptr && fits(site, *old)) continue;
    const TensorId id = graph.find_tensor(site.tensor);
    const bool constant = id != kNone && graph.tensor(id).constant;
    if (old == nullptr && !constant) continue;  // completion says it by name
    Result<Encoding> encoding =
        constant ? weight_encoding(model, site, float8_scale_of(plan))
                 : activation_encoding(site, range_of_encoding(*old), float8_scale_of(plan));
    if (!encoding.ok()) return encoding.error();
    encodings.set(site.tensor, std::move(encoding).value());
  }
  return finish_encodings(model, plan, encodings);
}

std::optional<double> predicted_score(std::span<const ScoredSite> ranking, const Plan& before,
                                      const Encodings& encodings_before, const Plan& after,
                                      const Encodings& encodings_after) {
  const auto mean_square = [](const Encoding& encoding) {
    double sum = 0;
    for (const float scale : encoding.scale) sum += static_cast<double>(scale) * static_cast<double>(scale);
    return sum / static_cast<double>(encoding.scale.size());
  };
  std::unordered_map<std::string_view, double> scores;
  for (const ScoredSite& row : ranking) scores[row.name] = row.score;
  double noise = 0;  // in units of the peak's square
  for (std::size_t i = 0; i < before.sites.size() && i < after.sites.size(); ++i) {
    const Site& site = before.sites[i];
    if (!site.quantized || site.role == Role::kBias) continue;
    const auto row = scores.find(site.tensor);
    const Encoding* old = encodings_before.find(site.tensor);
    if (row == scores.end() || !std::isfinite(row->second) || old == nullptr || old->scale.empty())
      return std::nullopt;
    if (!after.sites[i].quantized) continue;
    const Encoding* now = encodings_after.find(site.tensor);
    if (now == nullptr || now->scale.empty()) return std::nullopt;
    noise += std::pow(10.0, -row->second / 10.0) * mean_square(*now) / mean_square(*old);
  }
  constexpr double kBest = 1e-10;  // PSNR is clipped at 100 dB
  return noise < kBest ? 100.0 : -10.0 * std::log10(noise);
}

}  // namespace halftone
