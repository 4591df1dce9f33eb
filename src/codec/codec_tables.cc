#include "codec/codec_tables.h"

#include <array>

#include "halftone/small_floats.h"

namespace halftone::codec {
namespace {

constexpr std::array<double, 16> kNf4{-1.0,
                                      -0.6961928009986877,
                                      -0.5250730514526367,
                                      -0.39491748809814453,
                                      -0.28444138169288635,
                                      -0.18477343022823334,
                                      -0.09105003625154495,
                                      0.0,
                                      0.07958029955625534,
                                      0.16093020141124725,
                                      0.24611230194568634,
                                      0.33791524171829224,
                                      0.44070982933044434,
                                      0.5626170039176941,
                                      0.7229568362236023,
                                      1.0};

constexpr std::array<double, 16> kIq4Nl{-127, -104, -83, -65, -49, -35, -22, -10,
                                        1,    13,   25,  38,  53,  69,  89,  113};
constexpr std::array<double, 2> kBinary{-1, 1};
constexpr std::array<double, 3> kTernary{-1, 0, 1};
constexpr std::array<double, 15> kLog{0, 0.125, -0.125, 0.25, -0.25, 0.5, -0.5, 1, -1, 2, -2, 4, -4, 8, -8};

// The values of a small float in the order of their codes, NaN left out.
template <std::size_t kCount>
std::array<double, kCount> finite_values(SmallFloat type) {
  std::array<double, kCount> table{};
  auto out = table.begin();
  for (const float value : small_float_values(type)) {
    if (value == value && out != table.end()) *out++ = static_cast<double>(value);
  }
  return table;
}

}  // namespace

std::span<const double> nf4_table() { return kNf4; }
std::span<const double> iq4_nl_table() { return kIq4Nl; }
std::span<const double> binary_table() { return kBinary; }
std::span<const double> ternary_table() { return kTernary; }
std::span<const double> log_table() { return kLog; }

std::span<const double> e2m1_table() {
  static const std::array<double, 16> table = finite_values<16>(SmallFloat::kFloat4E2M1);
  return table;
}

std::span<const double> e3m2_table() {
  static const std::array<double, 64> table = finite_values<64>(SmallFloat::kFloat6E3M2);
  return table;
}

std::span<const double> e4m3_table() {
  static const std::array<double, 254> table = finite_values<254>(SmallFloat::kFloat8E4M3Fn);
  return table;
}

}  // namespace halftone::codec
