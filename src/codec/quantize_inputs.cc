// The inputs of ai.rt::Quantize as numbers of a plan.
#include <cmath>
#include <string>
#include <utility>

#include "codec/float_elements.h"
#include "halftone/codec.h"

namespace halftone {
namespace {

using codec::is_codec_float;
using codec::load_bytes;
using codec::load_float;

Error refused(std::string what, std::string next) {
  return {ErrorCode::kInvalidPolicy, std::move(what), "", std::move(next)};
}

Result<void> check_bytes(const CodecTensor& tensor, const std::string& noun) {
  const std::optional<std::uint64_t> bytes = raw_byte_count(tensor.type, tensor.dims);
  if (bytes && *bytes == tensor.bytes.size()) return {};
  return Error{ErrorCode::kShapeMismatch, "The bytes of input " + noun + " don't fit its shape.", "",
               "Check the tensor's dimensions and type."};
}

Result<std::vector<double>> float_input(const CodecTensor& tensor, const std::string& noun) {
  if (!is_codec_float(tensor.type)) {
    return Error{ErrorCode::kUnsupportedType,
                 "Input " + noun + " requires FLOAT, DOUBLE, FLOAT16 or BFLOAT16 numbers, not " +
                     data_type_name(tensor.type) + ".",
                 "", "Convert it to one of these types."};
  }
  if (Result<void> checked = check_bytes(tensor, noun); !checked.ok()) return checked.error();
  const std::size_t width = data_type_bits(tensor.type) / 8;
  std::vector<double> values(tensor.bytes.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = load_float(tensor.type, tensor.bytes.data() + i * width);
    if (std::isfinite(values[i])) continue;
    return Error{ErrorCode::kNonFinite, "The numbers of input " + noun + " must be finite.",
                 "element " + std::to_string(i), "Check how they were computed."};
  }
  return values;
}

using RunNumbers = std::vector<double> CodecRun::*;

// One number for all blocks, or one for each.
Result<void> spread(const std::optional<CodecTensor>& input, const std::string& noun,
                    const CodecSchema& schema, RunNumbers member, CodecPlan& plan) {
  if (!input) return {};
  const Result<std::vector<double>> values = float_input(*input, noun);
  if (!values.ok()) return values.error();
  const std::size_t count = values.value().size();
  if (input->dims.size() > 1 || (count != 1 && count != schema.blocks)) {
    return refused("Input " + noun + " must be scalar or one per block; it has " + std::to_string(count) +
                       " numbers for " + std::to_string(schema.blocks) + " blocks.",
                   "Give one number, or a list with one for each block.");
  }
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    if (count == 1) {
      plan.runs[i].*member = values.value();
      continue;
    }
    const auto first = values.value().begin() + static_cast<std::ptrdiff_t>(schema.runs[i].first_block);
    (plan.runs[i].*member).assign(first, first + static_cast<std::ptrdiff_t>(schema.runs[i].blocks));
  }
  return {};
}

Result<void> take_codebooks(const CodecTensor& input, const CodecSchema& schema, CodecPlan& plan) {
  const Result<std::vector<double>> values = float_input(input, "codebooks");
  if (!values.ok()) return values.error();
  std::uint64_t needed = 0;  // less than the payload's bytes, which are below 2^60
  for (const SchemaRun& run : schema.runs) needed += run.blocks * run.sizes.table_values;
  if (values.value().size() != needed) {
    return refused("The supplied codebooks have " + std::to_string(values.value().size()) +
                       " numbers; the blocks need " + std::to_string(needed) + ".",
                   "Give the tables of all blocks, one after the other.");
  }
  auto next = values.value().begin();
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const auto end =
        next + static_cast<std::ptrdiff_t>(schema.runs[i].blocks * schema.runs[i].sizes.table_values);
    plan.runs[i].codebooks.assign(next, end);
    next = end;
  }
  return {};
}

Result<void> use_default_codebooks(const CodecSchema& schema, CodecPlan& plan) {
  const std::span<const double> table = codec_profile_info(schema.profile).codebook;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const std::uint64_t needed = schema.runs[i].sizes.table_values;
    if (needed == 0) continue;
    if (needed != table.size()) {
      return refused("Tables of " + std::to_string(needed) +
                         " numbers have no default in this format: it needs explicit codebooks.",
                     "Give codebooks; they aren't trained here.");
    }
    plan.runs[i].codebooks.assign(table.begin(), table.end());
  }
  return {};
}

