#include "halftone/aimet_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone {

AimetSteps aimet_steps(int bits, Symmetry symmetry, const AimetGrid& grid, double min, double max) {
  const double farthest = 0.99 * static_cast<double>(std::numeric_limits<float>::max());
  min = std::clamp(min, -farthest, 0.0);
  max = std::clamp(max, 0.0, farthest);
  const bool symmetric = symmetry == Symmetry::kSymmetric;
  const double steps = std::ldexp(1.0, bits) - (symmetric && grid.strict_symmetric ? 2.0 : 1.0);
  const double least = std::min(0.01 / steps, std::ldexp(1.0, -23));
  AimetSteps result;
  if (symmetric && !(grid.unsigned_symmetric && min >= 0.0)) {
    const double below = steps - std::floor(steps / 2.0);
    // Of the four codes of 2 bits all are used, and the top one is out of reach.
    const double above = steps == 3.0 ? below : std::floor(steps / 2.0);
    result.delta = std::max({max / above, -min / below, least});
    result.offset = -below;
  } else {
    result.delta = std::max((max - min) / steps, least);
    result.offset = std::clamp(std::round(min / result.delta), -steps, 0.0);
  }
  const double top = result.offset + steps;
  if (result.offset < 0.0) result.delta = std::min(result.delta, farthest / -result.offset);
  if (top > 0.0) result.delta = std::min(result.delta, farthest / top);
  result.min = result.delta * result.offset;
  result.max = result.delta * top;
  return result;
}

Result<QuantParams> aimet_params(NumberFormat format, Symmetry symmetry, const AimetGrid& grid,
                                 ValueRange range) {
  const NumberFormatInfo& info = number_format_info(format);
  if (info.kind != FormatKind::kInteger || !is_quantize_format(format) || info.bits < 4) {
    return Error{ErrorCode::kUnsupportedType, "AIMET's scales are for integer formats of 4 to 16 bits.", "",
                 "Choose int8, uint8, int16, uint16, int4 or uint4."};
  }
  // The checks of a range are params_from_range's.
  const Result<QuantParams> checked = params_from_range(format, symmetry, range);
  if (!checked.ok()) return checked;
  const AimetSteps steps =
      aimet_steps(info.bits, symmetry, grid, static_cast<double>(range.min), static_cast<double>(range.max));
  const bool shortened = symmetry == Symmetry::kSymmetric && grid.strict_symmetric && steps.offset < 0.0;
  return QuantParams{static_cast<float>(steps.delta),
                     info.lowest - static_cast<std::int32_t>(steps.offset) + (shortened ? 1 : 0)};
}

}  // namespace halftone
