#include "codec_plan_options.h"

#include <cmath>
#include <utility>

#include "conversions.h"
#include "halftone/ort_matmul_nbits.h"

namespace halftone::wasm {
namespace {

// One number for all blocks, or one for each of them, run by run.
Result<void> spread(const char* what, const std::optional<std::vector<double>>& numbers, CodecPlan& plan,
                    std::vector<double> CodecRun::*member) {
  if (!numbers) return {};
  std::uint64_t blocks = 0;
  for (const CodecRun& run : plan.runs) blocks += run.blocks;
  if (numbers->size() != 1 && numbers->size() != blocks) {
    return Error{ErrorCode::kInvalidPolicy,
                 std::string(what) + " must be scalar or one per block: there are " +
                     std::to_string(numbers->size()) + " for " + std::to_string(blocks) + " blocks.",
                 "", "Give one number, or as many as there are blocks."};
  }
  auto next = numbers->begin();
  for (CodecRun& run : plan.runs) {
    if (numbers->size() == 1) {
      run.*member = *numbers;
    } else {
      const auto end = next + static_cast<std::ptrdiff_t>(run.blocks);
      (run.*member).assign(next, end);
      next = end;
    }
  }
  return {};
}

Result<void> spread_tables(const std::optional<std::vector<double>>& tables, CodecPlan& plan) {
  if (!tables) return {};
  std::uint64_t all = 0;
  for (const CodecRun& run : plan.runs) {
    const Result<BlockSizes> sizes = check_block_layout(run.layout);
    if (!sizes.ok()) return sizes.error();
    all += sizes.value().table_values * run.blocks;
  }
  auto next = tables->begin();
  for (CodecRun& run : plan.runs) {
    const std::uint64_t table = check_block_layout(run.layout).value().table_values;
    if (tables->size() == table) {
      run.codebooks = *tables;
      continue;
    }
    if (tables->size() != all) {
      return Error{ErrorCode::kInvalidPolicy,
                   "The supplied codebook has " + std::to_string(tables->size()) + " numbers, not " +
                       std::to_string(table) + ".",
                   "", "Give one table for all blocks, or one for each."};
    }
    const auto end = next + static_cast<std::ptrdiff_t>(table * run.blocks);
    run.codebooks.assign(next, end);
    next = end;
  }
  return {};
}

Result<std::vector<std::int64_t>> indices_from_js(const val& list) {
  const std::optional<std::vector<double>> numbers = numbers_from_js(list);
  std::vector<std::int64_t> indices;
  for (const double number : numbers.value_or(std::vector<double>())) {
    const Result<std::uint64_t> index = size_from_js(number);
    if (!index.ok()) return index.error();
    indices.push_back(static_cast<std::int64_t>(index.value()));
  }
  return indices;
}

Result<void> reorder(const val& options, CodecPlan& plan) {
  Result<std::vector<std::int64_t>> permutation = indices_from_js(options["permutation"]);
  if (!permutation.ok()) return permutation.error();
  Result<std::vector<std::int64_t>> outliers = indices_from_js(options["outliers"]);
  if (!outliers.ok()) return outliers.error();
  plan.permutation = std::move(permutation).value();
  plan.outliers = std::move(outliers).value();
  const std::optional<std::vector<double>> forward = numbers_from_js(options["forward"]);
  const std::optional<std::vector<double>> inverse = numbers_from_js(options["inverse"]);
  if (!forward && !inverse) return {};
  plan.forward = forward.value_or(std::vector<double>());
  plan.inverse = inverse.value_or(std::vector<double>());
  plan.transform_size = static_cast<std::uint32_t>(std::lround(std::sqrt(plan.forward.size())));
  return {};
}

Result<CodecPlan> plan_of(const Source& source, CodecProfile profile) {
  if (!codec_profile_info(profile).ort)
    return make_codec_plan(profile, source.count, source.choice.block_size);
  if (source.dims.size() != 2) {
    return Error{ErrorCode::kShapeMismatch,
                 source.choice.format->name + " stores a matrix, and this tensor's rank is " +
                     std::to_string(source.dims.size()) + ".",
                 "", "Reshape the array to two dimensions, or choose another format."};
  }
  return make_matmul_nbits_plan(profile, static_cast<std::uint64_t>(source.dims[0]),
                                static_cast<std::uint64_t>(source.dims[1]), source.choice.block_size);
}

}  // namespace

Result<WholePlan> profile_plan(const val& options, const Source& source, CodecProfile profile) {
  Result<CodecPlan> plan = plan_of(source, profile);
  if (!plan.ok()) return plan.error();
  WholePlan whole;
  whole.plan = std::move(plan).value();
  const std::optional<std::vector<double>> scales = numbers_from_js(options["scales"]);
  whole.automatic = !scales;
  const struct {
    const char* what;
    std::optional<std::vector<double>> numbers;
    std::vector<double> CodecRun::*member;
  } given[] = {{"Scales", scales, &CodecRun::scales},
               {"Zero points", numbers_from_js(options["zeroPoints"]), &CodecRun::zero_points},
               {"Offsets", numbers_from_js(options["offsets"]), &CodecRun::offsets}};
  for (const auto& [what, numbers, member] : given) {
    if (Result<void> done = spread(what, numbers, whole.plan, member); !done.ok()) return done.error();
  }
  if (Result<void> done = spread_tables(numbers_from_js(options["codebooks"]), whole.plan); !done.ok())
    return done.error();
  if (Result<void> done = reorder(options, whole.plan); !done.ok()) return done.error();
  const val name = options["name"];
  if (!name.isNull() && !name.isUndefined()) whole.name = name.as<std::string>();
  return whole;
}

}  // namespace halftone::wasm