Result<void> check_scales_given(const QuantizeInputs& inputs, const CodecPlan& plan) {
  if (inputs.scales) return {};
  for (const CodecRun& run : plan.runs) {
    const BlockLayout& layout = run.layout;
    if (layout.method != CodecMethod::kCodebook || (layout.books == 1 && layout.vector_size == 1)) continue;
    return refused("Tables of vectors need explicit scales: none are computed for them.", "Give scales.");
  }
  return {};
}

Result<std::vector<std::int64_t>> index_input(const std::optional<CodecTensor>& input, std::uint64_t extent,
                                              const std::string& noun) {
  if (!input && extent == 0) return std::vector<std::int64_t>();
  if (!input) {
    return refused("The struct type has room for an explicit " + noun + " tensor, which isn't given.",
                   "Give input " + noun + ".");
  }
  const bool fits = extent != 0 && input->type == DataType::kInt64 && input->dims.size() == 1 &&
                    static_cast<std::uint64_t>(input->dims[0]) == extent;
  if (!fits) {
    return refused("Input " + noun + " is an invalid " + noun + " tensor: " + std::to_string(extent) +
                       " int64 numbers in one dimension are needed.",
                   "Give exactly the indices that the struct type has room for.");
  }
  if (Result<void> checked = check_bytes(*input, noun); !checked.ok()) return checked.error();
  std::vector<std::int64_t> indices(static_cast<std::size_t>(extent));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = load_bytes<std::int64_t>(input->bytes.data() + i * sizeof(std::int64_t));
  }
  return indices;
}

Result<std::vector<double>> matrix_input(const std::optional<CodecTensor>& input, std::uint32_t n,
                                         const std::string& noun) {
  if (!input && n == 0) return std::vector<double>();
  const std::vector<std::int64_t> square{n, n};
  if (input && n != 0 && input->dims == square) return float_input(*input, noun);
  return refused(
      "Input " + noun + " must have shape [" + std::to_string(n) + ", " + std::to_string(n) + "].",
      n == 0 ? "Leave it out: the struct type has no room for it." : "Give a square matrix of that size.");
}

template <typename T>
Result<void> take(Result<std::vector<T>> input, std::vector<T>& into) {
  if (!input.ok()) return input.error();
  into = std::move(input).value();
  return {};
}

Result<void> take_order(const CodecSchema& schema, const QuantizeInputs& inputs, CodecPlan& plan) {
  plan.transform_size = schema.transform_size;
  Result<void> taken =
      take(index_input(inputs.permutation, schema.permutation, "permutation"), plan.permutation);
  if (taken.ok()) taken = take(matrix_input(inputs.forward, schema.transform_size, "forward"), plan.forward);
  if (taken.ok()) taken = take(matrix_input(inputs.inverse, schema.transform_size, "inverse"), plan.inverse);
  if (taken.ok()) taken = take(index_input(inputs.outliers, schema.outliers, "outliers"), plan.outliers);
  return taken;
}

CodecPlan default_plan(const CodecSchema& schema) {
  CodecPlan plan;
  plan.profile = schema.profile;
  for (const SchemaRun& from : schema.runs) {
    CodecRun& run = plan.runs.emplace_back();
    run.layout = from.layout;
    run.blocks = from.blocks;
    if (from.layout.method == CodecMethod::kAffine && !from.layout.signed_codes) {
      run.zero_points = {std::ldexp(1.0, static_cast<int>(from.layout.bits) - 1)};
    }
  }
  return plan;
}

}  // namespace

Result<CodecPlan> plan_from_inputs(const CodecSchema& schema, const QuantizeInputs& inputs) {
  CodecPlan plan = default_plan(schema);
  Result<void> taken = spread(inputs.scales, "scales", schema, &CodecRun::scales, plan);
  if (taken.ok()) taken = spread(inputs.zero_points, "zero_points", schema, &CodecRun::zero_points, plan);
  if (taken.ok()) taken = spread(inputs.offsets, "offsets", schema, &CodecRun::offsets, plan);
  if (taken.ok()) {
    taken = inputs.codebooks ? take_codebooks(*inputs.codebooks, schema, plan)
                             : use_default_codebooks(schema, plan);
  }
  if (taken.ok()) taken = check_scales_given(inputs, plan);
  if (taken.ok()) taken = take_order(schema, inputs, plan);
  if (!taken.ok()) return taken.error();
  return plan;
}

}  // namespace halftone
