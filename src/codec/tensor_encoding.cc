#include "codec/tensor_encoding.h"

#include <cmath>
#include <new>
#include <string>
#include <utility>

#include "codec/checked_size.h"
#include "codec/element_order.h"
#include "codec/float_elements.h"
#include "codec/record_runs.h"
#include "halftone/ort_matmul_nbits.h"

namespace halftone {
namespace codec {
namespace {

Error no_memory(const CodecSchema& schema) {
  return {ErrorCode::kOutOfMemory,
          "There is not enough memory for an encoded value of " + std::to_string(schema.payload_bytes) +
              " bytes.",
          "", "Use larger blocks or a smaller codebook, or encode by ranges of blocks."};
}

// What will be decoded, after transforms and with outliers, has to be finite in the source's type.
Result<void> check_decoded(const CodecSchema& schema, const PayloadPrefix& prefix, DataType type,
                           const std::uint8_t* records) {
  std::vector<double> values(static_cast<std::size_t>(schema.elements));
  const DecodeJob job{schema, DataType::kDouble, nullptr};
  Result<void> decoded =
      decode_records(job, 0, schema.blocks, records, reinterpret_cast<std::uint8_t*>(values.data()));
  if (!decoded.ok()) return decoded;
  values = from_block_order(std::move(values), prefix);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(rounded_float(type, values[i]))) continue;
    return Error{ErrorCode::kNonFinite,
                 "A value would be reconstructed as nonfinite: its code stands for more than " +
                     data_type_name(type) + " holds.",
                 "element " + std::to_string(i), "Use a smaller scale."};
  }
  return {};
}

Result<std::vector<std::uint8_t>> encode_reordered(const CodecTensor& x, const CodecPlan& plan,
                                                   const CodecSchema& schema, bool automatic_scales) {
  PayloadPrefix prefix{plan.permutation, plan.transform_size, plan.forward, plan.inverse, plan.outliers, {}};
  const Result<std::vector<double>> values = to_block_order(x, schema.elements, prefix);
  if (!values.ok()) return values.error();
  std::vector<std::uint8_t> payload;
  payload.reserve(static_cast<std::size_t>(schema.payload_bytes));
  append_prefix(prefix, payload);
  const std::size_t first = payload.size();
  payload.resize(static_cast<std::size_t>(schema.payload_bytes));
  const EncodeJob job{plan, DataType::kDouble, automatic_scales, false, nullptr};
  const auto* source = reinterpret_cast<const std::uint8_t*>(values.value().data());
  Result<void> encoded = encode_records(job, 0, schema.blocks, source, payload.data() + first);
  if (encoded.ok()) encoded = check_decoded(schema, prefix, x.type, payload.data() + first);
  if (!encoded.ok()) return encoded.error();
  return payload;
}

}  // namespace

Result<std::uint64_t> check_source(const CodecTensor& x) {
  if (!is_codec_float(x.type)) {
    return Error{
        ErrorCode::kUnsupportedType,
        "Encoding requires FLOAT, DOUBLE, FLOAT16 or BFLOAT16 values, not " + data_type_name(x.type) + ".",
        "", "Convert the tensor to one of these types."};
  }
  const std::optional<std::uint64_t> bytes = raw_byte_count(x.type, x.dims);
  if (!bytes || *bytes != x.bytes.size()) {
    return Error{ErrorCode::kShapeMismatch, "The tensor's bytes don't fit its shape.", "",
                 "Check the tensor's dimensions and type."};
  }
  return *element_count(x.dims);
}

Result<std::vector<std::uint8_t>> encode_payload(const CodecTensor& x, const CodecPlan& plan,
                                                 const CodecSchema& schema, bool automatic_scales) try {
  if (!fits_memory(schema.payload_bytes) || !fits_memory(schema.elements * sizeof(double)))
    return no_memory(schema);
  if (!keeps_order(schema)) return encode_reordered(x, plan, schema, automatic_scales);
  std::vector<std::uint8_t> payload(static_cast<std::size_t>(schema.payload_bytes));
  const EncodeJob job{plan, x.type, automatic_scales, true, &default_kernels()};
  Result<void> encoded =
      encode_records(job, 0, schema.blocks, x.bytes.data(), payload.data() + schema.prefix_bytes);
  if (!encoded.ok()) return encoded.error();
  return payload;
} catch (const std::bad_alloc&) {
  return no_memory(schema);
}

}  // namespace codec

Result<EncodedValue> encode_tensor(const CodecTensor& x, const CodecPlan& plan) {
  if (codec_profile_info(plan.profile).ort) return encode_matmul_nbits(x, plan);
  const Result<std::uint64_t> count = codec::check_source(x);
  if (!count.ok()) return count.error();
  if (Result<void> checked = check_codec_plan(plan, count.value()); !checked.ok()) return checked.error();
  const Result<CodecSchema> schema = make_codec_schema(plan);
  if (!schema.ok()) return schema.error();
  Result<std::vector<std::uint8_t>> payload = codec::encode_payload(x, plan, schema.value(), false);
  if (!payload.ok()) return payload.error();
  EncodedValue value;
  value.logical_type = TensorType{x.type, x.dims, true};
  value.layout = codec_descriptor(schema.value());
  value.payload = PayloadBytes(std::move(payload).value());
  return value;
}

}  // namespace halftone
