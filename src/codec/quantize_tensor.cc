// ai.rt::Quantize.
#include <utility>

#include "codec/float_elements.h"
#include "codec/tensor_encoding.h"
#include "halftone/codec.h"
#include "halftone/ort_matmul_nbits.h"

namespace halftone {
namespace {

Error other_schema() {
  return {ErrorCode::kInvalidPolicy,
          "What was encoded does not match its versioned schema: the type that was asked for is another.", "",
          "Take the struct type of a value that was encoded with the same numbers."};
}

// One number per group, or one for all.
Result<void> take_numbers(const std::optional<CodecTensor>& input, const char* noun, std::uint64_t groups,
                          std::vector<double>& into) {
  if (!input) return {};
  const std::optional<std::uint64_t> bytes = raw_byte_count(input->type, input->dims);
  const bool sound = codec::is_codec_float(input->type) && bytes && *bytes == input->bytes.size();
  const std::size_t width = sound ? data_type_bits(input->type) / 8 : 1;
  const std::size_t count = input->bytes.size() / width;
  if (!sound || input->dims.size() > 1 || (count != 1 && count != groups)) {
    return Error{ErrorCode::kInvalidPolicy,
                 "Input " + std::string(noun) + " must be scalar or one per block, as plain floats.", "",
                 "Give one number, or a list with one for each block."};
  }
  into.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    into[i] = codec::load_float(input->type, input->bytes.data() + i * width);
  return {};
}

Result<EncodedValue> quantize_for_matmul_nbits(const CodecTensor& x, const StructType& type,
                                               const QuantizeInputs& inputs) {
  const Result<MatMulNBitsLayout> layout = parse_matmul_nbits(type);
  if (!layout.ok()) return layout.error();
  if (inputs.offsets || inputs.codebooks || inputs.permutation || inputs.forward || inputs.inverse ||
      inputs.outliers) {
    return Error{ErrorCode::kInvalidPolicy,
                 "MatMulNBits has no offset, codebook, permutation, transform or outliers.", "",
                 "Give scales and zero points only."};
  }
  const MatMulNBitsLayout& known = layout.value();
  // The descriptor knows the number of groups only; how many rows the last one has, the matrix says.
  const bool matrix = x.dims.size() == 2 && x.dims[0] > 0;
  const std::uint64_t rows = matrix ? static_cast<std::uint64_t>(x.dims[0]) : known.k;
  Result<CodecPlan> plan = make_matmul_nbits_plan(known.profile, rows, known.n, known.block_size);
  if (!plan.ok()) return plan.error();
  CodecRun& run = plan.value().runs[0];
  Result<void> taken = take_numbers(inputs.zero_points, "zero_points", run.blocks, run.zero_points);
  if (taken.ok()) taken = take_numbers(inputs.scales, "scales", run.blocks, run.scales);
  if (taken.ok() && !inputs.scales) taken = calibrate_matmul_nbits(x, plan.value());
  if (!taken.ok()) return taken.error();
  Result<EncodedValue> value = encode_matmul_nbits(x, plan.value());
  if (value.ok() && !(std::get<StructType>(value.value().layout) == type)) return other_schema();
  return value;
}

Result<EncodedValue> quantize_blocks(const CodecTensor& x, const StructType& type,
                                     const QuantizeInputs& inputs) {
  const Result<std::uint64_t> count = codec::check_source(x);
  if (!count.ok()) return count.error();
  const Result<CodecSchema> schema = parse_codec_schema(type);
  if (!schema.ok()) return schema.error();
  const Result<CodecPlan> plan = plan_from_inputs(schema.value(), inputs);
  if (!plan.ok()) return plan.error();
  if (Result<void> checked = check_codec_plan(plan.value(), count.value()); !checked.ok())
    return checked.error();
  Result<std::vector<std::uint8_t>> payload =
      codec::encode_payload(x, plan.value(), schema.value(), !inputs.scales);
  if (!payload.ok()) return payload.error();
  EncodedValue value;
  value.logical_type = TensorType{x.type, x.dims, true};
  value.payload = PayloadBytes(std::move(payload).value());
  return value;
}

}  // namespace

Result<EncodedValue> quantize_tensor(const CodecTensor& x, const StructType& type,
                                     const QuantizeInputs& inputs, const StructCatalogue& catalogue) {
  const Result<StructType> resolved = resolve_struct_type(type, catalogue);
  if (!resolved.ok()) return resolved.error();
  Result<EncodedValue> value = is_matmul_nbits(resolved.value())
                                   ? quantize_for_matmul_nbits(x, resolved.value(), inputs)
                                   : quantize_blocks(x, resolved.value(), inputs);
  if (value.ok()) value.value().layout = type;
  return value;
}

}  // namespace halftone
