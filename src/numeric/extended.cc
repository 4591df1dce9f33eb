#include "numeric/extended.h"

#include <bit>
#include <cmath>
#include <utility>

namespace halftone::numeric {
namespace {

constexpr int kDoubleDigits = 53;
constexpr int kLowestDoubleExponent = -1074;

}  // namespace

SoftExtended::SoftExtended(double value) : negative_(std::signbit(value)) {
  if (value == 0.0) return;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, kDoubleDigits));
  significand_ = digits << static_cast<unsigned>(64 - kDoubleDigits);
  exponent_ = exponent - 64;
}

SoftExtended::operator double() const {
  if (significand_ == 0) return negative_ ? -0.0 : 0.0;
  // Bits below a double's last: more of them if the result is subnormal.
  const int normal_drop = 64 - kDoubleDigits;
  const int drop =
      exponent_ + normal_drop < kLowestDoubleExponent ? kLowestDoubleExponent - exponent_ : normal_drop;
  if (drop > 64) return negative_ ? -0.0 : 0.0;
  const Wide wide = significand_;
  const Wide half = Wide{1} << static_cast<unsigned>(drop - 1);
  Wide digits = wide >> static_cast<unsigned>(drop);
  const Wide rest = wide - (digits << static_cast<unsigned>(drop));
  if (rest > half || (rest == half && (digits & 1U) != 0)) ++digits;
  const double magnitude =
      std::ldexp(static_cast<double>(static_cast<std::uint64_t>(digits)), exponent_ + drop);
  return negative_ ? -magnitude : magnitude;
}

SoftExtended SoftExtended::rounded(bool negative, int exponent, Wide wide, bool more) {
  if (wide == 0) return {negative, 0, 0};
  const auto high = static_cast<std::uint64_t>(wide >> 64U);
  const int bits =
      high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(wide));
  if (bits <= 64) {
    const auto significand = static_cast<std::uint64_t>(wide) << static_cast<unsigned>(64 - bits);
    return {negative, exponent - (64 - bits), significand};
  }
  const auto drop = static_cast<unsigned>(bits - 64);
  auto digits = static_cast<std::uint64_t>(wide >> drop);
  const Wide rest = wide - (Wide{digits} << drop);
  const Wide half = Wide{1} << (drop - 1);
  int result_exponent = exponent + static_cast<int>(drop);
  if (rest > half || (rest == half && (more || (digits & 1U) != 0))) {
    if (++digits == 0) {
      digits = std::uint64_t{1} << 63U;
      ++result_exponent;
    }
  }
  return {negative, result_exponent, digits};
}

bool SoftExtended::magnitude_less(SoftExtended other) const {
  if (significand_ == 0 || other.significand_ == 0) return significand_ < other.significand_;
  if (exponent_ != other.exponent_) return exponent_ < other.exponent_;
  return significand_ < other.significand_;
}

// |larger| >= |smaller|. 63 bits below the larger's last hold whatever matters of the smaller.
SoftExtended SoftExtended::sum(SoftExtended larger, SoftExtended smaller) {
  if (smaller.significand_ == 0) return larger;
  const int distance = larger.exponent_ - smaller.exponent_;
  const Wide wide = Wide{larger.significand_} << 63U;
  const Wide whole = Wide{smaller.significand_} << 63U;
  const Wide shifted = distance < 128 ? whole >> static_cast<unsigned>(distance) : 0;
  const bool more = distance >= 128 || (shifted << static_cast<unsigned>(distance)) != whole;
  const int exponent = larger.exponent_ - 63;
  if (larger.negative_ == smaller.negative_) {
    return rounded(larger.negative_, exponent, wide + shifted, more);
  }
  const Wide difference = wide - shifted - static_cast<Wide>(more);
  return rounded(difference != 0 && larger.negative_, exponent, difference, more);
}

SoftExtended operator+(SoftExtended a, SoftExtended b) {
  if (a.magnitude_less(b)) std::swap(a, b);
  return SoftExtended::sum(a, b);
}

SoftExtended operator-(SoftExtended a, SoftExtended b) {
  b.negative_ = !b.negative_;
  return a + b;
}

SoftExtended operator*(SoftExtended a, SoftExtended b) {
  return SoftExtended::rounded(a.negative_ != b.negative_, a.exponent_ + b.exponent_,
                               SoftExtended::Wide{a.significand_} * b.significand_, false);
}

SoftExtended operator/(SoftExtended a, SoftExtended b) {
  using Wide = SoftExtended::Wide;
  // 64 or 65 bits, and two more by a second step.
  const Wide dividend = Wide{a.significand_} << 64U;
  const Wide first = dividend / b.significand_;
  const Wide rest = (dividend - first * b.significand_) << 2U;
  const Wide second = rest / b.significand_;
  return SoftExtended::rounded(a.negative_ != b.negative_, a.exponent_ - b.exponent_ - 66,
                               (first << 2U) + second, second * b.significand_ != rest);
}

bool operator<(SoftExtended a, SoftExtended b) {
  const bool a_below = a.negative_ && a.significand_ != 0;
  const bool b_below = b.negative_ && b.significand_ != 0;
  if (a_below != b_below) return a_below;
  return a_below ? b.magnitude_less(a) : a.magnitude_less(b);
}

}  // namespace halftone::numeric
