// The normative kernels for blocks: the definitions of block_codes.h, one value after the other.
#include <cmath>
#include <cstring>
#include <limits>
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

double automatic_scale(const std::uint8_t* x, std::size_t count, double offset, CodeReach reach) {
  double scale = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = load_float(x, i);
    if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
    const double c = static_cast<double>(value) - offset;
    if (c > 0.0 && reach.high > 0.0) scale = std::fmax(scale, c / reach.high);
    if (c < 0.0 && reach.low < 0.0) scale = std::fmax(scale, c / reach.low);
  }
  return scale == 0.0 ? 1.0 : scale;
}

std::size_t calibrate(const std::uint8_t* x, std::size_t blocks, std::size_t count, CodeReach reach,
                      std::uint8_t* scales, std::size_t stride) {
  for (std::size_t block = 0; block < blocks; ++block) {
    const double scale = automatic_scale(x + block * count * sizeof(float), count, 0.0, reach);
    if (std::isnan(scale)) return block;
    std::memcpy(scales + block * stride, &scale, sizeof(scale));
  }
  return blocks;
}

std::size_t encode_affine(const std::uint8_t* x, const BlockRun& run, const AffineCodes& affine,
                          PackedBlocks<std::uint8_t> codes) {
  std::vector<std::uint8_t> unpacked(run.count);
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const AffineBlock parameters = affine_block(affine, run.scales, block);
    for (std::size_t i = 0; i < run.count; ++i) {
      const double value = load_float(x, block * run.count + i);
      unpacked[i] = static_cast<std::uint8_t>(exact_affine_code<Extended>(value, parameters));
    }
    pack_codes(unpacked.data(), run.count, {affine.bits, false}, codes.first + block * codes.stride);
  }
  return run.blocks;
}

std::size_t encode_table(const std::uint8_t* x, const BlockRun& run, const CodeTable& table,
                         CodePacking packing, PackedBlocks<std::uint8_t> codes) {
  std::vector<std::uint8_t> unpacked(run.count);
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const double scale = block_double(run.scales, block);
    for (std::size_t i = 0; i < run.count; ++i) {
      const double quotient = static_cast<double>(load_float(x, block * run.count + i)) / scale;
      if (!std::isfinite(quotient)) return block;
      unpacked[i] = exact_table_code<Extended>(quotient, table);
    }
    pack_codes(unpacked.data(), run.count, packing, codes.first + block * codes.stride);
  }
  return run.blocks;
}

std::size_t decode_affine(PackedBlocks<const std::uint8_t> codes, const BlockRun& run,
                          const AffineCodes& affine, std::uint8_t* y) {
  std::vector<std::uint8_t> unpacked(run.count);
  const int sign = affine.is_signed ? 1 << (affine.bits - 1) : 0;
  for (std::size_t block = 0; block < run.blocks; ++block) {
    const AffineBlock parameters = affine_block(affine, run.scales, block);
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
  static constexpr BlockKernelSet kSet = {"scalar",     calibrate,     encode_affine,
                                          encode_table, decode_affine, decode_table};
  return kSet;
}

}  // namespace halftone::numeric
