#include "halftone/nested_absmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace halftone {
namespace {

constexpr int kExponents = 7;
constexpr std::size_t kZero = 127;

// Of each power of ten from 10^-6 to 1: the middles of 2^i equal parts of 0.1 to 1.
std::array<float, kNestedMapSize> made_map() {
  std::array<float, kNestedMapSize> map = {};
  std::size_t above = kZero;
  std::size_t below = kZero;
  double power = 1e6;
  for (int i = 0; i < kExponents; ++i) {
    const int parts = 1 << i;
    for (int k = 0; k < parts; ++k) {
      const double middle = (2.0 * parts + 9.0 * (2 * k + 1)) / (20.0 * parts);
      const float value = static_cast<float>(middle / power);
      map[++above] = value;
      map[--below] = -value;
    }
    power /= 10.0;
  }
  map[++above] = 1.0F;
  return map;
}

const std::array<float, kNestedMapSize>& dynamic_map() {
  static const std::array<float, kNestedMapSize> map = made_map();
  return map;
}

// As the kernel searches; where x lies halfway between two entries, its path decides.
std::uint8_t nearest_entry(const std::array<float, kNestedMapSize>& map, float x) {
  int pivot = kZero;
  int above = kNestedMapSize - 1;
  int below = 0;
  for (int step = 64; step > 0; step /= 2) {
    const bool more = x > map[static_cast<std::size_t>(pivot)];
    (more ? below : above) = pivot;
    pivot += more ? step : -step;
  }
  const float value = map[static_cast<std::size_t>(pivot)];
  if (x > value) {
    const float middle = (map[static_cast<std::size_t>(above)] + value) * 0.5F;
    return static_cast<std::uint8_t>(x > middle ? above : pivot);
  }
  const float middle = (map[static_cast<std::size_t>(below)] + value) * 0.5F;
  return static_cast<std::uint8_t>(x < middle ? below : pivot);
}

float mean_of(std::span<const float> values) {
  double sum = 0.0;
  for (const float v : values) sum += static_cast<double>(v);
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

void nest_block(std::span<const float> absmax, float offset, NestedAbsmax& to) {
  float largest = 0.0F;
  for (const float v : absmax) largest = std::max(largest, std::fabs(v - offset));
  to.absmax.push_back(largest);
  const float inverse = largest > 0.0F ? 1.0F / largest : 0.0F;
  for (const float v : absmax) {
    const float rest = v - offset;
    const float scaled = std::isfinite(inverse) ? rest * inverse : rest / largest;
    to.codes.push_back(nearest_entry(dynamic_map(), scaled));
  }
}

}  // namespace

std::span<const float> nested_quant_map() { return dynamic_map(); }

Result<NestedAbsmax> nest_absmax(std::span<const float> absmax) {
  for (std::size_t i = 0; i < absmax.size(); ++i) {
    if (std::isfinite(absmax[i])) continue;
    return Error{ErrorCode::kNonFinite, "A block's largest magnitude is NaN or infinite.",
                 "block " + std::to_string(i), "Replace the values that aren't finite."};
  }
  NestedAbsmax nested;
  if (absmax.empty()) return nested;
  nested.offset = mean_of(absmax);
  nested.codes.reserve(absmax.size());
  nested.absmax.reserve((absmax.size() - 1) / kNestedBlockSize + 1);
  for (std::size_t first = 0; first < absmax.size(); first += kNestedBlockSize) {
    nest_block(absmax.subspan(first, std::min(kNestedBlockSize, absmax.size() - first)), nested.offset,
               nested);
  }
  return nested;
}

Result<void> unnest_absmax(std::span<const std::uint8_t> codes, std::span<const float> absmax, float offset,
                           std::span<const float> map, std::uint64_t first, std::span<float> to) {
  if (map.size() != kNestedMapSize) {
    return Error{ErrorCode::kShapeMismatch,
                 "A nested quantization map has " + std::to_string(map.size()) + " entries, not 256.", "",
                 "Check the tensor nested_quant_map."};
  }
  const bool enough_codes = first <= codes.size() && to.size() <= codes.size() - first;
  if (!enough_codes || (!to.empty() && (first + to.size() - 1) / kNestedBlockSize >= absmax.size())) {
    return Error{ErrorCode::kShapeMismatch,
                 "There are " + std::to_string(codes.size()) + " nested codes and " +
                     std::to_string(absmax.size()) + " nested scales, too few for " +
                     std::to_string(to.size()) + " blocks from block " + std::to_string(first) + " on.",
                 "", "Check the tensors absmax and nested_absmax."};
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t block = static_cast<std::size_t>(first) + i;
    to[i] = map[codes[block]] * absmax[block / kNestedBlockSize] + offset;
  }
  return {};
}

}  // namespace halftone
