// From a descriptor to a schema. What is read is only what a schema consists of; that everything else is as
// it should be, the comparison with the canonical descriptor says.
#include "codec/schema_reading.h"

#include <limits>
#include <string>
#include <utility>

#include "halftone/codec_schema.h"

namespace halftone {
namespace {

Error bad_descriptor(const std::string& what) {
  return {ErrorCode::kInvalidGraph, what, "",
          "Encode the tensor again; this value was changed or written wrongly."};
}

Error other_schema() {
  return bad_descriptor("The struct type of an encoded value does not match its versioned schema.");
}

const StructConstant* constant_of(const StructField& field) {
  return std::get_if<StructConstant>(&field.content);
}

const StructType* struct_of(const ElementType& type) {
  const auto* inner = std::get_if<std::vector<StructType>>(&type.value);
  return inner == nullptr || inner->empty() ? nullptr : &inner->front();
}

const StructType* struct_of(const StructField& field) {
  const auto* type = std::get_if<ElementType>(&field.content);
  return type == nullptr ? nullptr : struct_of(*type);
}

const Structure* structure_of(const StructType* type) {
  return type == nullptr ? nullptr : std::get_if<Structure>(&type->kind);
}

// The first dimension of a tensor field.
Result<std::uint64_t> extent(const StructField& field) {
  const auto* type = std::get_if<ElementType>(&field.content);
  const auto* tensor = type == nullptr ? nullptr : std::get_if<TensorType>(&type->value);
  if (tensor == nullptr || tensor->dims.empty() || tensor->dims[0] < 0) return other_schema();
  return static_cast<std::uint64_t>(tensor->dims[0]);
}

Result<BlockLayout> layout_of(const StructConstant& constant) {
  const bool nine = constant.type == DataType::kInt64 && constant.dims == std::vector<std::int64_t>{9} &&
                    constant.int64_data.size() == 9 && constant.other_fields.empty();
  if (!nine) return bad_descriptor("The invalid parameters of a run of blocks aren't nine INT64 numbers.");
  const std::vector<std::int64_t>& p = constant.int64_data;
  for (const std::int64_t value : p) {
    if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) {
      return bad_descriptor("The parameter " + std::to_string(value) +
                            " of a run of blocks is out of bounds.");
    }
  }
  if (p[3] > 1 || p[7] > 1) return bad_descriptor("A boolean parameter of a run of blocks is more than 1.");
  const auto number = [&](std::size_t i) { return static_cast<std::uint32_t>(p[i]); };
  BlockLayout layout;
  layout.count = number(0);
  layout.method = static_cast<CodecMethod>(number(1));
  layout.bits = number(2);
  layout.signed_codes = p[3] == 1;
  layout.books = number(4);
  layout.entries = number(5);
  layout.vector_size = number(6);
  layout.base3 = p[7] == 1;
  layout.cast_type = static_cast<DataType>(number(8));
  return layout;
}

Result<SchemaRun> run_of(const StructField& field) {
  const StructType* type = struct_of(field);
  const auto* array = type == nullptr ? nullptr : std::get_if<StructArray>(&type->kind);
  const Structure* record = array == nullptr ? nullptr : structure_of(struct_of(array->element));
  if (record == nullptr || record->fields.empty()) return other_schema();
  const StructConstant* parameters = constant_of(record->fields[0]);
  if (parameters == nullptr)
    return bad_descriptor("The invalid parameters of a run of blocks are no constant.");
  const Result<BlockLayout> layout = layout_of(*parameters);
  if (!layout.ok()) return layout.error();
  return SchemaRun{layout.value(), array->dimension, {}, 0, 0, 0};
}

Result<CodecProfile> profile_of(const StructType& descriptor) {
  const std::string_view name = descriptor.name ? std::string_view(*descriptor.name) : std::string_view();
  if (!name.starts_with(kCodecSchemaPrefix)) {
    return bad_descriptor("The struct type " + printable(name) +
                          " is none of quantization: its name doesn't start with " +
                          std::string(kCodecSchemaPrefix) + ".");
  }
  return parse_codec_profile(name.substr(kCodecSchemaPrefix.size()));
}

Result<void> read_extents(const Structure& root, CodecSchema& schema) {
  const Result<std::uint64_t> permutation = extent(root.fields[1]);
  const Result<std::uint64_t> transform = extent(root.fields[2]);
  const Result<std::uint64_t> outliers = extent(root.fields[4]);
  if (!permutation.ok() || !transform.ok() || !outliers.ok()) return other_schema();
  if (transform.value() > std::numeric_limits<std::uint32_t>::max()) {
    return bad_descriptor("The transforms of an encoded value are out of bounds.");
  }
  schema.permutation = permutation.value();
  schema.transform_size = static_cast<std::uint32_t>(transform.value());
  schema.outliers = outliers.value();
  return {};
}

Result<void> read_runs(const Structure& root, CodecSchema& schema) {
  const Structure* blocks = structure_of(struct_of(root.fields[6]));
  if (blocks == nullptr || blocks->fields.empty()) return other_schema();
  for (std::size_t i = 1; i < blocks->fields.size(); ++i) {
    Result<SchemaRun> run = run_of(blocks->fields[i]);
    if (!run.ok()) return run.error();
    if (!schema.runs.empty() && schema.runs.back().layout == run.value().layout) return other_schema();
    schema.runs.push_back(run.value());
  }
  return {};
}

Result<void> check_extents(const CodecSchema& schema) {
  const bool permuted = schema.permutation == 0 || schema.permutation == schema.elements;
  const bool transformed = schema.transform_size == 0 || schema.elements % schema.transform_size == 0;
  if (permuted && transformed && schema.outliers <= schema.elements) return {};
  return bad_descriptor("The permutation, transforms or outliers of an encoded value don't fit its blocks.");
}

}  // namespace

Result<CodecSchema> parse_codec_schema(const StructType& descriptor) {
  const Result<CodecProfile> profile = profile_of(descriptor);
  if (!profile.ok()) return profile.error();
  if (codec_profile_info(profile.value()).ort) {
    return Error{ErrorCode::kInvalidPolicy,
                 "Values of onnxruntime's MatMulNBits have no blocks of the portable kind.", "",
                 "Read it as a value for MatMulNBits."};
  }
  const auto* root = std::get_if<Structure>(&descriptor.kind);
  if (root == nullptr || root->fields.size() != 7) return other_schema();
  CodecSchema schema;
  schema.profile = profile.value();
  if (Result<void> read = read_extents(*root, schema); !read.ok()) return read.error();
  if (Result<void> read = read_runs(*root, schema); !read.ok()) return read.error();
  if (Result<void> completed = codec::complete_schema(schema); !completed.ok()) {
    Error error = completed.error();
    if (error.code == ErrorCode::kInvalidPolicy) error.code = ErrorCode::kInvalidGraph;
    return error;
  }
  if (Result<void> checked = check_extents(schema); !checked.ok()) return checked.error();
  StructType canonical = codec_descriptor(schema);
  canonical.type_id = descriptor.type_id;
  if (!(canonical == descriptor)) return other_schema();
  return schema;
}

}  // namespace halftone
