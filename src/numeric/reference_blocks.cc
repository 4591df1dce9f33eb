// The normative kernels for blocks: the definitions of block_codes.h, one value after the other.
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "numeric/block_codes.h"
#include "numeric/code_packing.h"

namespace halftone::numeric {
namespace {

float load_float(const std::uint8_t* from, std::size_t index) {
  float value = 0.0F;
  std::memcpy(&value, from + index * sizeof(value), sizeof(value));
  return value;
}

void store_float(std::uint8_t* to, std::size_t index, float value) {
  std::memcpy(to + index * sizeof(value), &value, sizeof(value));
}

// The scale of a block, chosen or read. Nothing if a value or the scale isn't finite.
std::optional<double> scale_of_block(const std::uint8_t* x, const BlockRun& run, std::size_t block,
                                     double offset, CodeReach reach, AutomaticScales automatic) {
  const std::optional<double> chosen = automatic_scale(x, run.count, offset, reach);
  if (!chosen) return chosen;
  if (automatic.first == nullptr) return block_double(run.scales, block);
  if (!std::isfinite(*chosen)) return std::nullopt;
  std::memcpy(automatic.first + block * automatic.stride, &*chosen, sizeof(double));
  return chosen;
}

std::size_t encode_affine(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                          AutomaticScales automatic, PackedBlocks<std::uint8_t> codes) {
  std::vector<std::uint8_t> unpacked(run.count);
  for (std::size_t block = 0; block < run.blocks; ++block) {
    AffineBlock parameters = affine_block(affine, block);
    write_head(run.heads, codes.first + block * codes.stride);
    const std::optional<double> scale =
        scale_of_block(x, run, block, parameters.offset, affine_reach(parameters), automatic);
    if (!scale) return block;
    parameters.scale = *scale;
    for (std::size_t i = 0; i < run.count; ++i) {
      unpacked[i] = static_cast<std::uint8_t>(exact_affine_code<Extended>(load_float(x, i), parameters));
    }
    pack_codes(unpacked.data(), run.count, {affine.bits, false}, codes.first + block * codes.stride);
    x += run.count * sizeof(float);
  }
  return run.blocks;
}

std::size_t encode_table(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                         AutomaticScales automatic, CodePacking packing, PackedBlocks<std::uint8_t> codes) {
  std::vector<std::uint8_t> unpacked(run.count);
  for (std::size_t block = 0; block < run.blocks; ++block) {
    write_head(run.heads, codes.first + block * codes.stride);
    const std::optional<double> scale = scale_of_block(x, run, block, 0.0, table_reach(table), automatic);
    if (!scale) return block;
    for (std::size_t i = 0; i < run.count; ++i) {
      const double quotient = static_cast<double>(load_float(x, i)) / *scale;
      if (!std::isfinite(quotient)) return block;
      unpacked[i] = exact_table_code<Extended>(quotient, table);
    }
    pack_codes(unpacked.data(), run.count, packing, codes.first + block * codes.stride);
    x += run.count * sizeof(float);
  }
  return run.blocks;
}

std::size_t decode_affine(PackedBlocks<const std::uint8_t> codes, const BlockRun& run,
                          const AffineCodes& affine, std::uint8_t* y) {
  std::vector<std::uint8_t> unpacked(run.count);
  const int sign = affine.is_signed ? 1 << (affine.bits - 1) : 0;
  for (std::size_t block = 0; block < run.blocks; ++block) {
    AffineBlock parameters = affine_block(affine, block);
    parameters.scale = block_double(run.scales, block);
    unpack_codes(codes.first + block * codes.stride, run.count, {affine.bits, false}, unpacked.data());
    for (std::size_t i = 0; i < run.count; ++i) {
      const float value = affine_value((unpacked[i] ^ sign) - sign, parameters);
      if (!std::isfinite(value)) return block;
      store_float(y, block * run.count + i, value);
    }
  }
  return run.blocks;
}

std::size_t decode_table(PackedBlocks<const std::uint8_t> codes, const BlockRun& run, BlockDoubles tables,
                         std::size_t entries, CodePacking packing, std::uint8_t* y) {
  std::vector<std::uint8_t> unpacked(run.count);
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const double scale = block_double(run.scales, block);
    const BlockDoubles table = {tables.first + block * tables.stride, sizeof(double)};
    unpack_codes(codes.first + block * codes.stride, run.count, packing, unpacked.data());
    for (std::size_t i = 0; i < run.count; ++i) {
      if (unpacked[i] >= entries) return block;
      const float value = table_value(block_double(table, unpacked[i]), scale);
      if (!std::isfinite(value)) return block;
      store_float(y, block * run.count + i, value);
    }
  }
  return run.blocks;
}

}  // namespace

const BlockKernelSet& reference_block_kernels() {
  static constexpr BlockKernelSet kSet = {"scalar", encode_affine, encode_table, decode_affine, decode_table};
  return kSet;
}

}  // namespace halftone::numeric
