// What has to hold for every format of 8 bits or less, looked at exhaustively: the code of each float16
// stands for the nearest value that the format has, and codes survive decoding and encoding. On every
// instruction set.
#include <catch2/catch_all.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "halftone/quant_grid.h"
#include "numeric/kernel_cases.h"
#include "numeric/reference_small_floats.h"

namespace halftone {
namespace {

std::vector<NumberFormat> small_formats() {
  std::vector<NumberFormat> formats = kernel_cases::quantize_formats();
  std::erase_if(formats, [](NumberFormat format) { return number_format_info(format).bits > 8; });
  return formats;
}

std::vector<float> finite_halves() {
  std::vector<float> values;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = float16_value(static_cast<std::uint16_t>(bits));
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

std::vector<std::uint8_t> encoded(NumberFormat format, const std::vector<float>& x, float scale,
                                  std::int32_t zero_point) {
  const std::vector<float> scales = {scale};
  const std::vector<std::int32_t> zero_points = {zero_point};
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(code_byte_count(format, x.size()).value()));
  REQUIRE(
      quantize(FloatView(x), {format, GridLayout::per_tensor(x.size()), scales, zero_points}, codes).ok());
  return codes;
}

std::vector<float> decoded(NumberFormat format, const std::vector<std::uint8_t>& codes, std::size_t count,
                           float scale, std::int32_t zero_point) {
  const std::vector<float> scales = {scale};
  const std::vector<std::int32_t> zero_points = {zero_point};
  std::vector<float> y(count);
  REQUIRE(dequantize(codes, {format, GridLayout::per_tensor(count), scales, zero_points}, MutableFloatView(y))
              .ok());
  return y;
}

// All codes of a format as it packs them.
std::vector<std::uint8_t> all_codes(NumberFormat format) {
  const auto bits = static_cast<unsigned>(number_format_info(format).bits);
  const unsigned count = 1U << bits;
  std::vector<std::uint8_t> packed(count * bits / 8, 0);
  for (unsigned code = 0; code < count; ++code) {
    const unsigned at = code * bits;
    packed[at / 8] = static_cast<std::uint8_t>(packed[at / 8] | (code << (at % 8)));
  }
  return packed;
}

std::size_t code_count(NumberFormat format) {
  return std::size_t{1} << static_cast<unsigned>(number_format_info(format).bits);
}

// The finite values of a format in order, each once: what "nearest" is among.
std::vector<double> levels(NumberFormat format, float scale, std::int32_t zero_point) {
  std::vector<double> values;
  for (const float value : decoded(format, all_codes(format), code_count(format), scale, zero_point)) {
    if (std::isfinite(value)) values.push_back(static_cast<double>(value) + 0.0);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Whether the level below the tie or the one above it is the even one. Integers: x / scale is rounded to even
// before the zero point is added. Small floats: neighbours' codes differ in their lowest bit.
bool even_is_below(NumberFormat format, double below, float scale) {
  const std::optional<SmallFloat> type = small_float_of(format);
  if (!type) return std::fmod(below / static_cast<double>(scale), 2.0) == 0.0;
  return small_float_code(*type, below / static_cast<double>(scale)) % 2 == 0;
}

struct Grain {
  float scale;  // a power of two: quotients, levels and their midpoints are exact
  std::int32_t zero_point;
};

std::vector<Grain> grains(NumberFormat format) {
  const NumberFormatInfo& info = number_format_info(format);
  if (info.kind == FormatKind::kSmallFloat) return {{1.0F, 0}, {0.0078125F, 0}, {64.0F, 0}};
  return {{1.0F, 0}, {0.25F, info.highest}, {16.0F, info.lowest}, {0.5F, 1}};
}

TEST_CASE("Every float16 gets the nearest value of every format of 8 bits or less", "[numeric][formats]") {
  kernel_cases::for_each_instruction_set([] {
    const std::vector<float> x = finite_halves();
    for (const NumberFormat format : small_formats()) {
      for (const Grain grain : grains(format)) {
        INFO(number_format_info(format).name << ", scale " << grain.scale << ", zero point "
                                             << grain.zero_point);
        const std::vector<double> values = levels(format, grain.scale, grain.zero_point);
        const std::vector<float> y = decoded(format, encoded(format, x, grain.scale, grain.zero_point),
                                             x.size(), grain.scale, grain.zero_point);
        std::size_t wrong = 0;
        std::size_t ties = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double exact = x[i];
          const auto above = std::lower_bound(values.begin(), values.end(), exact);
          double expected = above == values.end() ? values.back() : *above;
          if (above != values.begin() && above != values.end()) {
            const double low = *(above - 1);
            const double to_low = exact - low;
            const double to_high = *above - exact;
            const bool tie = to_low == to_high;
            ties += tie ? 1U : 0U;
            if (to_low < to_high || (tie && even_is_below(format, low, grain.scale))) expected = low;
          }
          if (static_cast<double>(y[i]) != expected) ++wrong;
        }
        CHECK(wrong == 0);
        CHECK(ties > 0);
      }
    }
  });
}

TEST_CASE("Codes of every format of 8 bits or less survive decoding and encoding", "[numeric][formats]") {
  kernel_cases::for_each_instruction_set([] {
    for (const NumberFormat format : small_formats()) {
      const std::optional<SmallFloat> type = small_float_of(format);
      const std::size_t count = code_count(format);
      for (const float scale : {1.0F, 0.1F, 3e-39F, 1e30F}) {
        const std::int32_t zero_point = type ? 0 : number_format_info(format).highest - 1;
        INFO(number_format_info(format).name << ", scale " << scale);
        const std::vector<float> first = decoded(format, all_codes(format), count, scale, zero_point);
        const std::vector<std::uint8_t> codes = encoded(format, first, scale, zero_point);
        const std::vector<float> second = decoded(format, codes, count, scale, zero_point);
        if (!type) {
          CHECK(codes == all_codes(format));
          continue;
        }
        const auto largest = small_float_info(*type).largest_value * scale;
        for (std::size_t code = 0; code < count; ++code) {
          INFO("code " << code);
          if (std::isnan(first[code])) {
            CHECK(std::isnan(second[code]));
            CHECK(std::signbit(first[code]) == std::signbit(second[code]));
          } else {
            CHECK(second[code] == std::clamp(first[code], -largest, largest));  // infinity saturates
          }
        }
      }
    }
  });
}

TEST_CASE("Small floats equal their definition all over float32", "[numeric][formats]") {
  kernel_cases::for_each_instruction_set([] {
    std::vector<float> x;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32U); bits += 65521) {
      x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    for (const NumberFormat format : small_formats()) {
      const std::optional<SmallFloat> type = small_float_of(format);
      if (!type || number_format_info(format).bits != 8) continue;
      for (const float scale : {1.0F, 0.0123F}) {
        const std::vector<std::uint8_t> codes = encoded(format, x, scale, 0);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
          wrong += codes[i] != numeric::small_float_quotient_code(*type, x[i], scale) ? 1U : 0U;
        INFO(number_format_info(format).name << ", scale " << scale);
        CHECK(wrong == 0);
      }
    }
  });
}

TEST_CASE("Two bits, by hand", "[numeric][formats]") {
  const std::vector<float> x = {-9.0F, -2.0F, -1.5F, -0.5F, 0.5F, 0.75F, 1.5F};
  // -2 -2 -2 0 0 1 1
  CHECK(encoded(NumberFormat::kInt2, x, 1.0F, 0) == std::vector<std::uint8_t>{0x2A, 0x14});
  // with zero point 2: 0 0 0 2 2 3 3 (1.5 rounds to 2, which ends at 3)
  CHECK(encoded(NumberFormat::kUint2, x, 1.0F, 2) == std::vector<std::uint8_t>{0x80, 0x3E});
  CHECK(decoded(NumberFormat::kInt2, {0xE4}, 4, 0.5F, 0) == std::vector<float>{0.0F, 0.5F, -1.0F, -0.5F});
  CHECK(decoded(NumberFormat::kUint2, {0xE4, 0x03}, 5, 0.5F, 1) ==
        std::vector<float>{-0.5F, 0.0F, 0.5F, 1.0F, 1.0F});
}

}  // namespace
}  // namespace halftone
