#include <cstddef>
#include <string>
#include <utility>

#include "calibrate/site_params.h"
#include "halftone/encoding.h"
#include "halftone/quant_grid.h"
#include "halftone/quant_params.h"
#include "halftone/statistics.h"
#include "plan/constant_values.h"

namespace halftone {
namespace {

// Where value `in_channel` of channel `channel` lies in the whole tensor, in row-major order.
std::uint64_t tensor_index(const GridLayout& layout, std::size_t channel, std::uint64_t in_channel) {
  const std::uint64_t outer = in_channel / layout.inner;
  return (outer * layout.channels + channel) * layout.inner + in_channel % layout.inner;
}

Error non_finite_error(const Site& site, std::uint64_t index) {
  return Error{ErrorCode::kNonFinite,
               "The weight \"" + printable(site.tensor) + "\" is NaN or infinite at element " +
                   std::to_string(index) + ".",
               printable(site.tensor), "Repair the model, or exclude this tensor."};
}

Result<GridLayout> layout_of(const Site& site, const ConstantValues& weight) {
  if (site.granularity == Granularity::kTensor) return GridLayout::per_tensor(weight.values.size());
  if (site.granularity == Granularity::kChannel && site.axis >= 0 &&
      static_cast<std::size_t>(site.axis) < weight.dims.size()) {
    return GridLayout::per_axis(weight.dims, site.axis);
  }
  return Error{ErrorCode::kInvalidPolicy,
               "The weight \"" + printable(site.tensor) + "\" can't have scales per " +
                   std::string(granularity_name(site.granularity)) + " along axis " +
                   std::to_string(site.axis) + ".",
               printable(site.tensor), "It has " + std::to_string(weight.dims.size()) + " dimensions."};
}

}  // namespace

Result<Encoding> weight_encoding(const Model& model, const Site& site, Float8Scale float8) {
  const Result<ConstantValues> weight = constant_values(model, site.tensor);
  if (!weight.ok()) return weight.error();
  const Result<GridLayout> layout = layout_of(site, weight.value());
  if (!layout.ok()) return layout.error();
  const Result<std::vector<RangeStatistics>> ranges = channel_ranges(weight.value().values, layout.value());
  if (!ranges.ok()) return ranges.error();

  Encoding encoding;
  encoding.format = site.format;
  encoding.axis = site.granularity == Granularity::kChannel ? site.axis : -1;
  for (std::size_t channel = 0; channel < ranges.value().size(); ++channel) {
    const RangeStatistics& range = ranges.value()[channel];
    if (!range.all_finite()) {
      return non_finite_error(site, tensor_index(layout.value(), channel, range.first_non_finite));
    }
    ValueRange values = range.has_range() ? ValueRange{range.min, range.max} : ValueRange{};
    if (site.fixed_range) values = *site.fixed_range;
    const Result<QuantParams> params = site_params(site, values, float8);
    if (!params.ok()) return params.error();
    encoding.scale.push_back(params.value().scale);
    encoding.zero_point.push_back(params.value().zero_point);
    encoding.min.push_back(values.min);
    encoding.max.push_back(values.max);
  }
  return encoding;
}

}  // namespace halftone
