// AffineLayoutProto: integers with a scale per tensor, per index of an axis, or per block along it.
#include <string>

#include "codec/message_fields.h"
#include "halftone/encoded_value_check.h"
#include "model/tensor_facts.h"

namespace halftone {
namespace {

constexpr std::string_view kNoun = "affine layout";

Error wrong(const std::string& what) {
  return {ErrorCode::kInvalidGraph, "An affine layout " + what + ".", "",
          "Check what wrote the encoded value."};
}

struct Parameter {
  bool present = false;
  DataType type = DataType::kUndefined;
  std::vector<std::int64_t> dims;
};

struct Affine {
  DataType storage = DataType::kUndefined;
  Parameter scale;
  Parameter zero_point;
  std::optional<std::int64_t> axis;
  std::uint64_t block_size = 0;
};

// A tensor that holds its values itself, as many as its dims say.
Result<Parameter> read_parameter(std::span<const std::uint8_t> bytes, ByteRange range,
                                 std::string_view name) {
  // tensor_facts trusts that the fields are sound.
  const codec::Message message = {bytes, range, name};
  const Result<void> sound =
      codec::for_each_field(message, [](const WireField& /*field*/) -> Result<void> { return {}; });
  if (!sound) return sound.error();
  const TensorFacts facts = tensor_facts(bytes, range);
  const std::string noun(name);
  if (facts.external || facts.segmented) return wrong("has a " + noun + " whose values lie elsewhere");
  const Result<void> sane = check_tensor(bytes, facts, name);
  if (!sane) return sane.error();
  return Parameter{true, facts.type, facts.dims};
}

Result<Affine> read_affine(std::span<const std::uint8_t> bytes) {
  Affine affine;
  const codec::Message message = {bytes, {0, bytes.size()}, kNoun};
  codec::SingleFields single(message);
  const Result<void> walked = codec::for_each_field(message, [&](const WireField& field) -> Result<void> {
    if (field.number == 0 || field.number > 5) return message.unknown(field);
    const bool tensor = field.number == 2 || field.number == 3;
    const Result<void> taken = single.take(field, tensor ? WireType::kLength : WireType::kVarint);
    if (!taken) return taken;
    if (field.number == 1) affine.storage = static_cast<DataType>(static_cast<std::int32_t>(field.value));
    if (field.number == 4) affine.axis = static_cast<std::int64_t>(field.value);
    if (field.number == 5) affine.block_size = field.value;
    if (!tensor) return {};
    Result<Parameter> parameter =
        read_parameter(bytes, field.payload, field.number == 2 ? "scale" : "zero point");
    if (!parameter) return parameter.error();
    (field.number == 2 ? affine.scale : affine.zero_point) = std::move(parameter).value();
    return {};
  });
  if (!walked) return walked.error();
  return affine;
}

bool is_storage(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8 || type == DataType::kInt4 ||
         type == DataType::kUint4 || type == DataType::kInt2 || type == DataType::kUint2;
}

bool is_floating(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

// The shape that a scale has to have; nullopt for an axis that isn't there.
std::optional<std::vector<std::int64_t>> scale_dims(const Affine& affine, const TensorType& logical) {
  if (!affine.axis) return std::vector<std::int64_t>{};
  const auto rank = static_cast<std::int64_t>(logical.dims.size());
  const std::int64_t axis = *affine.axis < 0 ? *affine.axis + rank : *affine.axis;
  if (axis < 0 || axis >= rank) return std::nullopt;
  const std::int64_t length = logical.dims[static_cast<std::size_t>(axis)];
  if (affine.block_size == 0) return std::vector<std::int64_t>{length};
  std::vector<std::int64_t> dims = logical.dims;
  const auto elements = static_cast<std::uint64_t>(length);
  const std::uint64_t blocks = elements / affine.block_size + (elements % affine.block_size != 0 ? 1 : 0);
  dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(blocks);
  return dims;
}

Result<void> check_parameters(const Affine& affine, const TensorType& logical) {
  if (!is_storage(affine.storage))
    return wrong("has a storage type that isn't int8, uint8, int4, uint4, int2 or uint2");
  if (!affine.scale.present) return wrong("has no scale");
  if (!is_floating(affine.scale.type)) return wrong("has a scale that is no floating-point tensor");
  if (affine.block_size > 0 && !affine.axis) return wrong("has a block size without an axis");
  const std::optional<std::vector<std::int64_t>> dims = scale_dims(affine, logical);
  if (!dims) return wrong("has an axis that its tensor doesn't have");
  // Without an axis, one value may be written with rank 0 only.
  if (affine.scale.dims != *dims)
    return wrong("has a scale of another shape than its axis and block size ask for");
  if (!affine.zero_point.present) return {};
  if (affine.zero_point.type != affine.storage)
    return wrong("has a zero point of another type than its codes");
  if (affine.zero_point.dims != *dims) return wrong("has a zero point of another shape than its scale");
  return {};
}

}  // namespace

Result<void> check_affine_layout(const AffineLayout& layout, const TensorType& logical,
                                 std::optional<std::span<const std::uint8_t>> payload,
                                 std::optional<std::uint64_t> payload_bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(layout.message.data());
  const Result<Affine> affine = read_affine({first, layout.message.size()});
  if (!affine) return affine.error();
  const Result<void> parameters = check_parameters(affine.value(), logical);
  if (!parameters) return parameters;
  const std::optional<std::uint64_t> needed = raw_byte_count(affine.value().storage, logical.dims);
  if (!needed) return wrong("stands for a tensor of an impossible shape");
  if (payload_bytes && *payload_bytes != *needed) {
    return Error{
        *payload_bytes < *needed ? ErrorCode::kTruncated : ErrorCode::kInvalidGraph,
        "An affine payload " +
            std::string(*payload_bytes < *needed ? "is truncated: it has " : "has trailing bytes: it has ") +
            std::to_string(*payload_bytes) + " bytes, not " + std::to_string(*needed) + ".",
        "", "Check what wrote the encoded value."};
  }
  if (!payload || payload->empty()) return {};
  const std::uint64_t bits = *element_count(logical.dims) * data_type_bits(affine.value().storage);
  if (bits % 8 != 0 && payload->back() >> bits % 8 != 0) return wrong("has padding bits that aren't 0");
  return {};
}

}  // namespace halftone
