// The descriptor of onnxruntime's profiles, and what a value has to be like.
#include <array>
#include <limits>
#include <string>

#include "halftone/ort_matmul_nbits.h"

namespace halftone {
namespace {

constexpr std::uint64_t kMaxPayload = std::uint64_t{1} << 60U;
constexpr std::uint32_t kMinBlockSize = 16;

Error not_canonical() {
  return {ErrorCode::kInvalidGraph,
          "The descriptor of a MatMulNBits value does not match its versioned schema.", "",
          "Encode the tensor again."};
}

bool is_ort_profile(CodecProfile profile) { return codec_profile_info(profile).ort; }

std::uint32_t bits_of(CodecProfile profile) { return codec_profile_info(profile).layout.bits; }

bool is_block_size(std::uint64_t size) {
  return size >= kMinBlockSize && size <= std::numeric_limits<std::uint32_t>::max() &&
         (size & (size - 1)) == 0;
}

bool product_exceeds(std::uint64_t a, std::uint64_t b, std::uint64_t limit) {
  return b != 0 && a > limit / b;
}

// Whether the payload stays below 2^60 bytes: a group has at least 4 bytes of codes, and a scale and a zero
// point of at most 8 bytes together.
bool is_too_large(const MatMulNBitsLayout& layout) {
  const std::uint64_t group = layout.group_bytes() + 8;
  return layout.k > kMaxPayload || layout.n > kMaxPayload ||
         product_exceeds(layout.groups(), layout.n, kMaxPayload) ||
         product_exceeds(layout.groups() * layout.n, group, kMaxPayload);
}

StructField tensor_field(std::string name, DataType type, std::vector<std::int64_t> dims) {
  return {std::move(name), ElementType{TensorType{type, std::move(dims), true}}, std::nullopt};
}

const TensorType* tensor_of(const StructField& field) {
  const auto* element = std::get_if<ElementType>(&field.content);
  return element == nullptr ? nullptr : std::get_if<TensorType>(&element->value);
}

// A dimension as a positive number; 0 if it isn't one.
std::uint64_t dimension(const TensorType& tensor, std::size_t axis) {
  if (axis >= tensor.dims.size() || tensor.dims[axis] < 0) return 0;
  return static_cast<std::uint64_t>(tensor.dims[axis]);
}

// What a canonical descriptor's fields say, but for k, which is only known to be in the last group.
bool read_fields(const Structure& structure, MatMulNBitsLayout& layout) {
  if (structure.fields.size() < 3 || structure.fields.size() > 4) return false;
  const auto* parameters = std::get_if<StructConstant>(&structure.fields[0].content);
  const TensorType* weights = tensor_of(structure.fields[1]);
  const TensorType* scales = tensor_of(structure.fields[2]);
  if (parameters == nullptr || weights == nullptr || scales == nullptr) return false;
  if (parameters->int64_data.size() != 2 ||
      !is_block_size(static_cast<std::uint64_t>(parameters->int64_data[1]))) {
    return false;
  }
  layout.block_size = static_cast<std::uint32_t>(parameters->int64_data[1]);
  layout.n = dimension(*weights, 0);
  layout.type = scales->type;
  const std::uint64_t groups = dimension(*weights, 1);
  if (layout.n == 0 || groups == 0 || product_exceeds(groups, layout.block_size, kMaxPayload)) return false;
  layout.k = groups * layout.block_size;
  if (structure.fields.size() == 4) {
    const TensorType* zero_points = tensor_of(structure.fields[3]);
    if (zero_points == nullptr) return false;
    layout.zero_points = zero_points->type == DataType::kUint8 ? MatMulNBitsLayout::ZeroPoints::kPacked
                                                               : MatMulNBitsLayout::ZeroPoints::kSourceType;
  }
  return layout.type == DataType::kFloat || layout.type == DataType::kFloat16 ||
         layout.type == DataType::kBfloat16;
}

Result<void> check_logical_type(const EncodedValue& value, MatMulNBitsLayout& layout) {
  const Error wrong = {ErrorCode::kInvalidGraph,
                       "The logical shape or type of a MatMulNBits value isn't that of its descriptor.", "",
                       "Encode the tensor again."};
  if (!value.logical_type || !value.logical_type->has_shape || value.logical_type->type != layout.type ||
      value.logical_type->dims.size() != 2) {
    return wrong;
  }
  const std::uint64_t k = dimension(*value.logical_type, 0);
  const std::uint64_t groups = layout.groups();
  layout.k = k;
  if (k == 0 || dimension(*value.logical_type, 1) != layout.n || layout.groups() != groups) return wrong;
  return {};
}

// Low bits first; index in the column.
std::uint32_t packed_code(const std::uint8_t* bytes, std::uint64_t index, std::uint32_t bits) {
  const std::uint64_t bit = index * bits;
  return bytes[bit / 8] >> bit % 8 & ((1U << bits) - 1U);
}

Result<void> check_padding(const MatMulNBitsLayout& layout, std::span<const std::uint8_t> payload) {
  const std::uint64_t column_codes = layout.groups() * layout.block_size;
  const std::uint64_t column_bytes = layout.groups() * layout.group_bytes();
  for (std::uint64_t column = 0; column < layout.n; ++column) {
    for (std::uint64_t row = layout.k; row < column_codes; ++row) {
      if (packed_code(payload.data() + column * column_bytes, row, layout.bits) == 0) continue;
      return Error{ErrorCode::kInvalidGraph, "The weight padding behind the last row of a column isn't 0.",
                   "column " + std::to_string(column), "Encode the tensor again."};
    }
  }
  if (layout.zero_points != MatMulNBitsLayout::ZeroPoints::kPacked) return {};
  const std::span<const std::uint8_t> zero_points =
      payload.subspan(static_cast<std::size_t>(layout.weight_bytes() + layout.scale_bytes()));
  const std::uint64_t per_column = layout.packed_column_bytes();
  for (std::uint64_t column = 0; column < layout.n; ++column) {
    for (std::uint64_t group = layout.groups(); group < per_column * 8 / layout.bits; ++group) {
      if (packed_code(zero_points.data() + column * per_column, group, layout.bits) == 0) continue;
      return Error{ErrorCode::kInvalidGraph, "The zero-point padding of a column isn't 0.",
                   "column " + std::to_string(column), "Encode the tensor again."};
    }
  }
  return {};
}

Result<void> check_payload_size(const MatMulNBitsLayout& layout, std::uint64_t size) {
  if (size == layout.payload_bytes()) return {};
  const bool truncated = size < layout.payload_bytes();
  return Error{truncated ? ErrorCode::kTruncated : ErrorCode::kInvalidGraph,
               std::string("The payload of a MatMulNBits value ") +
                   (truncated ? "is truncated: it has " : "has trailing bytes: it has ") +
                   std::to_string(size) + " bytes, not " + std::to_string(layout.payload_bytes()) + ".",
               "", "Encode the tensor again, or check the file."};
}

}  // namespace

std::uint64_t MatMulNBitsLayout::zero_point_bytes() const {
  if (zero_points == ZeroPoints::kMidpoint) return 0;
  return zero_points == ZeroPoints::kPacked ? n * packed_column_bytes() : scale_bytes();
}

Result<CodecPlan> make_matmul_nbits_plan(CodecProfile profile, std::uint64_t k, std::uint64_t n,
                                         std::uint32_t block_size) {
  if (!is_ort_profile(profile)) {
    return Error{ErrorCode::kInvalidPolicy,
                 std::string(codec_profile_info(profile).name) + " isn't a profile of onnxruntime's bytes.",
                 "", "Choose ort_matmulnbits_int2, _int4 or _int8, or make a plan by elements."};
  }
  if (!is_block_size(block_size)) {
    return Error{ErrorCode::kInvalidPolicy,
                 "MatMulNBits has no blocks of " + std::to_string(block_size) + " rows.", "",
                 "Choose a power of two from 16 on."};
  }
  MatMulNBitsLayout layout;
  layout.profile = profile;
  layout.bits = bits_of(profile);
  layout.block_size = block_size;
  layout.k = k;
  layout.n = n;
  if (k == 0 || n == 0) {
    return Error{ErrorCode::kInvalidPolicy, "The shape of a MatMulNBits matrix has a dimension of 0.", "",
                 "Leave the empty tensor as it is."};
  }
  if (is_too_large(layout)) {
    return Error{ErrorCode::kTooLarge, "A MatMulNBits payload would be larger than 2^60 bytes.", "",
                 "Check the matrix and the block size."};
  }
  CodecPlan plan;
  plan.profile = profile;
  plan.matrix_shape = MatrixShape{k, n};
  CodecRun run;
  run.layout = codec_profile_info(profile).layout;
  run.layout.count = block_size;
  run.blocks = n * layout.groups();
  run.zero_points = {codec_profile_info(profile).zero_point};
  plan.runs.push_back(std::move(run));
  return plan;
}

StructType matmul_nbits_descriptor(const MatMulNBitsLayout& layout) {
  const auto n = static_cast<std::int64_t>(layout.n);
  const auto groups = static_cast<std::int64_t>(layout.groups());
  Structure structure;
  structure.fields.push_back({"parameters",
                              StructConstant{DataType::kInt64, {2}, {layout.bits, layout.block_size}, {}},
                              std::nullopt});
  structure.fields.push_back(
      tensor_field("B", DataType::kUint8, {n, groups, static_cast<std::int64_t>(layout.group_bytes())}));
  structure.fields.push_back(tensor_field("scales", layout.type, {n, groups}));
  if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kPacked) {
    structure.fields.push_back(tensor_field("zero_points", DataType::kUint8,
                                            {n, static_cast<std::int64_t>(layout.packed_column_bytes())}));
  } else if (layout.zero_points == MatMulNBitsLayout::ZeroPoints::kSourceType) {
    structure.fields.push_back(tensor_field("zero_points", layout.type, {n, groups}));
  }
  StructType type;
  type.kind = std::move(structure);
  type.name = std::string(kCodecSchemaPrefix) + std::string(codec_profile_info(layout.profile).name);
  return type;
}

