// AIMET's formula from ranges to steps: the vectors E1 to E19 of its 2.x line, and what QuantizeLinear gets.
#include "halftone/aimet_grid.h"

#include <array>
#include <catch2/catch_all.hpp>
#include <cmath>
#include <limits>

namespace halftone {
namespace {

constexpr Symmetry kAsym = Symmetry::kAsymmetric;
constexpr Symmetry kSym = Symmetry::kSymmetric;
constexpr AimetGrid kStrict = {.strict_symmetric = true};
constexpr AimetGrid kUnsigned = {.strict_symmetric = false, .unsigned_symmetric = true};

struct Vector {
  const char* id;
  int bits;
  double min, max;
  Symmetry symmetry;
  AimetGrid grid;
  AimetSteps expected;
};

const Vector kVectors[] = {
    {"E1", 8, -1, 3, kAsym, {}, {.015686274509803920, -64, -1.003921568627451, 2.996078431372549}},
    {"E2", 8, .5, 2, kAsym, {}, {.007843137254901960, 0, 0, 2}},
    {"E3", 8, -4, -1, kAsym, {}, {.015686274509803920, -255, -4, 0}},
    {"E4", 8, -1, 1.27, kSym, {}, {.01, -128, -1.28, 1.27}},
    {"E5", 8, -1.28, 1, kSym, {}, {.01, -128, -1.28, 1.27}},
    {"E6", 8, -1.28, 1, kSym, kStrict, {.010078740157480314, -127, -1.28, 1.28}},
    {"E7", 8, 0, 2.55, kSym, kUnsigned, {.01, 0, 0, 2.55}},
    {"E8", 8, -.1, 2.55, kSym, kUnsigned, {.020078740157480315, -128, -2.57007874, 2.55}},
    {"E9", 4, -.7, .7, kSym, {}, {.1, -8, -.8, .7}},
    {"E10", 16, -1, 1, kAsym, {}, {3.0518043793392844e-05, -32768, -1.0000152590, .9999847410}},
    {"E11", 2, -1, 1, kSym, {}, {.5, -2, -1, .5}},
    {"E12", 8, 0, 0, kAsym, {}, {1.1920928955078125e-07, 0, 0, 3.0398369e-05}},
    {"E13", 8, 0, 0, kSym, {}, {1.1920928955078125e-07, -128, -1.52587890625e-05, 1.5139580e-05}},
    {"E15", 8, -1e-9, 1e-9, kAsym, {}, {1.1920928955078125e-07, 0, 0, 3.0398369e-05}},
    {"E16", 4, -.3, 1.2, kAsym, {}, {.1, -3, -.3, 1.2}},
    {"E17", 16, -2, 1.5, kSym, {}, {6.103515625e-05, -32768, -2, 1.99993896484375}},
    {"E18", 8, 0, 1.27, kSym, {}, {.01, -128, -1.28, 1.27}},
    {"E19", 8, -1e39, 1e39, kAsym, {}, {2.6318712747823716e+36, -128, -3.36879523e+38, 3.34247652e+38}},
};

// Deltas are given to all digits, ends to eight at least.
bool close(double got, double expected, double relative) {
  return std::fabs(got - expected) <= relative * std::fabs(expected);
}

QuantParams params(NumberFormat format, Symmetry symmetry, const AimetGrid& grid, float min, float max) {
  const Result<QuantParams> made = aimet_params(format, symmetry, grid, {min, max});
  REQUIRE(made.ok());
  return made.value();
}

}  // namespace

TEST_CASE("Steps, offsets and reach follow AIMET's vectors", "[numeric][aimet]") {
  for (const Vector& vector : kVectors) {
    INFO(vector.id);
    const AimetSteps got = aimet_steps(vector.bits, vector.symmetry, vector.grid, vector.min, vector.max);
    CHECK(close(got.delta, vector.expected.delta, 1e-15));
    CHECK(got.offset == vector.expected.offset);
    CHECK(close(got.min, vector.expected.min, 5e-8));
    CHECK(close(got.max, vector.expected.max, 5e-8));
  }
}

TEST_CASE("AIMET's steps as QuantizeLinear takes them", "[numeric][aimet]") {
  const QuantParams asymmetric = params(NumberFormat::kUint8, kAsym, {}, -1, 3);
  CHECK(asymmetric.scale == 0.015686275F);
  CHECK(asymmetric.zero_point == 64);
  CHECK(params(NumberFormat::kInt8, kAsym, {}, -1, 3).zero_point == -64);
  CHECK(params(NumberFormat::kUint16, kAsym, {}, -1, 1).zero_point == 32768);
  CHECK(params(NumberFormat::kInt16, kAsym, {}, -1, 1).zero_point == 0);

  // Both halves of a symmetric range have steps of their own: -1.28 is 128 of them.
  const QuantParams symmetric = params(NumberFormat::kInt8, kSym, {}, -1.28F, 1);
  CHECK(symmetric.scale == 0.01F);
  CHECK(symmetric.zero_point == 0);
  CHECK(params(NumberFormat::kUint8, kSym, {}, -1.28F, 1).zero_point == 128);
  CHECK(params(NumberFormat::kInt4, kSym, {}, -0.8F, 0.1F).scale == 0.1F);

  // Strict: 127 steps a side, around the same zero point.
  const QuantParams strict = params(NumberFormat::kInt8, kSym, kStrict, -1.28F, 1);
  CHECK(strict.scale == 0.01007874F);
  CHECK(strict.zero_point == 0);
  // It means nothing to a range that isn't symmetric.
  CHECK(params(NumberFormat::kUint8, kAsym, kStrict, -1, 3).zero_point == 64);

  const QuantParams positive = params(NumberFormat::kInt8, kSym, kUnsigned, 0, 2.55F);
  CHECK(positive.scale == 0.01F);
  CHECK(positive.zero_point == -128);

  CHECK(params(NumberFormat::kUint8, kAsym, {}, 0, 0).scale == 0x1p-23F);
}

TEST_CASE("AIMET's grids refuse what has no integer codes, and ranges that are none", "[numeric][aimet]") {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto refusal = [](NumberFormat format, ValueRange range) {
    const Result<QuantParams> made = aimet_params(format, kSym, {}, range);
    REQUIRE_FALSE(made.ok());
    return made.error().code;
  };
  CHECK(refusal(NumberFormat::kFloat8E4M3Fn, {-1, 1}) == ErrorCode::kUnsupportedType);
  CHECK(refusal(NumberFormat::kInt32, {-1, 1}) == ErrorCode::kUnsupportedType);
  CHECK(refusal(NumberFormat::kInt8, {-infinity, 1}) == ErrorCode::kNonFinite);
  CHECK(refusal(NumberFormat::kInt8, {1, -1}) == ErrorCode::kInvalidPolicy);
}

}  // namespace halftone
