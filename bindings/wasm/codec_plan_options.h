// Plans of encoded values from what JavaScript says.
#pragma once

#include <emscripten/val.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec_options.h"
#include "halftone/codec_plan.h"
#include "halftone/data_type.h"
#include "halftone/result.h"

namespace halftone::wasm {

// The tensor that is encoded, and how.
struct Source {
  DataType type = DataType::kFloat;
  std::vector<std::int64_t> dims;
  std::uint64_t count = 0;
  FormatChoice choice;

  [[nodiscard]] std::uint64_t width() const { return data_type_bits(type) / 8; }
};

// A plan with what was given for its blocks.
struct WholePlan {
  CodecPlan plan;
  bool automatic = true;
  std::optional<std::string> name;
};

// Members of `options`, each null if not given: name, scales, zeroPoints, offsets (one number, or one for
// each block), codebooks (one table, or one for each block), permutation, outliers, forward, inverse. Errors:
// kInvalidPolicy for a wrong number of them, kShapeMismatch for a profile of matrices and a tensor that is
// none.
Result<WholePlan> profile_plan(const emscripten::val& options, const Source& source, CodecProfile profile);

}  // namespace halftone::wasm