bool is_matmul_nbits(const StructType& type) {
  if (!type.name || type.name->compare(0, kCodecSchemaPrefix.size(), kCodecSchemaPrefix) != 0) return false;
  const Result<CodecProfile> profile = parse_codec_profile(type.name->substr(kCodecSchemaPrefix.size()));
  return profile.ok() && is_ort_profile(profile.value());
}

Result<MatMulNBitsLayout> parse_matmul_nbits(const StructType& descriptor) {
  if (!is_matmul_nbits(descriptor)) return not_canonical();
  MatMulNBitsLayout layout;
  layout.profile = parse_codec_profile(descriptor.name->substr(kCodecSchemaPrefix.size())).value();
  layout.bits = bits_of(layout.profile);
  const auto* structure = std::get_if<Structure>(&descriptor.kind);
  if (structure == nullptr || !read_fields(*structure, layout) || is_too_large(layout))
    return not_canonical();
  StructType without_id = descriptor;
  without_id.type_id.reset();
  if (!(without_id == matmul_nbits_descriptor(layout))) return not_canonical();
  return layout;
}

Result<MatMulNBitsLayout> check_matmul_nbits(const EncodedValue& value, const StructCatalogue& catalogue) {
  constexpr std::int32_t kExternal = 1;
  if (value.parameter_ref) {
    return Error{ErrorCode::kInvalidState, "A value with a parameter_ref has to be materialized first.", "",
                 "Decode it together with its model."};
  }
  if (!value.payload || !value.external_data.empty() || value.data_location == kExternal) {
    return Error{ErrorCode::kInvalidState, "The payload of a MatMulNBits value isn't loaded.", "",
                 "Load external data first."};
  }
  const auto* type = std::get_if<StructType>(&value.layout);
  if (type == nullptr) return not_canonical();
  const Result<StructType> descriptor = resolve_struct_type(*type, catalogue);
  if (!descriptor) return descriptor.error();
  Result<MatMulNBitsLayout> layout = parse_matmul_nbits(descriptor.value());
  if (!layout) return layout;
  const Result<void> logical = check_logical_type(value, layout.value());
  if (!logical) return logical.error();
  const Result<void> size = check_payload_size(layout.value(), value.payload->size());
  if (!size) return size.error();
  const Result<void> padding = check_padding(layout.value(), value.payload->bytes());
  if (!padding) return padding.error();
  return layout;
}

Result<MatMulNBitsInputs> export_matmul_nbits_inputs(const EncodedValue& value,
                                                     const StructCatalogue& catalogue) {
  const Result<MatMulNBitsLayout> layout = check_matmul_nbits(value, catalogue);
  if (!layout) return layout.error();
  const std::span<const std::uint8_t> payload = value.payload->bytes();
  const auto weights = static_cast<std::size_t>(layout.value().weight_bytes());
  const auto scales = static_cast<std::size_t>(layout.value().scale_bytes());
  return MatMulNBitsInputs{layout.value(), payload.first(weights), payload.subspan(weights, scales),
                           payload.subspan(weights + scales)};
}

}  // namespace halftone
