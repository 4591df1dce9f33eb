// Arithmetic of the x87's 64-bit significand, round half to even, on machines whose long double is something
// else (WebAssembly, AArch64, MSVC). What encoded values are defined by: the reference program computes with
// x86-64 Linux's long double, and a code at a tie depends on it. Results are equal to the hardware's as long
// as exponents stay in its 15 bits, which numbers made of doubles by one subtraction, one division and one
// product do. Nothing is infinite or NaN here.
#pragma once

#include <cfloat>
#include <cstdint>
#include <type_traits>

namespace halftone::numeric {

class SoftExtended {
 public:
  SoftExtended() = default;
  explicit SoftExtended(double value);  // exact
  explicit operator double() const;     // round half to even; subnormal results too

  friend SoftExtended operator+(SoftExtended a, SoftExtended b);
  friend SoftExtended operator-(SoftExtended a, SoftExtended b);
  friend SoftExtended operator*(SoftExtended a, SoftExtended b);
  friend SoftExtended operator/(SoftExtended a, SoftExtended b);  // b isn't 0
  friend bool operator<(SoftExtended a, SoftExtended b);

 private:
  __extension__ using Wide = unsigned __int128;
  SoftExtended(bool negative, int exponent, std::uint64_t significand)
      : negative_(negative), exponent_(exponent), significand_(significand) {}

  // Rounds (wide + something in 0..1, exclusive, if `more`) * 2^exponent. `wide` has at least 66 bits, or is
  // exact (`more` is false).
  static SoftExtended rounded(bool negative, int exponent, Wide wide, bool more);
  static SoftExtended sum(SoftExtended larger, SoftExtended smaller);
  [[nodiscard]] bool magnitude_less(SoftExtended other) const;

  // (negative ? -1 : 1) * significand * 2^exponent; the significand's highest bit is set, or it is 0.
  bool negative_ = false;
  int exponent_ = 0;
  std::uint64_t significand_ = 0;
};

// The machine's own where it is that format.
using Extended = std::conditional_t<LDBL_MANT_DIG == 64, long double, SoftExtended>;

}  // namespace halftone::numeric
