#include <cstddef>
#include <optional>

#include "halftone/quant_grid.h"
#include "halftone/switched_part.h"

namespace halftone {

Result<bool> switch_on(SwitchKind kind, std::span<const float> values, std::span<const std::int64_t> dims,
                       const Encoding& encoding, std::span<float> into) {
  const std::optional<std::int64_t> axis =
      encoding.axis < 0 ? std::nullopt : std::optional<std::int64_t>(encoding.axis);
  const Result<QuantGrid> grid = quant_grid(encoding.format, dims, axis, encoding.scale, encoding.zero_point);
  if (!grid.ok()) return grid.error();
  const Result<void> done = fake_quantize(values, grid.value(), into);
  if (!done.ok()) return done.error();
  if (kind != SwitchKind::kAddend) return true;
  bool exact = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float on = into[i];
    into[i] = on - values[i];
    exact = exact && values[i] + into[i] == on;
  }
  return exact;
}

}  // namespace halftone
