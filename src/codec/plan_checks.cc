#include "codec/plan_checks.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "codec/checked_size.h"
#include "numeric/extended.h"

namespace halftone {
namespace codec {
namespace {

using numeric::Extended;

constexpr double kInverseTolerance = 1e-6;

Error refused(std::string what, std::string next) {
  return {ErrorCode::kInvalidPolicy, std::move(what), "", std::move(next)};
}

Error not_finite(std::string what) {
  return {ErrorCode::kNonFinite, std::move(what), "", "Check how the numbers were computed."};
}

Result<void> check_indices(std::span<const std::int64_t> indices, std::uint64_t count,
                           const std::string& noun) {
  std::vector<bool> seen(static_cast<std::size_t>(count));
  for (const std::int64_t index : indices) {
    const auto place = static_cast<std::uint64_t>(index);
    if (index < 0 || place >= count || seen[static_cast<std::size_t>(place)]) {
      return refused("There is an invalid or duplicate " + noun + " index: " + std::to_string(index) + ".",
                     "Give indices from 0 to " + std::to_string(count) + " less one, each once.");
    }
    seen[static_cast<std::size_t>(place)] = true;
  }
  return {};
}

bool all_finite(std::span<const double> values) {
  for (const double value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

// How far element (row, column) of forward * inverse is from that of the identity.
template <typename Number>
double deviation(std::uint32_t n, std::span<const double> forward, std::span<const double> inverse,
                 std::size_t row, std::size_t column) {
  Number sum(row == column ? -1.0 : 0.0);
  for (std::size_t k = 0; k < n; ++k)
    sum = sum + Number(forward[row * n + k]) * Number(inverse[k * n + column]);
  return std::abs(static_cast<double>(sum));
}

// In double, and in extended precision where that could say otherwise.
bool is_identity(std::uint32_t n, std::span<const double> forward, std::span<const double> inverse,
                 std::size_t row, std::size_t column) {
  double magnitude = 1.0;
  for (std::size_t k = 0; k < n; ++k) magnitude += std::abs(forward[row * n + k] * inverse[k * n + column]);
  const double off = deviation<double>(n, forward, inverse, row, column);
  const double doubt = magnitude * (n + 2.0) * 0x1p-52;
  if (std::abs(off - kInverseTolerance) > doubt) return off < kInverseTolerance;
  return deviation<Extended>(n, forward, inverse, row, column) <= kInverseTolerance;
}

}  // namespace

Error as_damage(Error error) {
  if (error.code == ErrorCode::kInvalidPolicy || error.code == ErrorCode::kNonFinite) {
    error.code = ErrorCode::kInvalidGraph;
    error.next = "Encode the tensor again; this value was changed or written wrongly.";
  }
  return error;
}

Result<void> check_permutation(std::span<const std::int64_t> permutation, std::uint64_t count) {
  if (permutation.empty()) return {};
  if (permutation.size() != count) {
    return refused("The permutation has " + std::to_string(permutation.size()) +
                       " indices, so there is an invalid or duplicate permutation index for a tensor of " +
                       std::to_string(count) + " elements.",
                   "Give each element's index once.");
  }
  return check_indices(permutation, count, "permutation");
}

Result<void> check_outliers(std::span<const std::int64_t> outliers, std::uint64_t count) {
  return outliers.empty() ? Result<void>() : check_indices(outliers, count, "outlier");
}

Result<void> check_matrices(std::uint32_t n, std::span<const double> forward, std::span<const double> inverse,
                            std::uint64_t count) {
  const CheckedSize size = CheckedSize(n) * n;
  const bool square = size.fits() && forward.size() == size.value() && inverse.size() == size.value();
  if (!square || (n != 0 && count % n != 0)) {
    return refused("The transforms forward and inverse have to be square and divide the tensor size: " +
                       std::to_string(n) + " rows for " + std::to_string(count) + " elements, with " +
                       std::to_string(forward.size()) + " and " + std::to_string(inverse.size()) +
                       " numbers.",
                   "Give two matrices of n * n numbers, n a divisor of the number of elements.");
  }
  if (!all_finite(forward) || !all_finite(inverse)) return not_finite("The transforms have to be finite.");
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      if (is_identity(n, forward, inverse, row, column)) continue;
      return refused(
          "The transforms forward and inverse must be inverse matrices; their product is no identity in "
          "row " +
              std::to_string(row) + ", column " + std::to_string(column) + ".",
          "Compute the inverse in float64.");
    }
  }
  return {};
}

Result<void> check_needed_transform(CodecProfile profile, std::uint32_t n) {
  const CodecProfileInfo& info = codec_profile_info(profile);
  if (!info.needs_transform || n != 0) return {};
  return refused("Format " + std::string(info.name) + " requires explicit forward and inverse transforms.",
                 "Give both matrices, or choose a format without them.");
}

Result<void> check_scale(double scale) {
  if (std::isfinite(scale) && scale > 0.0) return {};
  return Error{std::isfinite(scale) ? ErrorCode::kInvalidPolicy : ErrorCode::kNonFinite,
               "A scale must be finite and positive.", "", "Give scales above 0, or let them be computed."};
}

Result<void> check_zero_point(const BlockLayout& layout, double zero_point) {
  if (!std::isfinite(zero_point))
    return not_finite("A zero point must be finite, and an integer in the code range.");
  if (layout.method != CodecMethod::kAffine) {
    if (zero_point == 0.0) return {};
    return refused("The zero point of blocks that aren't integers must be zero.", "Leave zero points out.");
  }
  const CodeLimits limits = code_limits(layout);
  if (zero_point == std::trunc(zero_point) && zero_point >= limits.low && zero_point <= limits.high)
    return {};
  return refused("A zero point must be an integer in the code range, from " +
                     std::to_string(static_cast<int>(limits.low)) + " to " +
                     std::to_string(static_cast<int>(limits.high)) + ".",
                 "Round or clip zero points.");
}

Result<void> check_offset(const BlockLayout& layout, double offset) {
  if (!std::isfinite(offset)) return not_finite("An offset must be finite.");
  if (layout.method == CodecMethod::kAffine || offset == 0.0) return {};
  return refused("Only affine blocks accept an offset.", "Leave offsets out, or use a format of integers.");
}

Result<void> check_table(std::span<const double> table) {
  return all_finite(table) ? Result<void>() : not_finite("The supplied codebook must be finite.");
}

namespace {

Result<void> check_amount(std::size_t numbers, std::uint64_t blocks, const std::string& noun) {
  if (numbers == 1 || numbers == blocks) return {};
  return refused("A run of " + std::to_string(blocks) + " blocks has " + std::to_string(numbers) + " " +
                     noun + ": they must be scalar or one per block.",
                 "Give one number for all blocks, or one for each.");
}

Result<void> check_parameters(const CodecRun& run) {
  if (Result<void> checked = check_amount(run.scales.size(), run.blocks, "scales"); !checked.ok())
    return checked;
  if (Result<void> checked = check_amount(run.zero_points.size(), run.blocks, "zero points"); !checked.ok()) {
    return checked;
  }
  if (Result<void> checked = check_amount(run.offsets.size(), run.blocks, "offsets"); !checked.ok())
    return checked;
  for (const double scale : run.scales) {
    if (Result<void> checked = check_scale(scale); !checked.ok()) return checked;
  }
  for (const double zero_point : run.zero_points) {
    if (Result<void> checked = check_zero_point(run.layout, zero_point); !checked.ok()) return checked;
  }
  for (const double offset : run.offsets) {
    if (Result<void> checked = check_offset(run.layout, offset); !checked.ok()) return checked;
  }
  return {};
}

Result<void> check_codebooks(const CodecRun& run, std::uint64_t table) {
  const std::uint64_t given = run.codebooks.size();
  const CheckedSize all = CheckedSize(table) * run.blocks;
  if (given != table && !(all.fits() && given == all.value())) {
    const std::string next =
        table == 0 ? "Leave the codebook out." : "Supply codebooks; they aren't trained here.";
    return refused("The supplied codebook has " + std::to_string(given) +
                       " numbers; blocks of this run need " + std::to_string(table) +
                       " (books * entries * vector_size).",
                   next);
  }
  return check_table(run.codebooks);
}

// Adds the run's elements to `covered`.
Result<void> check_run(const CodecRun& run, std::uint64_t count, std::uint64_t& covered) {
  const Result<BlockSizes> sizes = check_block_layout(run.layout);
  if (!sizes.ok()) return sizes.error();
  if (run.blocks == 0) {
    return refused("A run needs nonempty blocks; it has 0 blocks.", "Leave the run out.");
  }
  if (Result<void> checked = check_parameters(run); !checked.ok()) return checked;
  if (Result<void> checked = check_codebooks(run, sizes.value().table_values); !checked.ok()) return checked;
  const CheckedSize total = CheckedSize(run.layout.count) * run.blocks + covered;
  if (!total.fits() || total.value() > count) {
    return refused("The blocks of the plan exceed the tensor's " + std::to_string(count) + " elements.",
                   "Make a plan for this tensor.");
  }
  covered = total.value();
  return {};
}

}  // namespace
}  // namespace codec

Result<void> check_codec_plan(const CodecPlan& plan, std::uint64_t count) {
  if (codec_profile_info(plan.profile).ort) {
    return codec::refused("Formats of onnxruntime's MatMulNBits aren't plans of portable blocks.",
                          "Encode them as matrices for MatMulNBits.");
  }
  if (plan.matrix_shape) {
    return codec::refused("Only ORT profiles accept matrix_shape.", "Leave matrix_shape out.");
  }
  std::uint64_t covered = 0;
  for (const CodecRun& run : plan.runs) {
    if (Result<void> checked = codec::check_run(run, count, covered); !checked.ok()) return checked;
  }
  if (covered != count) {
    return codec::refused("The blocks of the plan must cover exactly the tensor's " + std::to_string(count) +
                              " elements, and cover " + std::to_string(covered) + ".",
                          "Make a plan for this tensor.");
  }
  if (Result<void> checked = codec::check_permutation(plan.permutation, count); !checked.ok()) return checked;
  if (Result<void> checked = codec::check_outliers(plan.outliers, count); !checked.ok()) return checked;
  if (Result<void> checked = codec::check_needed_transform(plan.profile, plan.transform_size);
      !checked.ok()) {
    return checked;
  }
  return codec::check_matrices(plan.transform_size, plan.forward, plan.inverse, count);
}

}  // namespace halftone
